package responses

import (
	"encoding/json"
	"strings"
)

// Input is an item of a request.
//
//nolint:tagliatelle // the provider's words
type Input struct {
	Type      string          `json:"type"`
	ID        *string         `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Status    json.RawMessage `json:"status"`
	Phase     string          `json:"phase"`

	// Raw is the whole item.
	Raw json.RawMessage `json:"-"`
}

// Part is a part of a message or of a result.
//
//nolint:tagliatelle // the provider's words
type Part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Refusal  string `json:"refusal"`
	ImageURL string `json:"image_url"`
	FileURL  string `json:"file_url"`
	FileData string `json:"file_data"`
	Filename string `json:"filename"`
}

// Parts returns the parts of a message. A text alone is one part.
func (in Input) Parts() []Part { return parts(in.Content) }

func parts(content json.RawMessage) []Part {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []Part{{Type: "text", Text: text}}
	}
	var list []Part
	if json.Unmarshal(content, &list) != nil {
		return nil
	}
	return list
}

func (in Input) text() string {
	var b strings.Builder
	for _, p := range in.Parts() {
		b.WriteString(p.Text + p.Refusal)
	}
	return b.String()
}

// parseInput reads the input of a request, which is a text or a list.
func parseInput(body []byte) ([]Input, *problem) {
	var top struct {
		Input json.RawMessage `json:"input"`
	}
	if json.Unmarshal(body, &top) != nil || len(top.Input) == 0 {
		return nil, refuse("missing_required_parameter", "input", "Missing required parameter: 'input'.")
	}
	var text string
	if json.Unmarshal(top.Input, &text) == nil {
		return []Input{{Type: "message", Role: "user", Content: top.Input, Raw: top.Input}}, nil
	}
	var raws []json.RawMessage
	if json.Unmarshal(top.Input, &raws) != nil {
		return nil, refuse("invalid_type", "input", "Invalid type for 'input': expected a string or an array.")
	}
	items := make([]Input, len(raws))
	for i, raw := range raws {
		if err := json.Unmarshal(raw, &items[i]); err != nil {
			return nil, refuse("invalid_type", "input", "Invalid type in 'input[%d]': %v.", i, err)
		}
		items[i].Raw = raw
		if items[i].Type == "" && items[i].Role != "" {
			items[i].Type = "message"
		}
	}
	return items, nil
}

// key identifies an item that follows reasoning, so that it can be found again in a later request.
func (in Input) key() string {
	switch in.Type {
	case "message":
		return "message:" + in.text()
	case "function_call":
		return "call:" + in.CallID
	default:
		return "item:" + digest(in.Raw)
	}
}

// digest returns what identifies an item by its content: all but its id and status, in a fixed order.
func digest(raw json.RawMessage) string {
	var all map[string]any
	if json.Unmarshal(raw, &all) != nil {
		return string(raw)
	}
	delete(all, "id")
	delete(all, "status")
	for name, value := range all {
		if value == nil {
			delete(all, name)
		}
	}
	return sum(string(encode(all)))
}

// ownItems are the items that only the server makes, apart from reasoning.
var ownItems = []string{
	"web_search_call", "file_search_call", "code_interpreter_call", "mcp_call", "mcp_list_tools", "compaction",
}

package responses

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/callid"
	"github.com/spoolhq/spool/internal/filepart"
	"github.com/spoolhq/spool/internal/openaiwire"
	"github.com/spoolhq/spool/internal/toolname"
)

// maxCallID is the longest id of a call that OpenAI accepts. Other providers' ids may be longer.
const maxCallID = 64

// object is a JSON object of a request.
type object map[string]any

// input returns the items of a prompt.
func (m *Model) input(messages []spool.Message) []any {
	out := make([]any, 0, len(messages))
	ids := &callid.IDs{Max: maxCallID}
	for _, message := range filepart.BehindAnswers(messages) {
		switch message.Role {
		case spool.RoleUser:
			out = append(out, speech("user", userParts(message.Content)))
		case spool.RoleSystem:
			out = append(out, speech("system", []object{{"type": "input_text", "text": message.Text()}}))
		case spool.RoleAssistant:
			out = append(out, m.assistantItems(message.Content, ids)...)
		case spool.RoleTool:
			out = append(out, results(message.Content, ids)...)
		}
	}
	return out
}

func speech(role string, content []object) object {
	return object{"type": "message", "role": role, "content": content}
}

// userParts returns the parts of an input that people or tools gave.
func userParts(content spool.Content) []object {
	parts := make([]object, 0, len(content))
	for _, p := range content {
		if part := userPart(p); part != nil {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, object{"type": "input_text", "text": content.Text()})
	}
	return parts
}

// userPart returns a part of a user's turn as a part of an input, or nil for a part of another type.
func userPart(p spool.Part) object {
	switch p.Type {
	case spool.PartText:
		return object{"type": "input_text", "text": p.Text}
	case spool.PartImage:
		return object{"type": "input_image", "image_url": p.Image, "detail": "auto"}
	case spool.PartFile:
		return filePart(p)
	case spool.PartReasoning, spool.PartToolCall, spool.PartToolResult, spool.PartProvider, spool.PartSummary,
		spool.PartSource:
	}
	return nil
}

// assistantItems returns the items of an assistant's message. Each reasoning item has to be followed directly by the
// item that the model made of it, or the server refuses the request: "reasoning was provided without its
// required following item" (https://github.com/openai/openai-agents-python/issues/1611). So reasoning
// without a successor in the message is left out.
func (m *Model) assistantItems(content spool.Content, ids *callid.IDs) []any {
	var out []any
	reasons := 0 // how many items at the end of out are reasoning
	for _, p := range content {
		var item any
		switch p.Type {
		case spool.PartReasoning:
			if reason := m.reasoning(p); reason != nil {
				out = append(out, reason)
				reasons++
			}
			continue
		case spool.PartText:
			if p.Text == "" {
				continue
			}
			if filepart.Follows(p) {
				out = out[:len(out)-reasons] // their successor is the image
			}
			item = m.text(p)
		case spool.PartToolCall:
			item = m.call(p, ids)
		case spool.PartProvider:
			if item = m.provided(p); item == nil {
				out = out[:len(out)-reasons] // their successor is missing
			}
		case spool.PartImage, spool.PartFile, spool.PartToolResult, spool.PartSummary, spool.PartSource:
			continue
		}
		if item != nil {
			out = append(out, item)
		}
		reasons = 0
	}
	return out[:len(out)-reasons]
}

// text returns an assistant's text as an item.
func (m *Model) text(p spool.Part) object {
	item := speech("assistant", []object{{"type": "output_text", "text": p.Text}})
	if phase := m.unpack(p.Provider).Phase; phase != "" {
		item["phase"] = phase
	}
	return item
}

// reasoning returns a reasoning item of this model, or nil. An item that is neither encrypted nor has a
// content says nothing to a server that has not stored it.
func (m *Model) reasoning(p spool.Part) any {
	item := m.unpack(p.Provider).Item
	if item == nil {
		return nil
	}
	var kept struct {
		Encrypted string            `json:"encrypted_content"` //nolint:tagliatelle // the provider's word
		Content   []json.RawMessage `json:"content"`
	}
	if json.Unmarshal(item, &kept) != nil || kept.Encrypted == "" && len(kept.Content) == 0 {
		return nil
	}
	return m.replay(item)
}

// call returns a tool call as an item. A call whose item has fields that the part lacks is sent back as it
// came, with the part's name and arguments.
func (m *Model) call(p spool.Part, ids *callid.IDs) any {
	arguments, own := openaiwire.Arguments(p.Args), m.unpack(p.Provider)
	id, name := ids.Call(p.ToolCallID, own.CallID), toolname.Fit(p.ToolName)
	if own.Item != nil {
		return m.replay(own.Item, field{"call_id", encode(id)}, field{"name", encode(name)},
			field{"arguments", encode(arguments)})
	}
	return object{"type": "function_call", "call_id": id, "name": name, "arguments": arguments}
}

// provided returns an item that only the provider understands, or nil if this model did not make it. A
// server refuses the images that it made, with and without their ids, if it did not store them
// (https://github.com/anomalyco/opencode/pull/41123).
func (m *Model) provided(p spool.Part) any {
	item := m.unpack(p.Provider).Item
	if item == nil || kindOf(item) == typeImage {
		return nil
	}
	return m.replay(item)
}

// results returns the results of a message as items. Images and files belong to the result before them.
func results(content spool.Content, ids *callid.IDs) []any {
	var out []any
	for i, p := range content {
		if p.Type != spool.PartToolResult {
			continue
		}
		var output any = openaiwire.ResultText(p.Result)
		remaining := content[i+1:]
		if end := slices.IndexFunc(remaining, func(p spool.Part) bool { return p.Type == spool.PartToolResult }); end >= 0 {
			remaining = remaining[:end]
		}
		if len(remaining) > 0 {
			output = append([]object{{"type": "input_text", "text": output}}, userParts(remaining)...)
		}
		out = append(out, object{"type": "function_call_output", "call_id": ids.Result(p.ToolCallID), "output": output})
	}
	return out
}

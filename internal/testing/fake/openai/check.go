package openai

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Request is a request that passed all checks.
type Request struct {
	Model    string
	Messages []Message
	// Tools are the names of the tools.
	Tools []string
	// NoCalls is true if the answer must not call them.
	NoCalls bool

	nonce string
}

// Message is a message of a request.
type Message struct {
	Role string
	// Text is the content, joined if it is a list.
	Text    string
	Calls   []Call
	CallID  string
	Details []Detail
	// Blank is true for a content that is missing.
	Blank bool
}

// Detail is an entry of reasoning_details.
type Detail struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Data      string `json:"data,omitempty"`
	Signature string `json:"signature,omitempty"`
	Index     int    `json:"index"`
}

// Call is a call of a tool.
type Call struct {
	ID, Name, Args string
	// Signature is the thought signature, empty for none.
	Signature string
}

//nolint:tagliatelle // the provider's words
type wireRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
			ExtraContent struct {
				Google struct {
					ThoughtSignature string `json:"thought_signature"`
				} `json:"google"`
			} `json:"extra_content"`
		} `json:"tool_calls"`
		ToolCallID       string   `json:"tool_call_id"`
		ReasoningDetails []Detail `json:"reasoning_details"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
}

var (
	nameExpr = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	idExpr   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
)

// Read reads and checks a request. It returns why the server refuses the request, or "".
func Read(raw []byte) (*Request, string) {
	var in wireRequest
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, "the body is not valid JSON: " + err.Error()
	}
	r := &Request{Model: in.Model}
	switch {
	case in.Model == "":
		return nil, "you must provide a model parameter"
	case len(in.Messages) == 0:
		return nil, "messages: at least one message is required"
	case !in.Stream:
		return nil, "this server only streams"
	}
	for i, m := range in.Messages {
		text, blank, ok := textOf(m.Content)
		if !ok {
			return nil, fmt.Sprintf("messages[%d].content: a text or a list of parts is required", i)
		}
		out := Message{Role: m.Role, Text: text, Blank: blank, CallID: m.ToolCallID, Details: m.ReasoningDetails}
		for _, c := range m.ToolCalls {
			if c.Type != "function" {
				return nil, fmt.Sprintf("messages[%d].tool_calls: the type %q is not known", i, c.Type)
			}
			out.Calls = append(out.Calls, Call{
				c.ID, c.Function.Name, c.Function.Arguments, c.ExtraContent.Google.ThoughtSignature,
			})
		}
		r.Messages = append(r.Messages, out)
	}
	for _, t := range in.Tools {
		if !nameExpr.MatchString(t.Function.Name) || slices.Contains(r.Tools, t.Function.Name) {
			return nil, fmt.Sprintf("tools: the name %q is not valid or not unique", t.Function.Name)
		}
		r.Tools = append(r.Tools, t.Function.Name)
	}
	if r.NoCalls = string(in.ToolChoice) == `"none"`; in.ToolChoice != nil && len(r.Tools) == 0 {
		return nil, "tool_choice is only allowed when tools are specified"
	}
	return r, r.check()
}

func textOf(raw json.RawMessage) (text string, blank, ok bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", true, true
	}
	if json.Unmarshal(raw, &text) == nil {
		return text, false, true
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil || len(parts) == 0 {
		return "", false, false
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, ""), false, true
}

func (r *Request) check() string {
	var open []string // calls whose results must come next
	seen := make(map[string]bool)
	for i, m := range r.Messages {
		at := fmt.Sprintf("messages[%d]", i)
		if m.Role != "tool" && len(open) > 0 {
			return at +
				": an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
				"The following tool_call_ids did not have response messages: " + strings.Join(open, ", ")
		}
		switch m.Role {
		case "system", "user":
			if m.Blank || len(m.Calls)+len(m.Details) > 0 {
				return at + ": a content and nothing else is required"
			}
		case "tool":
			n := slices.Index(open, m.CallID)
			if n < 0 {
				return at + ": messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
			}
			open = slices.Delete(open, n, n+1)
		case "assistant":
			if problem := r.checkAssistant(m, seen); problem != "" {
				return at + ": " + problem
			}
			for _, c := range m.Calls {
				open = append(open, c.ID)
			}
		default:
			return fmt.Sprintf("%s: the role %q is not known", at, m.Role)
		}
	}
	if len(open) > 0 {
		return "the last tool calls have no results: " + strings.Join(open, ", ")
	}
	return ""
}

// checkAssistant checks an answer that comes back. Seen has the ids of the calls before it.
func (r *Request) checkAssistant(m Message, seen map[string]bool) string {
	if m.Text == "" && len(m.Calls) == 0 {
		return "a content or tool calls are required"
	}
	nonce := ""
	for n, d := range m.Details {
		signature, text := d.Signature, d.Text
		if d.Type == "reasoning.encrypted" {
			signature, text = d.Data, "sealed"
		}
		if len(signature) < nonceLen || d.Index != n || signature != signDetail(r.Model, signature[:nonceLen], n, text) {
			return fmt.Sprintf("reasoning_details[%d]: the signature is not valid", n)
		}
		if n > 0 && signature[:nonceLen] != nonce {
			return "reasoning_details: they are of several answers"
		}
		nonce = signature[:nonceLen]
	}
	for _, c := range m.Calls {
		var args map[string]any
		switch {
		case !idExpr.MatchString(c.ID):
			return fmt.Sprintf("the id %q of a call does not match the pattern %s", c.ID, idExpr)
		case seen[c.ID]:
			return fmt.Sprintf("the id %q of a call is not unique", c.ID)
		case !nameExpr.MatchString(c.Name) || json.Unmarshal([]byte(c.Args), &args) != nil:
			return fmt.Sprintf("the call %s needs a name and an object as arguments", c.ID)
		}
		seen[c.ID] = true
		of, details, signed, own := readID(r.Model, c.ID)
		given, _, _ := strings.Cut(c.ID, "-")
		_, _, _, altered := readID(r.Model, given)
		switch {
		case altered && !own:
			return fmt.Sprintf("the call %s had the id %s", c.ID, given)
		case own && details != len(m.Details) || own && details > 0 && of != nonce:
			return fmt.Sprintf("the call %s comes with %d reasoning_details of its answer's %d", c.ID, len(m.Details), details)
		case own && signed != (c.Signature != ""):
			return fmt.Sprintf("the call %s has lost its thought_signature, or has another one's", c.ID)
		case c.Signature != "" && (!own || c.Signature != signCall(r.Model, of, c.ID, c.Name, c.Args)):
			return fmt.Sprintf("the thought_signature of the call %s is not valid", c.ID)
		}
	}
	return ""
}

package gemini

import (
	"bytes"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/toolname"
)

const (
	// firstTurn stands before a conversation that begins with an answer, which the API refuses. Such a conversation
	// is the rest of a longer one.
	firstTurn = "(The messages before this one are not shown.)"
	// lastTurn stands after a conversation that ends with an answer.
	lastTurn = "Continue."
)

// conversation turns messages into contents, whose roles alternate.
type conversation struct {
	model    string // see saved.Model
	old      bool
	contents []content
}

// contents returns the contents of a request, and the token of an interrupted answer that the request continues.
func (m *Model) contents(messages []spool.Message) (contents []content, continuation string, err error) {
	c := conversation{model: m.signer(), old: old(m.config.Model), contents: make([]content, 0, len(messages)+1)}
	if continuation = c.continuation(messages); continuation != "" {
		// The API makes the same prompt's answer go on, and wants the prompt only.
		for len(messages) > 0 && messages[len(messages)-1].Role == spool.RoleAssistant {
			messages = messages[:len(messages)-1]
		}
	}
	for i, message := range messages {
		switch message.Role {
		case spool.RoleUser:
			parts, err := mediaParts(message.Content)
			if err != nil {
				return nil, "", err
			}
			c.add(roleUser, parts...)
		case spool.RoleSystem:
			c.add(roleUser, textParts(systemText(message.Content))...)
		case spool.RoleAssistant:
			if err := c.addAnswer(message, messages[i+1:]); err != nil {
				return nil, "", err
			}
		case spool.RoleTool: // addAnswer has added it
		}
	}
	if n := len(c.contents); n > 0 && c.contents[n-1].Role == roleModel {
		c.add(roleUser, textParts(lastTurn)...)
	}
	return c.contents, continuation, nil
}

// add adds parts to the last content, or begins a content if the last one has another role.
func (c *conversation) add(role string, parts ...any) {
	if len(parts) == 0 {
		return
	}
	if len(c.contents) == 0 && role == roleModel {
		c.add(roleUser, textParts(firstTurn)...)
	}
	if last := len(c.contents) - 1; last >= 0 && c.contents[last].Role == role {
		c.contents[last].Parts = append(c.contents[last].Parts, parts...)
		return
	}
	c.contents = append(c.contents, content{Role: role, Parts: parts})
}

// addAnswer adds an assistant message, and one content with the responses to its calls. The messages after it have
// the results.
func (c *conversation) addAnswer(message spool.Message, after []spool.Message) error {
	parts := make([]any, 0, len(message.Content))
	var calls []call
	for _, p := range message.Content {
		data := load(p.Provider, c.model)
		switch p.Type {
		case spool.PartText:
			if data.Part != nil { // the text names the part
				parts = append(parts, data.Part)
			} else if p.Text != "" || data.Signature != "" {
				parts = append(parts, part{Text: &p.Text, Signature: data.Signature})
			}
		case spool.PartReasoning:
			if data.Model != "" {
				parts = append(parts, part{Text: &p.Text, Thought: true, Signature: data.Signature})
			}
		case spool.PartToolCall:
			if data.Signature == "" && len(calls) == 0 && !c.old {
				data.Signature = skipSignature
			}
			calls = append(calls, call{Part: p, sentID: data.ID})
			parts = append(parts, part{
				Call:      &functionCall{ID: data.ID, Name: toolname.Fit(p.ToolName), Args: encodeArgs(p.Args)},
				Signature: data.Signature,
			})
		case spool.PartProvider:
			if data.Part != nil {
				parts = append(parts, data.Part)
			}
		case spool.PartImage, spool.PartFile:
			encoded, err := mediaParts(spool.Content{p})
			if err != nil {
				return err
			}
			if len(encoded) == 1 {
				if file, ok := encoded[0].(part); ok {
					file.Signature = data.Signature
					encoded[0] = file
				}
			}
			parts = append(parts, encoded...)
		case spool.PartToolResult, spool.PartSummary, spool.PartSource:
		}
	}
	c.add(roleModel, parts...)
	responses, err := c.responses(calls, after)
	if err != nil {
		return err
	}
	c.add(roleUser, responses...)
	return nil
}

// continuation returns the token of the interrupted answer at the end of messages, if its last part has one.
func (c *conversation) continuation(messages []spool.Message) string {
	if len(messages) == 0 {
		return ""
	}
	last := messages[len(messages)-1]
	if last.Role != spool.RoleAssistant || len(last.Content) == 0 {
		return ""
	}
	return load(last.Content[len(last.Content)-1].Provider, c.model).Continuation
}

// encodeArgs returns a JSON object, whatever the model wrote, because the API takes no other arguments.
func encodeArgs(args json.RawMessage) json.RawMessage {
	args = bytes.TrimSpace(args)
	switch {
	case len(args) == 0, string(args) == "null":
		return json.RawMessage(`{}`)
	case args[0] == '{' && json.Valid(args):
		return args
	}
	var value any = string(args)
	if json.Valid(args) {
		value = args
	}
	wrapped, err := json.Marshal(map[string]any{"invalid_arguments": value})
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return wrapped
}

func textParts(text string) []any {
	if text == "" {
		return nil
	}
	return []any{part{Text: &text}}
}

func systemText(content spool.Content) string {
	if p, ok := content.Summary(); ok {
		return p.Text
	}
	return content.Text()
}

package telemetry

import (
	"encoding/json"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/spoolhq/spool"
)

const (
	// maxText bounds a text on a span, in bytes.
	maxText = 4 << 10
	// maxMessages is how many messages of a prompt are on a span: the newest ones.
	maxMessages = 16
)

// spanMessage is a message in the form of the OpenTelemetry conventions.
type spanMessage struct {
	Role         string     `json:"role"`
	Parts        []spanPart `json:"parts"`
	FinishReason string     `json:"finish_reason,omitempty"` //nolint:tagliatelle // the conventions' name
}

type spanPart struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Response  string `json:"response,omitempty"`
}

// requestContents returns the attributes with a request's contents.
func requestContents(r spool.ModelRequest) []attribute.KeyValue {
	var out []attribute.KeyValue
	if r.Instructions != "" {
		out = append(out, attrInstructions.String(jsonText([]spanPart{{Type: "text", Content: cut(r.Instructions)}})))
	}
	newest := r.Messages[max(0, len(r.Messages)-maxMessages):]
	messages := make([]spanMessage, len(newest))
	for i, m := range newest {
		messages[i] = spanMessage{Role: string(m.Role), Parts: spanParts(m.Content)}
	}
	return append(out, attrInput.String(jsonText(messages)))
}

// answered returns the attribute with the contents of an answer, which may be incomplete.
func answered(content spool.Content, reason spool.FinishReason) attribute.KeyValue {
	message := spanMessage{Role: string(spool.RoleAssistant), Parts: spanParts(content), FinishReason: string(reason)}
	return attrOutput.String(jsonText([]spanMessage{message}))
}

// spanParts converts content for a span. It leaves out images: their URLs do not help a reader, and
// data URLs are large.
func spanParts(content spool.Content) []spanPart {
	parts := make([]spanPart, 0, len(content))
	for _, p := range content {
		switch p.Type {
		case spool.PartText, spool.PartReasoning:
			parts = append(parts, spanPart{Type: string(p.Type), Content: cut(p.Text)})
		case spool.PartToolCall:
			parts = append(parts, spanPart{
				Type: "tool_call", ID: string(p.ToolCallID), Name: p.ToolName, Arguments: cut(string(p.Args)),
			})
		case spool.PartToolResult:
			parts = append(parts, spanPart{
				Type: "tool_call_response", ID: string(p.ToolCallID), Response: cut(string(p.Result)),
			})
		}
	}
	return parts
}

// cut returns a text, or its first maxText bytes without a partial character if it is longer.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

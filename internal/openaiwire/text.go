package openaiwire

import (
	"bytes"
	"encoding/json"

	"github.com/spoolhq/spool/internal/surrogate"
)

// Text is a text of a server. A JSON value of another type is its JSON, and null is "".
type Text string

// UnmarshalJSON accepts any JSON.
func (t *Text) UnmarshalJSON(raw []byte) error {
	*t = Text(RawText(raw))
	return nil
}

// RawText returns the text of a JSON string, "" for null, and any other JSON unchanged. Half a character in it is as
// [surrogate.Decode] returns it.
func RawText(raw json.RawMessage) string { return surrogate.Decode(raw) }

// Arguments returns the text of a JSON object, whatever the model wrote as the arguments of a call. Servers
// parse the arguments, and refuse a history whose arguments are not an object.
func Arguments(args json.RawMessage) string {
	args = bytes.TrimSpace(args)
	switch {
	case len(args) == 0, string(args) == "null":
		return "{}"
	case args[0] == '{' && json.Valid(args):
		return string(args)
	}
	var value any = string(args)
	if json.Valid(args) {
		value = args
	}
	wrapped, err := json.Marshal(map[string]any{"invalid_arguments": value})
	if err != nil {
		return "{}"
	}
	return string(wrapped)
}

// ResultText returns the text of a JSON string, and any other JSON unchanged.
func ResultText(result json.RawMessage) string {
	var text string
	switch {
	case len(result) == 0:
		return "null"
	case json.Unmarshal(result, &text) == nil && result[0] == '"':
		return text
	default:
		return string(result)
	}
}

// Lower returns the lower of two bounds. Zero: there is no bound.
func Lower(a, b int) int {
	if a > 0 && b > 0 {
		return min(a, b)
	}
	return max(a, b)
}

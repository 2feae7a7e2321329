package registry

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/spoolhq/spool/internal/argschema"
)

// Repair returns the arguments of a call. If the tool does not take those that the model has sent, and they have one
// reading that the tool takes, Repair returns this reading, and what was sent. Otherwise sent is nil. Hook may find
// another reading for a problem, or nil. The arguments of a client's tool stay as they are, because the client has read
// them as they came.
func (a *Agent) Repair(
	name, text string, hook func(args json.RawMessage, problem error) json.RawMessage,
) (args, sent json.RawMessage) {
	args = CallArgs(text)
	tool, known := a.Tool(name)
	if !known || a.AtClient[name] {
		return args, nil
	}
	problem := CheckArgs(tool, args)
	if problem == nil {
		return args, nil
	}
	fits := func(fixed json.RawMessage) bool { return fixed != nil && CheckArgs(tool, fixed) == nil }
	if read := readObject(text); read != "" {
		object := CallArgs(read)
		if fits(object) {
			return object, args
		}
		if coerced := argschema.Coerce(tool.Parameters, object); coerced != nil {
			if fixed := CallArgs(string(coerced)); fits(fixed) {
				return fixed, args
			}
		}
	}
	if fixed := hook(args, problem); fixed != nil {
		if fixed = CallArgs(string(fixed)); fits(fixed) {
			return fixed, args
		}
	}
	return args, nil
}

// fence matches a text that is one block of code.
var fence = regexp.MustCompile("(?s)^```[A-Za-z0-9]*[ \t]*\r?\n?(.*?)\\s*```$")

// maxWrappings bounds how often the object of a text may be wrapped in fences and in JSON strings.
const maxWrappings = 4

// readObject returns the JSON object that a text can only mean, or "". Nothing and null mean no arguments.
func readObject(text string) string {
	for range maxWrappings {
		text = strings.TrimSpace(text)
		switch inner := ""; {
		case text == "", text == "null":
			return "{}"
		case text[0] == '{':
			return strict(text)
		case fence.MatchString(text):
			text = fence.FindStringSubmatch(text)[1]
		case text[0] == '"' && json.Unmarshal([]byte(text), &inner) == nil:
			text = inner
		default:
			return ""
		}
	}
	return ""
}

// strict returns the JSON for a text that would be JSON without two slips: a comma behind the last element, and line
// breaks and other control characters in strings. It returns "" for another text.
func strict(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	var b strings.Builder
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
			b.WriteByte(c)
		case inString && c == '\\' && i+1 < len(text):
			b.WriteString(text[i : i+2])
			i++
		case inString && c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		case !inString && c == ',' && closes(text[i+1:]):
		default:
			b.WriteByte(c)
		}
	}
	if fixed := b.String(); json.Valid([]byte(fixed)) {
		return fixed
	}
	return ""
}

// closes reports whether a text begins with the end of an object or an array.
func closes(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && (text[0] == '}' || text[0] == ']')
}

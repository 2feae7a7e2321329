package spool

import (
	"encoding/json"
	"unicode/utf8"
)

// MaxJSONDepth is the maximum nesting of arrays and objects in JSON from outside: see [CheckJSON].
const MaxJSONDepth = 256

// CheckJSON returns an [Invalid] error that names field unless text is JSON in UTF-8 with at most
// [MaxJSONDepth] nested arrays and objects.
//
// The text is stored inside larger JSON, and package encoding/json refuses a depth of 10,000. Without the
// limit, a text just below that could be saved, and its thread could never be read again.
func CheckJSON(field string, text json.RawMessage) error {
	switch {
	case !json.Valid(text):
		return Errorf(Invalid, "%s is not JSON", field)
	case !utf8.Valid(text):
		return Errorf(Invalid, "%s is not valid UTF-8", field)
	case depthOf(text) > MaxJSONDepth:
		return Errorf(Invalid, "%s is nested deeper than %d arrays and objects", field, MaxJSONDepth)
	default:
		return nil
	}
}

// depthOf returns how deep the arrays and objects of a valid text are nested.
func depthOf(text []byte) int {
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[', c == '{':
			depth++
			most = max(most, depth)
		case c == ']', c == '}':
			depth--
		}
	}
	return most
}

// Package lenient reads JSON of servers that keep to their interface only where everybody looks.
package lenient

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Object reads a JSON object into v, which points to a struct. A field of another type than v's stays as it is, or is
// read as far as possible. The error is one of the syntax, or says that the JSON is no object. Null is an empty object.
//
// No type within v may return an error of its own, because encoding/json ends at such an error.
func Object(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong &&
		bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return nil
	}
	return err
}

// Count is a number of tokens. N is nil if the server reported none.
type Count struct{ N *int64 }

// UnmarshalJSON accepts any JSON: whole numbers, fractions and texts of these. Anything else is no count.
func (c *Count) UnmarshalJSON(raw []byte) error {
	c.N = nil
	text := strings.Trim(string(raw), `" `)
	n, whole := strconv.ParseInt(text, 10, 64)
	if whole != nil {
		switch f, broken := strconv.ParseFloat(text, 64); {
		case broken != nil, math.IsNaN(f), math.Abs(f) >= math.MaxInt64:
			n = -1 // no count
		default:
			n = int64(math.Round(f))
		}
	}
	if n >= 0 {
		c.N = &n
	}
	return nil
}

// List is a list of any JSON. It is nil if the server has sent something else in its place.
type List []json.RawMessage

// UnmarshalJSON accepts any JSON.
func (l *List) UnmarshalJSON(raw []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = nil
	}
	*l = list
	return nil
}

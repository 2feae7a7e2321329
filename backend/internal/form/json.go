package form

import (
	"bytes"
	"encoding/json"

	"github.com/spoolhq/spool"
)

// encode returns the JSON of a column. What names the value in the [spool.Invalid] error.
func encode(value any, what string) (json.RawMessage, error) {
	text, err := json.Marshal(value)
	return text, spool.Wrap(spool.Invalid, what+" cannot be encoded", err)
}

// encodeExactly does the same as encode, without escapes for HTML: JSON inside the value stays the same, apart from
// white space between its tokens.
func encodeExactly(value any, what string) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), spool.Wrap(spool.Invalid, what+" cannot be encoded", err)
}

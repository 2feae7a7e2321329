package store

import (
	"bytes"
	"encoding/json"
)

// marshalUnescaped writes JSON without the escapes that HTML needs.
func marshalUnescaped(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// mustJSON encodes what is hashed: texts, numbers and JSON that was checked.
func mustJSON(v []any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("spool: encode what is hashed: " + err.Error())
	}
	return b
}

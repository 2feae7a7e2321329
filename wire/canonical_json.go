package wire

import (
	"bytes"
	"encoding/json"
)

// CanonicalJSON returns JSON text in the form that digests and revisions hash: keys in order, no white space, numbers
// as they are written. Any other text becomes a JSON string.
func CanonicalJSON(text json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		v = string(text)
	}
	return mustJSON(v)
}

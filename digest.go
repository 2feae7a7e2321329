package spool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// DigestOf names what a person is asked: the call, its tool and its arguments, why it
// waits, what is shown, and from the second question of a call on, its number. Args
// replace the arguments that the call asked for; nil keeps them. The result is "sha256:"
// and the hash in hex. It does not depend on white space or on the order of keys, which a
// store may change.
func (p Park) DigestOf(args json.RawMessage) string {
	if args == nil {
		args = p.Args
	}
	asked := []any{
		"park", p.CallerID(), p.Step, p.ToolCallID, p.ToolName, p.Reason, canonical(args), canonical(p.Shown),
	}
	if p.Occurrence > 1 {
		asked = append(asked, p.Occurrence)
	}
	sum := sha256.Sum256(mustJSON(asked))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// canonical returns JSON text as it is written after it was read, and what is no JSON as
// a string.
func canonical(text json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(text)
	}
	return v
}

package spool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// DigestOf returns the digest of a question: "sha256:" and the hash in hex. The hash covers the call, its
// tool and arguments, why it waits, the content that is shown, the schema of the answer, the revision of the agent that asks and, from
// the second question of a call on, the question's number. Args replace the arguments of the call; nil keeps them. The digest does not depend on
// white space or on the order of keys, which a store may change.
func (p Park) DigestOf(args json.RawMessage) string {
	if args == nil {
		args = p.Args
	}
	asked := []any{
		"park", p.CallerID(), p.Step, p.ToolCallID, p.ToolName, p.Reason, CanonicalJSON(args), CanonicalJSON(p.Shown),
	}
	if p.Occurrence > 1 {
		asked = append(asked, p.Occurrence)
	}
	if p.Schema != nil && p.Reason != ParkApproval { // the schema of what the person enters
		asked = append(asked, "schema", CanonicalJSON(p.Schema))
	}
	if p.Revision != "" { // parks of older versions have none
		asked = append(asked, string(p.Revision))
	}
	sum := sha256.Sum256(mustJSON(asked))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// CanonicalJSON returns JSON text in the form that digests and revisions hash: keys in order, no white space, numbers as
// they are written. Any other text becomes a JSON string.
func CanonicalJSON(text json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		v = string(text)
	}
	return mustJSON(v)
}

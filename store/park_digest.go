package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/spoolhq/spool/wire"
)

// DigestOf returns the digest of a question: "sha256:" and the hash in hex. The hash covers the call, its
// tool and arguments, why it waits, the content that is shown, the schema of the answer, the revision of the agent
// that asks and, from the second question of a call on, the question's number. Args replace the arguments of the
// call; nil keeps them. The digest does not depend on white space or on the order of keys, which a store may change.
func (p Park) DigestOf(args json.RawMessage) string {
	if args == nil {
		args = p.Args
	}
	asked := []any{
		"park", p.CallerID(), p.Step, p.ToolCallID, p.ToolName, p.Reason, wire.CanonicalJSON(args),
		wire.CanonicalJSON(p.Shown),
	}
	if p.Occurrence > 1 {
		asked = append(asked, p.Occurrence)
	}
	if p.Schema != nil && p.Reason != wire.ParkApproval { // the schema of what the person enters
		asked = append(asked, "schema", wire.CanonicalJSON(p.Schema))
	}
	if p.Revision != "" { // parks of older versions have none
		asked = append(asked, string(p.Revision))
	}
	sum := sha256.Sum256(mustJSON(asked))
	return "sha256:" + hex.EncodeToString(sum[:])
}

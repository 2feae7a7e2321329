package wire

import (
	"crypto/sha256"
	"encoding/hex"
)

// Revision returns the id of the content. It depends on neither the order of keys in JSON texts nor white
// space. The lists must be in a fixed order.
func (c AgentContent) Revision() RevisionID {
	sum := sha256.Sum256(CanonicalJSON(mustJSON(c)))
	return RevisionID("rev_" + hex.EncodeToString(sum[:]))
}

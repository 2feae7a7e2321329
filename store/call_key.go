package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/spoolhq/spool"
)

// CallKey returns the idempotency key of a call of the run: "<runId>/<step>/<toolCallId>/<mac>". The mac has
// 32 hex digits, computed from the run's nonce, its tenant and the call. So a run of another tenant with the
// same id has other keys, and so has a run with the id of a deleted one. The key does not reveal the nonce,
// so a tool may repeat it in its result.
//
// The keys of a run without a nonce end before the mac. Such a run began before there were nonces, and a
// repeated call of it must have the key that its endpoint knows.
func (r RunRow) CallKey(step int, call spool.ToolCallID) string {
	key := spool.ToolCall{RunID: r.ID, Step: step, ID: call}.IdempotencyKey()
	if r.Nonce == "" {
		return key
	}
	mac := hmac.New(sha256.New, []byte(r.Nonce))
	// A JSON array can be read in only one way, whatever characters a tenant's name has.
	mac.Write(mustJSON([]any{r.Tenant, r.ID, step, call}))
	return key + "/" + hex.EncodeToString(mac.Sum(nil)[:16])
}

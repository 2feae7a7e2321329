package store

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Park is a durable wait of one tool call for an answer. It is named by its run and
// tool call.
type Park struct {
	// RunID is the dispatched run that waits, at whatever depth the call was made.
	RunID      spool.RunID
	ToolCallID spool.ToolCallID
	ToolName   string
	// AgentID is the nested run that made the call. Empty: the dispatched run.
	AgentID spool.AgentID
	// Frames are the calls above that wait with it, the innermost one first.
	Frames []wire.ParkFrame
	// Step is the step that the call belongs to, of the run that made it.
	Step int
	// Args are the arguments with which the call runs after an approval.
	Args json.RawMessage
	// Shown is the content that a person sees instead of Args. Nil: Args.
	Shown json.RawMessage
	// Schema is the JSON Schema of the answer: of its Args for [wire.ParkApproval], and of its Payload otherwise. Nil:
	// the tool's own schema for [wire.ParkApproval], and any payload otherwise.
	Schema json.RawMessage
	// Resume is the tool's state with which the call goes on after the answer, and after a denial or the
	// expiry too: see [spool.ParkRequest]. No client sees it. Nil: the tool keeps none.
	Resume json.RawMessage
	// Reason is one of the constants named Park and a reason, or the tool's own word.
	Reason string
	// Occurrence is 2 for the call's second question, 3 for the third, and so on. An answer to such a
	// question must have its Digest. Zero: the first question, or a park of an older version.
	Occurrence int
	// Revision is the revision of the dispatched run's agent in the segment that made the park. Empty: the park
	// is of an older version.
	Revision wire.RevisionID
	// Digest is the [Park.DigestOf] of the question, so that an answer counts for this question only. Empty:
	// the park is older than digests.
	Digest string
	State  wire.ParkState
	// Answer is the answer. Nil unless State is [wire.ParkAnswered].
	Answer *spool.Answer
	// Before is the answer with which the call ran when its worker died, for a park that asks
	// for the outcome of the call, or when it became pending. Nil: it ran without an answer.
	Before *spool.Answer
	// Pending belongs to a call that is pending, or was when it asked or was closed. Nil: it was not.
	Pending *wire.PendingCall
	// Landed is true once the call's result is in the thread's messages.
	Landed    bool
	CreatedAt time.Time
	ExpiresAt time.Time
	// Expiry says what happens at ExpiresAt, and before. Its defaults are filled in, and Extensions has the
	// number that is left. Zero: a park of an older version, which is denied without a warning.
	Expiry spool.Expiry
	// Warned is true once the record has warned that the park is about to expire.
	Warned bool
	// DistinctApprover requires that the answer is from a known subject other than the one that started the
	// run: see [wire.Run.DistinctFrom].
	DistinctApprover bool
}

// CallerID returns the run that made the call.
func (p Park) CallerID() spool.RunID {
	if p.AgentID != "" {
		return spool.RunID(p.AgentID)
	}
	return p.RunID
}

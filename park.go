package spool

import (
	"encoding/json"
	"time"
)

// ParkState is the state of a park. It changes from ParkOpen only once, by a compare-and-set, unless the same call
// asks again.
type ParkState string

// The states of a park.
const (
	ParkOpen     ParkState = "open"
	ParkAnswered ParkState = "answered"
	// ParkExpired is a park that was not answered in time. A denial is an answer.
	ParkExpired ParkState = "expired"
	// ParkClosed is a park whose run was stopped or has failed.
	ParkClosed ParkState = "closed"
	// ParkPending is the wait of a call for its own tool: see [Pending]. Nobody answers it. It ends as ParkDone or
	// ParkClosed, or becomes ParkOpen if the tool has a question.
	ParkPending ParkState = "pending"
	// ParkDone is the wait of a pending call that has its result.
	ParkDone ParkState = "done"
)

// The reasons for which the engine itself parks a run. A tool that parks gives its own reason.
const (
	// ParkApproval waits for a person to allow a call that has not run.
	ParkApproval = "approval"
	// ParkOutcomeUnknown waits for a person to tell the outcome of a call that was running when its worker
	// died.
	ParkOutcomeUnknown = "outcome_unknown"
	// ParkBudget waits for a person to raise a budget that is used up. It belongs to no
	// call.
	ParkBudget = "budget_reached"
	// ParkClientTool waits for the client to run one of its own tools: see [ClientTool]. The
	// payload of an approving answer is the result.
	ParkClientTool = "client_tool"
	// ParkToolPending waits for the tool itself: see [ParkPending].
	ParkToolPending = "pending"
)

// Park is a durable wait of one tool call for an answer. It is named by its run and
// tool call.
type Park struct {
	// RunID is the dispatched run that waits, at whatever depth the call was made.
	RunID      RunID
	ToolCallID ToolCallID
	ToolName   string
	// AgentID is the nested run that made the call. Empty: the dispatched run.
	AgentID AgentID
	// Frames are the calls above that wait with it, the innermost one first.
	Frames []ParkFrame
	// Step is the step that the call belongs to, of the run that made it.
	Step int
	// Args are the arguments with which the call runs after an approval.
	Args json.RawMessage
	// Shown is the content that a person sees instead of Args. Nil: Args.
	Shown json.RawMessage
	// Schema is the JSON Schema of the answer: of its Args for [ParkApproval], and of its Payload otherwise. Nil:
	// the tool's own schema for [ParkApproval], and any payload otherwise.
	Schema json.RawMessage
	// Resume is the tool's state with which the call goes on after the answer, and after a denial or the
	// expiry too: see [ParkRequest]. No client sees it. Nil: the tool keeps none.
	Resume json.RawMessage
	// Reason is one of the constants named Park and a reason, or the tool's own word.
	Reason string
	// Occurrence is 2 for the call's second question, 3 for the third, and so on. An answer to such a
	// question must have its Digest. Zero: the first question, or a park of an older version.
	Occurrence int
	// Revision is the revision of the dispatched run's agent in the segment that made the park. Empty: the park
	// is of an older version.
	Revision RevisionID
	// Digest is the [Park.DigestOf] of the question, so that an answer counts for this question only. Empty:
	// the park is older than digests.
	Digest string
	State  ParkState
	// Answer is the answer. Nil unless State is [ParkAnswered].
	Answer *Answer
	// Before is the answer with which the call ran when its worker died, for a park that asks
	// for the outcome of the call, or when it became pending. Nil: it ran without an answer.
	Before *Answer
	// Pending belongs to a call that is pending, or was when it asked or was closed. Nil: it was not.
	Pending *PendingCall
	// Landed is true once the call's result is in the thread's messages.
	Landed    bool
	CreatedAt time.Time
	ExpiresAt time.Time
	// Expiry says what happens at ExpiresAt, and before. Its defaults are filled in, and Extensions has the
	// number that is left. Zero: a park of an older version, which is denied without a warning.
	Expiry Expiry
	// Warned is true once the record has warned that the park is about to expire.
	Warned bool
	// DistinctApprover requires that the answer is from a known subject other than the one that started the
	// run: see [Run.DistinctFrom].
	DistinctApprover bool
}

// CallerID returns the run that made the call.
func (p Park) CallerID() RunID {
	if p.AgentID != "" {
		return RunID(p.AgentID)
	}
	return p.RunID
}

// Answer is a person's answer to a park.
type Answer struct {
	Approved bool `doc:"Whether the call was allowed." json:"approved"`
	// Args are the arguments with which the call runs instead of the requested ones. Nil: the requested ones.
	Args json.RawMessage `doc:"The arguments of the approval. Left out: it did not change them." json:"args,omitempty"`
	// Reason is the reason, for the model and for the record. Empty: none was given.
	Reason string `doc:"The reason of the answer." json:"reason,omitempty"`
	// Digest is the [Park.DigestOf] of the question, with the arguments of the answer. A call with another
	// digest does not run. Empty if the park has none.
	Digest string `doc:"The digest of what was answered." json:"digest,omitempty"`
	// Payload is the JSON of the answer, nil for none.
	Payload json.RawMessage `doc:"The payload of the answer." json:"payload,omitempty"`
	// By is the subject that answered. Empty: the host does not know it.
	By string    `doc:"The subject who answered."     json:"by,omitempty"`
	At time.Time `doc:"When the answer was accepted." json:"at"`
}

package runs

import (
	"context"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// RespondRequest is the body of an answer to a park.
type RespondRequest struct {
	call.OtherAnswer

	// ThreadID is the thread that waits.
	ThreadID spool.ThreadID `example:"t1" json:"threadId"`
	// ToolCallID is the call that waits, as INPUT_REQUIRED named it.
	ToolCallID spool.ToolCallID `example:"call_1" json:"toolCallId" maxLength:"512" minLength:"1"`
	// True: the call runs (again, if it parked itself). False: the model reads that it was denied.
	Approved bool `example:"true" json:"approved" required:"true"`
	// Payload is any JSON, for the tool.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Arguments is an object of arguments with which an approved call runs instead of its own. The tool must accept
	// it.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Reason is the reason, in up to 4096 bytes. The model reads it, and the record keeps it.
	Reason string `example:"not on a Friday" json:"reason,omitempty"`
	// Digest is the digest of the INPUT_REQUIRED that was shown. An answer to anything else does not count.
	Digest string `json:"digest,omitempty"`
}

// Validate implements [rest.Validator].
func (in *RespondRequest) Validate(context.Context) error {
	if err := spool.CheckID("threadId", string(in.ThreadID)); err != nil {
		return err
	}
	if err := call.CheckToolCall(in.ToolCallID); err != nil {
		return err
	}
	return in.Check()
}

// Respond answers a call that waits for a person or another system. Exactly one answer to a call counts, or the end of
// its time. A 409 means that this answer does not count: another answer or the end of the time came first
// (`already_answered`), nothing waits (`no_park`), the call now asks something else than was shown (`changed`), the
// person who started the run may not answer (`same_approver`), or the answer has edited arguments and the question is
// not an approval (`not_editable`).
func (c Controller) Respond(ctx context.Context, in RespondRequest) (wire.RespondResult, error) {
	p := call.By(ctx)
	answer := wire.Response{
		ToolCallID: in.ToolCallID, Approved: in.Approved, By: p.Subject,
		Payload: in.Payload, Args: in.Arguments, Reason: in.Reason, Digest: in.Digest,
	}
	thread := p.Key(in.ThreadID)
	call.Concerns(ctx, thread, "")
	result, err := c.Engine.Respond(call.Acting(ctx), thread, answer)
	return call.Result(ctx, result, result.Delivered, err, thread, "")
}

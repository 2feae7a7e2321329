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

	ThreadID   spool.ThreadID   `doc:"The thread that waits."                                                                               example:"t1"               json:"threadId"`
	ToolCallID spool.ToolCallID `doc:"The call that waits, as INPUT_REQUIRED named it."                                                     example:"call_1"           json:"toolCallId"       maxLength:"512" minLength:"1"`
	Approved   bool             `doc:"True: the call runs (again, if it parked itself). False: the model reads that it was denied."         example:"true"             json:"approved"         required:"true"`
	Payload    json.RawMessage  `doc:"Any JSON, for the tool."                                                                              json:"payload,omitempty"`
	Arguments  json.RawMessage  `doc:"An object of arguments with which an approved call runs instead of its own. The tool must accept it." json:"arguments,omitempty"`
	Reason     string           `doc:"The reason, in up to 4096 bytes. The model reads it, and the record keeps it."                        example:"not on a Friday"  json:"reason,omitempty"`
	Digest     string           `doc:"The digest of the INPUT_REQUIRED that was shown. An answer to anything else does not count."          json:"digest,omitempty"`
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

// Respond answers POST /api/agent/respond: 200 with the result if the answer counts; 409 with the result if
// nothing waits for it, if another answer came first, or if the thread is not the caller's.
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

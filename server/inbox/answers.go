package inbox

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// maxAnswers bounds the answers of one request.
const maxAnswers = 100

// InboxAnswers are answers to several questions.
type InboxAnswers struct { //nolint:revive // the document has the name
	Answers []InboxAnswer `json:"answers" nullable:"false" required:"true"` // The answers, up to 100.
}

// InboxAnswer is the answer to one question of a list.
type InboxAnswer struct { //nolint:revive // as above
	call.OtherAnswer

	ThreadID   spool.ThreadID   `example:"t1"     json:"threadId"   required:"true"` // The thread that waits.
	ToolCallID spool.ToolCallID `example:"call_1" json:"toolCallId" required:"true"` // The call that waits.
	// Digest is the digest of the question. An answer to anything else does not count.
	Digest string `json:"digest" required:"true"`
	// True: the call runs (again, if it parked itself). False: the model reads that it was denied.
	Approved bool            `example:"true"           json:"approved" required:"true"`
	Payload  json.RawMessage `json:"payload,omitempty"` // Any JSON, for the tool.
	// Arguments is an object of arguments with which an approved call runs instead of its own. The tool must accept
	// it.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Reason is the reason, in up to 4096 bytes. The model reads it, and the record keeps it.
	Reason string `example:"not on a Friday" json:"reason,omitempty"`
}

// Validate implements [rest.Validator]. An answer without what names its question refuses all of them.
func (in *InboxAnswers) Validate(context.Context) error {
	if n := len(in.Answers); n == 0 || n > maxAnswers {
		return spool.Errorf(spool.Invalid, "answers must have from 1 to %d elements", maxAnswers)
	}
	for i, a := range in.Answers {
		name := func(field string) string { return fmt.Sprintf("answers[%d].%s", i, field) }
		if err := spool.CheckID(name("threadId"), string(a.ThreadID)); err != nil {
			return err
		}
		if err := spool.CheckID(name("toolCallId"), string(a.ToolCallID)); err != nil {
			return err
		}
		if err := a.Check(); err != nil {
			return spool.Errorf(spool.Invalid, "answers[%d].%s", i, spool.MessageOf(err))
		}
		if a.Digest == "" {
			return spool.Errorf(spool.Invalid, "%s is required", name("digest"))
		}
	}
	return nil
}

// InboxResults are the results of several answers.
type InboxResults struct { //nolint:revive // as above
	Results []InboxResult `json:"results"` // The result of each answer, in the order of the answers.
}

// InboxResult is the result of one answer.
type InboxResult struct { //nolint:revive // as above
	ThreadID   spool.ThreadID   `example:"t1"     json:"threadId"`   // The thread.
	ToolCallID spool.ToolCallID `example:"call_1" json:"toolCallId"` // The call.
	Delivered  bool             `example:"true"   json:"delivered"`  // Whether this answer counts.
	// Reason is why the answer does not count, as respond says it.
	//
	// See [engine.RespondResult]. Empty for an error.
	Reason string `example:"already_answered" json:"reason,omitempty"`
	Error  string `json:"error,omitempty"` // Why the answer does not count, for a person.
	// Code is the code of an error: the answer is wrong, or it failed this time (unavailable) and may be sent again.
	// Left out: no error.
	Code spool.Code `example:"invalid" json:"code,omitempty"`
}

// Answer answers up to 100 questions, each as respond does. Each answer needs the digest of its question, and has its
// own result, in the order of the answers. One that is refused, wrong or fails does not stop the others. If the request
// is sent again, an answer that counted is refused (`already_answered`) and changes nothing.
func (c Controller) Answer(ctx context.Context, in InboxAnswers) (InboxResults, error) {
	p := call.By(ctx)
	call.Concerns(ctx, p.Key(""), "")
	acting := call.Acting(ctx)
	out := InboxResults{Results: make([]InboxResult, len(in.Answers))}
	for i, a := range in.Answers {
		result := InboxResult{ThreadID: a.ThreadID, ToolCallID: a.ToolCallID}
		got, err := c.Engine.Respond(acting, p.Key(a.ThreadID), wire.Response{
			ToolCallID: a.ToolCallID, Approved: a.Approved, By: p.Subject,
			Payload: a.Payload, Args: a.Arguments, Reason: a.Reason, Digest: a.Digest,
		})
		result.Delivered, result.Reason, result.Error = got.Delivered, got.Reason, got.Error
		if err != nil {
			err = call.Settled(ctx, err)
			result.Code, result.Error = spool.CodeOf(err), spool.MessageOf(err)
			if result.Code != spool.Invalid {
				c.Log.WarnContext(ctx, "an answer of several failed", "error", call.About(ctx, err, p.Key(a.ThreadID), ""), "cause",
					err)
			}
		}
		out.Results[i] = result
	}
	return out, nil
}

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
	Answers []InboxAnswer `doc:"The answers, up to 100." json:"answers" nullable:"false" required:"true"`
}

// InboxAnswer is the answer to one question of a list.
type InboxAnswer struct { //nolint:revive // as above
	call.OtherAnswer

	ThreadID   spool.ThreadID   `doc:"The thread that waits."                                                                               example:"t1"               json:"threadId"         required:"true"`
	ToolCallID spool.ToolCallID `doc:"The call that waits."                                                                                 example:"call_1"           json:"toolCallId"       required:"true"`
	Digest     string           `doc:"The digest of the question. An answer to anything else does not count."                               json:"digest"              required:"true"`
	Approved   bool             `doc:"True: the call runs (again, if it parked itself). False: the model reads that it was denied."         example:"true"             json:"approved"         required:"true"`
	Payload    json.RawMessage  `doc:"Any JSON, for the tool."                                                                              json:"payload,omitempty"`
	Arguments  json.RawMessage  `doc:"An object of arguments with which an approved call runs instead of its own. The tool must accept it." json:"arguments,omitempty"`
	Reason     string           `doc:"The reason, in up to 4096 bytes. The model reads it, and the record keeps it."                        example:"not on a Friday"  json:"reason,omitempty"`
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
	Results []InboxResult `doc:"The result of each answer, in the order of the answers." json:"results"`
}

// InboxResult is the result of one answer.
type InboxResult struct { //nolint:revive // as above
	ThreadID   spool.ThreadID   `doc:"The thread."                 example:"t1"     json:"threadId"`
	ToolCallID spool.ToolCallID `doc:"The call."                   example:"call_1" json:"toolCallId"`
	Delivered  bool             `doc:"Whether this answer counts." example:"true"   json:"delivered"`
	// Reason is that of a refused answer: see [engine.RespondResult]. Empty for an error.
	Reason string `doc:"Why the answer does not count, as respond says it." example:"already_answered" json:"reason,omitempty"`
	Error  string `doc:"Why the answer does not count, for a person."       json:"error,omitempty"`
	// Code is the code of an error: of an answer that is wrong, or a failure.
	Code spool.Code `doc:"The code of an error: the answer is wrong, or it failed this time (unavailable) and may be sent again. Left out: no error." example:"invalid" json:"code,omitempty"`
}

// Answer answers POST /api/agent/inbox/answers: 200 with a result for each answer. Each answer is on its own: one that is
// refused or fails does not stop the others. Sent again, the answers of a request that counted are refused.
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
				c.Log.WarnContext(ctx, "an answer of several failed", "error", call.About(ctx, err, p.Key(a.ThreadID), ""), "cause", err)
			}
		}
		out.Results[i] = result
	}
	return out, nil
}

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// Respond answers a park of the thread's run. Of several answers to one park, and its
// expiry, exactly one is delivered. The run goes on once none of its parks is open. It
// returns an [spool.Invalid] error for a response that is wrong, also for arguments that
// the tool does not accept.
func (e *Engine) Respond(ctx context.Context, key spool.ThreadKey, r Response) (RespondResult, error) {
	results, err := e.RespondAll(ctx, key, []Response{r})
	if err != nil {
		return RespondResult{}, err
	}
	return results[0], nil
}

// RespondAll answers several parks of the thread's run at once, each as [Engine.Respond]
// does. The results are in the order of the responses, and one that is refused does not keep
// the others from being delivered. Where one of them is wrong, it returns that error, and
// none is delivered.
func (e *Engine) RespondAll(ctx context.Context, key spool.ThreadKey, responses []Response) ([]RespondResult, error) {
	responses = slices.Clone(responses)
	for i := range responses {
		if err := checkResponse(&responses[i]); err != nil {
			return nil, err
		}
	}
	if _, err := e.ReclaimIfOrphaned(ctx, key); err != nil {
		return nil, err
	}
	for _, r := range responses {
		if err := e.checkEdit(ctx, key, r); err != nil {
			return nil, err
		}
	}
	answers := make([]thread.Response, len(responses))
	for i, r := range responses {
		answers[i] = thread.Response(r)
	}
	out, err := change.Update(ctx, e.threads, key, func(tx *thread.Tx) (thread.Answers, error) { return thread.Answer(tx, answers) })
	switch {
	case record.Missing(err):
		out.Refused = slices.Repeat([]*thread.RefusedError{thread.ErrNoPark}, len(responses))
	case err != nil && !errors.Is(err, thread.ErrUnchanged):
		return nil, err
	}
	if out.Resumed {
		e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
	}
	results := make([]RespondResult, len(responses))
	for i, no := range out.Refused {
		if no == nil {
			results[i].Delivered = true
		} else {
			results[i].Reason, results[i].Error = no.Reason, no.Text
		}
	}
	return results, nil
}

const (
	// maxReason bounds the reason of an answer, which stays in the record for ever.
	maxReason = 4096
	// maxAnswer bounds what an answer gives to the call, and that in place of which it may
	// stand.
	maxAnswer = 256 << 10
)

// checkResponse says what is wrong with a response, whatever it answers. A null is nothing.
func checkResponse(r *Response) error {
	if err := spool.CheckID("toolCallId", string(r.ToolCallID)); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		text *json.RawMessage
	}{{"payload", &r.Payload}, {"arguments", &r.Args}} {
		if *f.text == nil {
			continue
		}
		if err := spool.CheckArguments(f.name, *f.text); err != nil {
			return err
		}
		if *f.text = bytes.TrimSpace(*f.text); string(*f.text) == "null" {
			*f.text = nil
		}
		if len(*f.text) > maxAnswer {
			return spool.Errorf(spool.Invalid, "%s is longer than %d bytes", f.name, maxAnswer)
		}
	}
	if r.Args != nil {
		r.Args = toolresult.JSON(r.Args) // the form in which a model's arguments are kept: see callArgs
	}
	switch {
	case len(r.Reason) > maxReason:
		return spool.Errorf(spool.Invalid, "reason is longer than %d bytes", maxReason)
	case r.Args != nil && !r.Approved:
		return spool.Errorf(spool.Invalid, "arguments are only for an approved call")
	}
	return nil
}

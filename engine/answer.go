package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
)

// Response answers a park.
type Response struct {
	ToolCallID spool.ToolCallID
	Approved   bool
	// Payload is any JSON that [spool.CheckArguments] allows, for the call that waits, in up to
	// 262,144 bytes. Nil: none.
	Payload json.RawMessage
	// Args are a JSON object with which an approved call runs in place of what it asked
	// for. Its tool has to accept them. Only a call that waits for an approval may be
	// edited, in up to 262,144 bytes that [spool.CheckArguments] allows. Nil: as it asked.
	Args json.RawMessage
	// Reason is why, for the model and for the record, in up to 4,096 bytes.
	Reason string
	// Digest is the one of the INPUT_REQUIRED that the person was shown. An answer to anything
	// else is refused with [ReasonChanged]. From the second question of a call on it is
	// required. Empty: it is not compared.
	Digest string
	// By is the subject who answers. Empty: not known, which a park that needs somebody else
	// than who started the run refuses.
	By string
}

// RespondResult is the answer to an answer. A refusal is not an error.
type RespondResult struct {
	Delivered bool `json:"delivered"`
	// Reason is one of the constants named Reason, empty for a delivered answer.
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
}

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
		if err := responses[i].check(); err != nil {
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
	resumed := false
	results := make([]RespondResult, len(responses))
	err := e.change(ctx, key, func(h *held) (err error) {
		resumed, err = e.answerAll(h, responses, results)
		return err
	})
	switch {
	case errors.Is(err, errUnchanged):
		return results, nil
	case missing(err):
		for i := range results {
			results[i] = RespondResult{Reason: ReasonNoPark, Error: noPark}
		}
		return results, nil
	case err != nil:
		return nil, err
	}
	if resumed {
		e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
	}
	return results, nil
}

// answerAll answers parks, and reports whether none is open any more. It returns errUnchanged
// where no answer was delivered.
func (e *Engine) answerAll(h *held, responses []Response, results []RespondResult) (resumed bool, err error) {
	err = errUnchanged
	for i, r := range responses {
		last, failed := e.answer(h, r)
		if no, ok := errors.AsType[*refusal](failed); ok {
			results[i] = RespondResult{Reason: no.reason, Error: no.text}
			continue
		}
		if failed != nil {
			return false, failed
		}
		results[i], err = RespondResult{Delivered: true}, nil
		resumed = resumed || last
	}
	return resumed, err
}

const noPark = "No matching pending input request"

const (
	// maxReason bounds the reason of an answer, which stays in the record for ever.
	maxReason = 4096
	// maxAnswer bounds what an answer gives to the call, and that in place of which it may
	// stand.
	maxAnswer = 256 << 10
)

// check says what is wrong with a response, whatever it answers. A null is nothing.
func (r *Response) check() error {
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
		r.Args = encode(r.Args) // the form in which a model's arguments are kept: see callArgs
	}
	switch {
	case len(r.Reason) > maxReason:
		return spool.Errorf(spool.Invalid, "reason is longer than %d bytes", maxReason)
	case r.Args != nil && !r.Approved:
		return spool.Errorf(spool.Invalid, "arguments are only for an approved call")
	}
	return nil
}

// answer is the compare-and-set that answers an open park. It reports whether that was
// the last one.
func (e *Engine) answer(h *held, r Response) (resumed bool, err error) {
	if h.run.State != spool.WaitingForInput || h.run.Ending != nil {
		return false, &refusal{ReasonNoPark, noPark}
	}
	parks, err := h.parks()
	if err != nil {
		return false, err
	}
	var park *spool.Park
	open := 0
	for i := range parks {
		if parks[i].State == spool.ParkOpen {
			open++
		}
		if failsRun(parks[i]) { // the run is over, and only has to be picked up
			return false, &refusal{ReasonNoPark, noPark}
		}
		if parks[i].ToolCallID == r.ToolCallID {
			park = &parks[i]
		}
	}
	switch {
	case park == nil:
		return false, &refusal{ReasonNoPark, noPark}
	case park.State != spool.ParkOpen, !h.now.Before(park.ExpiresAt):
		return false, &refusal{ReasonAnswered, "This request was already answered"}
	case park.DistinctApprover && !h.run.DistinctFrom(r.By):
		return false, &refusal{ReasonSameApprover, "This request is for somebody else than who started the run"}
	}
	if park.Answer, err = answerTo(*park, r, h.now); err != nil {
		return false, err
	}
	if park.Reason == spool.ParkBudget && r.Approved {
		if err := h.raise(*park, r.Payload, e.config.MaxBudget); err != nil {
			return false, err
		}
		if err := h.UpdateRun(h.run); err != nil {
			return false, err
		}
	}
	park.State = spool.ParkAnswered
	if err := h.PutPark(*park); err != nil {
		return false, err
	}
	if park.Reason == spool.ParkOutcomeUnknown && r.Approved {
		again := spool.Effect{RunID: park.CallerID(), Step: park.Step, ToolCallID: park.ToolCallID, State: spool.EffectVoid}
		if err := h.PutEffect(again); err != nil {
			return false, err
		}
	}
	entry := spool.NewEntry(spool.EntryHITLResponse, h.run.ID, spool.HITLResponse{
		ToolCallID: r.ToolCallID, Approved: r.Approved, AnsweredBy: r.By,
		Reason: r.Reason, Arguments: park.Answer.Args, Digest: park.Answer.Digest,
	})
	if err := h.AppendEntries(entry); err != nil {
		return false, err
	}
	h.noteAnswer(*park, r)
	if err := h.CancelJob(expiryKey(*park)); err != nil {
		return false, err
	}
	if open > 1 {
		return false, nil
	}
	return true, h.Enqueue(h.ticket(spool.JobResume, 0))
}

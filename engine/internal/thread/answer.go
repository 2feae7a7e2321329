package thread

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Response answers a park.
type Response struct {
	ToolCallID spool.ToolCallID
	Approved   bool
	Payload    json.RawMessage
	// Args replaces the arguments of an approved call. Nil: the call keeps its own arguments.
	Args json.RawMessage
	// Reason explains the answer to the model and in the record.
	Reason string
	// Digest is the digest that the person saw. If it is empty, Answer does not compare digests.
	Digest string
	// By is the subject that answers, or empty if unknown.
	By string
	// Via and ViaBy say how the answer came and who made that way, if By has not sent it itself.
	Via, ViaBy string
}

// Answers is the outcome of [Answer].
type Answers struct {
	// Refused has an element for each response. The element is nil if the response was delivered.
	Refused []*RefusedError
	// Resumed is true if the run has no open park any more and has a ticket.
	Resumed bool
}

const noPark = "No matching pending input request"

// ErrNoPark refuses an answer to a call that has no open park.
var ErrNoPark = Refuse(wire.ReasonNoPark, noPark)

// Answer answers open parks. A park that was answered or has expired refuses a further answer. Answer
// returns [ErrUnchanged] if it delivered no answer.
func Answer(tx *Tx, responses []Response) (Answers, error) {
	a, delivered := Answers{Refused: make([]*RefusedError, len(responses))}, false
	for i, r := range responses {
		last, err := answer(tx, r)
		if no, ok := errors.AsType[*RefusedError](err); ok {
			a.Refused[i] = no
			continue
		}
		if err != nil {
			return a, err
		}
		delivered = true
		a.Resumed = a.Resumed || last
	}
	if !delivered {
		return a, ErrUnchanged
	}
	return a, nil
}

// answer answers one park and reports whether it was the last open one.
func answer(tx *Tx, r Response) (last bool, err error) {
	if tx.Run.State != wire.WaitingForInput || tx.Run.Ending != nil {
		return false, ErrNoPark
	}
	parks, err := tx.Parks()
	if err != nil {
		return false, err
	}
	var park *store.Park
	open := 0
	for i := range parks {
		if parks[i].State == wire.ParkOpen {
			open++
		}
		if FailsRun(parks[i]) { // the run has already failed; a worker only has to end it
			return false, ErrNoPark
		}
		if parks[i].ToolCallID == r.ToolCallID {
			park = &parks[i]
		}
	}
	switch {
	case park == nil, park.State == wire.ParkPending:
		return false, ErrNoPark
	case park.State != wire.ParkOpen, !tx.Now.Before(park.ExpiresAt):
		return false, Refuse(wire.ReasonAnswered, "This request was already answered")
	case park.DistinctApprover && (!tx.Run.DistinctFrom(r.By) || r.Via != "" && !tx.Run.DistinctFrom(r.ViaBy)):
		return false, Refuse(wire.ReasonSameApprover, "This request is for somebody else than who started the run")
	}
	if park.Answer, err = answerTo(*park, r, tx.Now); err != nil {
		return false, err
	}
	var c store.Changes
	if park.Reason == wire.ParkBudget && r.Approved {
		if err := budget.Raise(tx.Run.Allowance, park.Args, r.Payload, tx.MaxBudget); err != nil {
			return false, err
		}
		c.Runs = append(c.Runs, tx.Run)
	}
	return open == 1, answered(tx, *park, r, open == 1, c)
}

// answered stores an answer, with further changes. After the last answer the run gets a ticket.
func answered(tx *Tx, park store.Park, r Response, last bool, c store.Changes) error {
	park.State = wire.ParkAnswered
	tx.replacePark(&c, park)
	if park.Reason == wire.ParkOutcomeUnknown && r.Approved {
		again := store.Effect{RunID: park.CallerID(), Step: park.Step, ToolCallID: park.ToolCallID, State: wire.EffectVoid}
		c.Effects = append(c.Effects, again)
	}
	c.Entries = append(c.Entries, wire.NewEntry(wire.EntryHITLResponse, tx.Root().Run.ID, wire.HITLResponse{
		ToolCallID: r.ToolCallID, Approved: r.Approved, AnsweredBy: r.By, Via: r.Via, ViaBy: r.ViaBy,
		Reason: r.Reason, Arguments: park.Answer.Args, Digest: park.Answer.Digest,
	}))
	noteAnswer(tx, park, r)
	if last {
		c.Jobs = append(c.Jobs, tx.ticket(wire.JobResume, 0))
	}
	return tx.Write(c)
}

// answerTo returns a response in the form in which the park stores it, or a refusal. The response's
// digest must match the park's, and only an approval may change the arguments.
func answerTo(p store.Park, r Response, now time.Time) (*spool.Answer, error) {
	switch {
	case r.Digest == "" && p.Occurrence > 1: // the client may have repeated its answer to an earlier question
		return nil, Refuse(wire.ReasonChanged, "This call has asked before: the answer must name the digest of this request")
	case r.Digest != "" && r.Digest != p.Digest, p.Digest != "" && p.Digest != p.DigestOf(nil):
		return nil, Refuse(wire.ReasonChanged, "This request is not the one that was shown")
	case r.Args != nil && p.Reason != wire.ParkApproval:
		return nil, Refuse(wire.ReasonNotEditable, "The arguments of this request cannot be edited")
	}
	a := &spool.Answer{Approved: r.Approved, Payload: r.Payload, Reason: r.Reason, By: r.By, At: now}
	if r.Args != nil && p.DigestOf(r.Args) != p.DigestOf(nil) {
		a.Args = r.Args
	}
	if p.Digest != "" {
		a.Digest = p.DigestOf(a.Args)
	}
	return a, nil
}

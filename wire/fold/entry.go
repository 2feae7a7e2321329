package fold

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// TextResult is the kind of the notice with which some servers give the answer of an agent that does not stream. This
// module's server has no such notices.
const TextResult wire.EntryType = "TEXT_RESULT"

// Ended is the end of a segment.
type Ended struct {
	wire.RunEnded

	// State is the state of the run that follows from the status: [wire.Completed] or [wire.Cancelled], then with
	// the StopReason of the run, [wire.WaitingForInput], or [wire.Failed] for an attempt that names no other one.
	// The other attempt may then follow at once: what comes next tells. Empty: the run goes on.
	State wire.State
	// Retry is the next attempt of the run. Nil: the entry names none.
	Retry *Retry
}

// Retry is the next attempt of a run whose last one failed.
type Retry struct {
	// RunID is the run.
	RunID spool.RunID `json:"runId"`
	// At is when it begins.
	At time.Time `json:"at"`
	// Error is why the last attempt failed, for a person.
	Error string `json:"error,omitempty"`
}

// Pending is a call whose work goes on elsewhere. Nobody has to answer.
type Pending struct {
	wire.CallPending

	// RunID is the run that waits.
	RunID spool.RunID `json:"runId"`
}

// Settled says that a question does not wait any more: it was answered, or nobody has answered it in time.
type Settled struct{ ToolCallID spool.ToolCallID }

// Answer is what a run has said in one piece, to a client that has seen no items of it.
type Answer struct {
	RunID spool.RunID `json:"-"`
	Text  string      `json:"text"`
}

// Entry returns what an entry or a notice says: its payload, or an [Ended], a [Park], a [Settled], a [Pending] or an
// [Answer]. Nil: the kind has no rule, as those of applications. It returns a [spool.Internal] error for a payload
// that cannot be read.
func Entry(e wire.Entry) (any, error) {
	switch e.Type {
	case wire.EntryRunStarted:
		return read(e, func(r wire.RunStarted) any { return r })
	case wire.EntryRunEnded:
		return read(e, func(r wire.RunEnded) any { return ended(e, r) })
	case wire.EntryInputRequired:
		return read(e, func(q wire.InputRequired) any { return Park{q.FromRecord(), e.RunID, e.CreatedAt} })
	case wire.EntryInputExtended:
		return read(e, func(q wire.InputExtended) any { return q })
	case wire.EntryInputExpired, wire.EntryHITLResponse: // both have the call in the same field
		return read(e, func(q wire.InputExpired) any { return Settled{q.ToolCallID} })
	case wire.EntryCallPending:
		return read(e, func(c wire.CallPending) any { return Pending{c, e.RunID} })
	case wire.EntryMessagesDropped:
		return read(e, func(d wire.MessagesDropped) any { return d })
	case wire.EntrySteered:
		return read(e, func(s wire.Steered) any { return s })
	case wire.EntryRunRefused:
		return read(e, func(r wire.RunRefused) any { r.RunID = cmp.Or(r.RunID, e.RunID); return r })
	case wire.NoticeStateChange:
		return read(e, func(c wire.StateChange) any { return c })
	case wire.NoticeMessageAppended:
		return read(e, func(m spool.Message) any { return m })
	case wire.NoticeThreadDeleted:
		return wire.ThreadDeleted{ThreadID: e.ThreadID}, nil
	case TextResult:
		return read(e, func(a Answer) any { a.RunID = e.RunID; return a })
	default:
		return nil, nil //nolint:nilnil // documented
	}
}

func read[P any](e wire.Entry, said func(P) any) (any, error) {
	var payload P
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		return nil, unreadable("entry", string(e.Type), err)
	}
	return said(payload), nil
}

func unreadable(what, kind string, err error) error {
	return &spool.Error{Code: spool.Internal, Message: "the " + what + " " + kind + " cannot be read", Err: err}
}

// ended returns what the end of a segment means for its run.
func ended(e wire.Entry, r wire.RunEnded) Ended {
	out := Ended{RunEnded: r}
	switch r.Status {
	case wire.SegmentFinished:
		out.State = wire.Completed
	case wire.SegmentStopped:
		out.State, out.StopReason = wire.Cancelled, wire.StopCancelled
	case wire.SegmentParked:
		out.State = wire.WaitingForInput
	case wire.SegmentError:
		if r.RetryAfterMS == 0 {
			out.State = wire.Failed
		}
	default: // the run goes on with another worker
	}
	if r.RetryAfterMS > 0 {
		at := e.CreatedAt.Add(time.Duration(r.RetryAfterMS) * time.Millisecond)
		out.Retry = &Retry{RunID: e.RunID, At: at, Error: r.Error}
	}
	return out
}

package thread

import (
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// A pending call waits for its own tool. Between two segments of the run, jobs look at it without a lease. As long
// as the call is pending, a look changes only its park. When it is not, the run gets a ticket, and the next segment
// calls the tool for the result.

const (
	// maxNotes bounds the entries about one pending call, and maxNote a note in bytes.
	maxNotes = 100
	maxNote  = 500
)

// waits reports whether a park waits for its tool, and not for a segment.
func waits(p spool.Park) bool { return p.State == spool.ParkPending && !p.Pending.Ready }

// PollKey returns the key of the job that looks at a pending call.
func PollKey(p spool.Park) string { return "poll:" + string(p.RunID) + ":" + string(p.ToolCallID) }

// CancelKey returns the key of the job that cancels the work of a call.
func CancelKey(p spool.Park) string { return "cancel:" + string(p.RunID) + ":" + string(p.ToolCallID) }

func pollJob(tx *Tx, p spool.Park) spool.Job {
	j := tx.jobOf(tx.Root().Run, spool.JobPoll, p.Pending.NextAt.Sub(tx.Now))
	j.Key = PollKey(p)
	return j
}

// Abandon removes the job that looks at a call, and adds one that cancels its work.
func Abandon(tx *Tx, c *spool.Changes, p spool.Park) {
	j := tx.jobOf(tx.Root().Run, spool.JobCancel, 0)
	j.Key = CancelKey(p)
	c.CancelJobs, c.Jobs = append(c.CancelJobs, PollKey(p)), append(c.Jobs, j)
	tx.Root().Follow.Jobs = true
}

// schedule begins the looks at a call whose run parks, and announces the call.
func schedule(tx *Tx, c *spool.Changes, p spool.Park) {
	pending := *p.Pending
	p.Pending = &pending
	pending.NextAt = tx.Now.Add(pending.After)
	if pending.Until.Before(pending.NextAt) {
		pending.NextAt = pending.Until
	}
	c.Parks, c.Jobs = append(c.Parks, p), append(c.Jobs, pollJob(tx, p))
	c.Entries = append(c.Entries, callPending(p))
}

func callPending(p spool.Park) *spool.Entry {
	payload := spool.CallPending{ToolCallID: p.ToolCallID, ToolName: p.ToolName, Note: p.Pending.Note, Until: p.Pending.Until}
	if p.AgentID != "" {
		payload.AgentID = &p.AgentID
	}
	return spool.NewEntry(spool.EntryCallPending, p.RunID, payload)
}

// Polled stores what a look at a pending call has found: still is the tool's error, or nil if the next segment has to
// call the tool. Polled returns [ErrUnchanged] if the call does not wait any more as it did when it was read.
func Polled(tx *Tx, seen spool.Park, still *spool.PendingError) error {
	if tx.Run.ID != seen.RunID || tx.Run.State.Terminal() || tx.Run.Ending != nil {
		return ErrUnchanged
	}
	parks, err := tx.Parks()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(parks, func(p spool.Park) bool { return p.ToolCallID == seen.ToolCallID && waits(p) })
	if at < 0 || !parks[at].Pending.NextAt.Equal(seen.Pending.NextAt) {
		return ErrUnchanged
	}
	p := &parks[at]
	c := spool.Changes{CancelJobs: []string{PollKey(*p)}}
	if still == nil || !tx.Now.Before(p.Pending.Until) {
		p.Pending.Ready = true
		if tx.Run.State == spool.WaitingForInput && !slices.ContainsFunc(parks, isOpen) {
			c.Jobs = append(c.Jobs, tx.ticket(spool.JobResume, 0))
			tx.Follow.Jobs = true
		}
		tx.Follow.Unseen = true
		c.Parks = []spool.Park{*p}
		return tx.Write(c)
	}
	return stillPending(tx, c, *p, still)
}

func stillPending(tx *Tx, c spool.Changes, p spool.Park, still *spool.PendingError) error {
	pending := p.Pending
	pending.State, pending.NextAt = still.State, tx.Now.Add(still.Bounded())
	if pending.Until.Before(pending.NextAt) {
		pending.NextAt = pending.Until
	}
	note := ShortNote(still.Note)
	if note != pending.Note && pending.Notes < maxNotes && tx.Run.State == spool.WaitingForInput {
		pending.Note = note
		pending.Notes++
		c.Entries = append(c.Entries, callPending(p))
	} else {
		tx.Follow.Unseen = true
	}
	c.Parks, c.Jobs = append(c.Parks, p), append(c.Jobs, pollJob(tx, p))
	return tx.Write(c)
}

// ShortNote returns at most as many bytes of a note as clients get.
func ShortNote(note string) string {
	return strings.ToValidUTF8(note[:min(len(note), maxNote)], "")
}

func isOpen(p spool.Park) bool { return p.State == spool.ParkOpen }

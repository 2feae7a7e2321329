package thread

import (
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
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
func waits(p store.Park) bool { return p.State == wire.ParkPending && !p.Pending.Ready }

// PollKey returns the key of the job that looks at a pending call.
func PollKey(p store.Park) string { return "poll:" + string(p.RunID) + ":" + string(p.ToolCallID) }

// CancelKey returns the key of the job that cancels the work of a call.
func CancelKey(p store.Park) string { return "cancel:" + string(p.RunID) + ":" + string(p.ToolCallID) }

func pollJob(tx *Tx, p store.Park) wire.Job {
	j := tx.jobOf(tx.Root().Run, wire.JobPoll, p.Pending.NextAt.Sub(tx.Now))
	j.Key = PollKey(p)
	return j
}

// Abandon removes the job that looks at a call, and adds one that cancels its work.
func Abandon(tx *Tx, c *store.Changes, p store.Park) {
	j := tx.jobOf(tx.Root().Run, wire.JobCancel, 0)
	j.Key = CancelKey(p)
	c.CancelJobs, c.Jobs = append(c.CancelJobs, PollKey(p)), append(c.Jobs, j)
	tx.Root().Follow.Jobs = true
}

// schedule begins the looks at a call whose run parks, and announces the call.
func schedule(tx *Tx, c *store.Changes, p store.Park) {
	pending := *p.Pending
	p.Pending = &pending
	pending.NextAt = tx.Now.Add(pending.After)
	if pending.Until.Before(pending.NextAt) {
		pending.NextAt = pending.Until
	}
	c.Parks, c.Jobs = append(c.Parks, p), append(c.Jobs, pollJob(tx, p))
	c.Entries = append(c.Entries, callPending(p))
}

func callPending(p store.Park) *wire.Entry {
	payload := wire.CallPending{
		ToolCallID: p.ToolCallID, ToolName: p.ToolName, Note: p.Pending.Note, Until: p.Pending.Until,
	}
	if p.AgentID != "" {
		payload.AgentID = &p.AgentID
	}
	return wire.NewEntry(wire.EntryCallPending, p.RunID, payload)
}

// Polled stores what a look at a pending call has found: still is the tool's error, or nil if the next segment has to
// call the tool. Polled returns [ErrUnchanged] if the call does not wait any more as it did when it was read.
func Polled(tx *Tx, seen store.Park, still *spool.PendingError) error {
	if tx.Run.ID != seen.RunID || tx.Run.State.Terminal() || tx.Run.Ending != nil {
		return ErrUnchanged
	}
	parks, err := tx.Parks()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(parks, func(p store.Park) bool { return p.ToolCallID == seen.ToolCallID && waits(p) })
	if at < 0 || !parks[at].Pending.NextAt.Equal(seen.Pending.NextAt) {
		return ErrUnchanged
	}
	p := &parks[at]
	c := store.Changes{CancelJobs: []string{PollKey(*p)}}
	if still == nil || !tx.Now.Before(p.Pending.Until) {
		p.Pending.Ready = true
		if tx.Run.State == wire.WaitingForInput && !slices.ContainsFunc(parks, isOpen) {
			c.Jobs = append(c.Jobs, tx.ticket(wire.JobResume, 0))
			tx.Follow.Jobs = true
		}
		tx.Follow.Unseen = true
		c.Parks = []store.Park{*p}
		return tx.Write(c)
	}
	return stillPending(tx, c, *p, still)
}

func stillPending(tx *Tx, c store.Changes, p store.Park, still *spool.PendingError) error {
	pending := p.Pending
	pending.State, pending.NextAt = still.State, tx.Now.Add(still.Bounded())
	if pending.Until.Before(pending.NextAt) {
		pending.NextAt = pending.Until
	}
	note := ShortNote(still.Note)
	if note != pending.Note && pending.Notes < maxNotes && tx.Run.State == wire.WaitingForInput {
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

func isOpen(p store.Park) bool { return p.State == wire.ParkOpen }

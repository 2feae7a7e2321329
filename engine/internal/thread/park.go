package thread

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// ParkNested is the transition of a nested run to WAITING_FOR_INPUT. The dispatched run parks later,
// for the whole tree.
func ParkNested(tx *Tx) error {
	tx.Run.State = wire.WaitingForInput
	return tx.Put()
}

// ResumeNested is the transition of a waiting nested run back to RUNNING.
func ResumeNested(tx *Tx) error {
	tx.Run.State = wire.Running
	return tx.Put()
}

// Park is the transition to WAITING_FOR_INPUT. It opens the parks of all runs of the tree, which nobody
// could answer before, and begins the looks at pending calls. It writes their entries and jobs, and releases the
// lease. The stream gets an item for each question, after all the entries, and then ends.
func Park(tx *Tx) error {
	parks, err := tx.Parks()
	if err != nil {
		return err
	}
	var c store.Changes
	for _, park := range parks {
		if waits(park) && park.Pending.NextAt.IsZero() {
			schedule(tx, &c, park)
		}
		if park.State != wire.ParkOpen || !park.ExpiresAt.IsZero() {
			continue
		}
		park.CreatedAt = tx.Now
		park.ExpiresAt = tx.Now.Add(park.Expiry.TTL)
		c.Parks, c.Jobs = append(c.Parks, park), append(c.Jobs, expiryJob(tx, park))
		required, err := tx.InputRequired(tx.Store, park)
		if err != nil {
			return err
		}
		c.Entries = append(c.Entries, wire.NewEntry(wire.EntryInputRequired, tx.Run.ID, required.InRecord()))
	}
	if err := tx.Write(c); err != nil {
		return err
	}
	for _, entry := range c.Entries {
		if entry.Type == wire.EntryInputRequired {
			tx.Item(wire.ItemInputRequired, entry.Payload)
		}
	}
	ended := tx.closeSegment(wire.ItemRunFinished, wire.StreamFinished{Status: wire.SegmentParked},
		wire.RunEnded{Status: wire.SegmentParked})
	if err := tx.move(wire.WaitingForInput); err != nil {
		return err
	}
	tx.release()
	c = store.Changes{Entries: []*wire.Entry{ended}}
	if !slices.ContainsFunc(parks, isOpen) &&
		slices.ContainsFunc(parks, func(p store.Park) bool { return p.State == wire.ParkPending && p.Pending.Ready }) {
		c.Jobs = append(c.Jobs, tx.ticket(wire.JobResume, 0)) // a look has found it ready while the segment ran
	}
	return tx.save(c)
}

// InputRequired returns the payload of the record entry about an open park.
func (r Rules) InputRequired(v store.View, p store.Park) (wire.InputRequired, error) {
	shown := p.Args
	if p.Shown != nil {
		shown = p.Shown
	}
	required := wire.InputRequired{
		ToolCallID: p.ToolCallID, ToolName: p.ToolName, Arguments: shown, Frames: record.NonNil(p.Frames),
		Reason: p.Reason, Revision: p.Revision, Digest: p.Digest, Occurrence: p.Occurrence, ExpiresAt: p.ExpiresAt,
		OnExpiry: onExpiry(p), DistinctApprover: p.DistinctApprover,
	}
	switch {
	case p.Schema != nil:
		required.InputSchema = p.Schema
	case p.Reason == wire.ParkApproval: // only an approval may edit the arguments
		var err error
		if required.InputSchema, err = r.Parameters(v, p); err != nil {
			return required, err
		}
	}
	if p.AgentID == "" {
		return required, nil
	}
	run, err := store.FindRun(v, p.CallerID())
	if err != nil {
		return required, err
	}
	required.AgentID = &p.AgentID
	required.Nested = &wire.NestedCaller{AgentID: p.AgentID, Name: run.Agent, Model: run.Model, Depth: run.Depth}
	return required, nil
}

// onExpiry returns the expiry action as it is on the wire, which omits the default.
func onExpiry(p store.Park) spool.ExpiryAction {
	if p.Expiry.Then == spool.ExpireDeny {
		return ""
	}
	return p.Expiry.Then
}

// warnAt returns when to warn about an open park, or zero for never.
func warnAt(p store.Park) time.Time {
	if p.Warned || p.Expiry.Warn <= 0 || p.Expiry.Warn >= p.Expiry.TTL {
		return time.Time{}
	}
	return p.ExpiresAt.Add(-p.Expiry.Warn)
}

// expiryJob returns the job for the next change of an open park: its warning, or its expiry.
func expiryJob(tx *Tx, p store.Park) wire.Job {
	due := p.ExpiresAt
	if warn := warnAt(p); !warn.IsZero() {
		due = warn
	}
	j := tx.jobOf(tx.Run, wire.JobExpiry, due.Sub(tx.Now))
	j.Key = expiryKey(p)
	return j
}

func expiryKey(p store.Park) string {
	return "hitl-expiry:" + string(p.RunID) + ":" + string(p.ToolCallID)
}

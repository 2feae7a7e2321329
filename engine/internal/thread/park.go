package thread

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// ParkNested is the transition of a nested run to WAITING_FOR_INPUT. The dispatched run parks for
// it.
func ParkNested(tx *Tx) error {
	tx.Run.State = spool.WaitingForInput
	return tx.Put()
}

// ResumeNested is the transition of a waiting nested run back to RUNNING.
func ResumeNested(tx *Tx) error {
	tx.Run.State = spool.Running
	return tx.Put()
}

// Park is the transition to WAITING_FOR_INPUT. It opens the parks of all runs of the tree, which
// nobody could answer before. It writes their entries and expiry jobs, and gives up the lease. The
// stream gets an item for each entry, after all the entries, and then ends.
func Park(tx *Tx) error {
	parks, err := tx.Parks()
	if err != nil {
		return err
	}
	var entries []*spool.Entry
	for _, park := range parks {
		if park.State != spool.ParkOpen || !park.ExpiresAt.IsZero() {
			continue
		}
		park.CreatedAt = tx.Now
		park.ExpiresAt = tx.Now.Add(park.Expiry.TTL)
		if err := tx.Store.PutPark(park); err != nil {
			return err
		}
		if err := enqueueExpiry(tx, park); err != nil {
			return err
		}
		required, err := tx.InputRequired(tx.Store, park)
		if err != nil {
			return err
		}
		entries = append(entries, spool.NewEntry(spool.EntryInputRequired, tx.Run.ID, required))
	}
	if err := tx.Append(entries...); err != nil {
		return err
	}
	for _, entry := range entries {
		tx.Item(spool.ItemInputRequired, entry.Payload)
	}
	err = tx.closeSegment(spool.ItemRunFinished, spool.StreamFinished{Status: spool.SegmentParked}, spool.RunEnded{Status: spool.SegmentParked})
	if err != nil {
		return err
	}
	if err := tx.move(spool.WaitingForInput); err != nil {
		return err
	}
	tx.release()
	return tx.save()
}

// InputRequired returns the record's payload about an open park.
func (r Rules) InputRequired(v spool.View, p spool.Park) (spool.InputRequired, error) {
	shown := p.Args
	if p.Shown != nil {
		shown = p.Shown
	}
	required := spool.InputRequired{
		ToolCallID: p.ToolCallID, ToolName: p.ToolName, Arguments: shown, Frames: record.NonNil(p.Frames),
		Reason: p.Reason, Digest: p.Digest, Occurrence: p.Occurrence, ExpiresAt: p.ExpiresAt, OnExpiry: onExpiry(p),
		DistinctApprover: p.DistinctApprover,
	}
	if p.Reason == spool.ParkApproval { // only an approval may edit the arguments
		var err error
		if required.InputSchema, err = r.Parameters(v, p); err != nil {
			return required, err
		}
	}
	if p.AgentID == "" {
		return required, nil
	}
	run, err := v.Run(p.CallerID())
	if err != nil {
		return required, err
	}
	required.AgentID = &p.AgentID
	required.Nested = &spool.NestedCaller{AgentID: p.AgentID, Name: run.Agent, Model: run.Model, Depth: run.Depth}
	return required, nil
}

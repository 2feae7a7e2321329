package thread

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// Wait is the transition of a nested run to WAITING_FOR_INPUT: the dispatched run parks for it.
func Wait(tx *Tx) error {
	tx.Run.State = spool.WaitingForInput
	return tx.Put()
}

// Resume is the transition of a nested run that has waited back to RUNNING.
func Resume(tx *Tx) error {
	tx.Run.State = spool.Running
	return tx.Put()
}

// Park is the transition to WAITING_FOR_INPUT. With it the parks of all the runs of the tree come
// into force, which nobody could answer before. The entries that tell of the parks and the jobs by
// which they expire are written with it, and the lease is given up. The stream has an item for
// each entry, behind all of them, and then ends.
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

// InputRequired returns what the record tells of an open park.
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
	if p.Reason == spool.ParkApproval { // only such a call may be edited
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

package compare

import (
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Contents is everything that belongs to a thread.
type Contents struct {
	Found    bool
	Thread   wire.Thread
	Runs     []store.RunRow
	Messages []spool.Message
	Branches []wire.Branch
	// Branched has the messages of each branch.
	Branched [][]spool.Message
	Entries  []wire.Entry
	Parks    []store.Park
	Effects  []store.Effect
	Usage    []wire.UsageLine
	Newest   wire.UsageRow
	Deltas   []store.SnapshotDelta
}

// Read reads a thread. The parks are the run's, and the effects are those of the run's step 1.
func Read(v store.View, run spool.RunID) (c Contents, err error) {
	c.Thread, err = v.Thread()
	if spool.CodeOf(err) == spool.NotFound {
		err = nil
	} else {
		c.Found = true
	}
	errs := []error{err}
	keep := func(err error) { errs = append(errs, err) }
	c.Runs, err = Runs(v)
	keep(err)
	c.Messages, err = v.Messages(store.MessageQuery{})
	keep(err)
	c.Branches, err = v.Branches()
	keep(err)
	for _, b := range c.Branches {
		messages, err := v.Messages(store.MessageQuery{Branch: b.ID})
		keep(err)
		c.Branched = append(c.Branched, messages)
	}
	c.Entries, err = v.Entries(store.EntryQuery{})
	keep(err)
	c.Parks, err = v.Parks(run)
	keep(err)
	c.Effects, err = v.Effects(run, 1)
	keep(err)
	sums, err := v.Usage(wire.UsageQuery{Sums: true})
	keep(err)
	c.Usage = sums.Sums
	newest, err := v.Usage(wire.UsageQuery{Last: true, Limit: 1})
	keep(err)
	for _, row := range newest.Rows {
		c.Newest = row
	}
	c.Deltas, err = v.Deltas(store.DeltaQuery{})
	keep(err)
	return c, errors.Join(errs...)
}

// Runs returns all runs of a thread with their state, the newest first.
func Runs(v store.View) ([]store.RunRow, error) { return v.Runs(wire.RunQuery{Whole: true}) }

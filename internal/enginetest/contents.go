package enginetest

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// contents are what a thread has.
type contents struct {
	Found    bool
	Thread   spool.Thread
	Runs     []spool.RunRow
	Messages []spool.Message
	Branches []spool.Branch
	// Branched are the messages of each branch.
	Branched [][]spool.Message
	Entries  []spool.Entry
	Parks    []spool.Park
	Effects  []spool.Effect
	Usage    []spool.UsageLine
	Newest   spool.UsageRow
}

// readAll reads a thread. Parks and effects are those of the run and of its step 1.
func readAll(v spool.View, run spool.RunID) (c contents, err error) {
	c.Thread, err = v.Thread()
	if spool.CodeOf(err) == spool.NotFound {
		err = nil
	} else {
		c.Found = true
	}
	errs := []error{err}
	keep := func(err error) { errs = append(errs, err) }
	runs, err := v.Runs(0)
	keep(err)
	for _, r := range runs {
		row, err := v.Run(r.ID)
		keep(err)
		c.Runs = append(c.Runs, row)
	}
	c.Messages, err = v.Messages(spool.MessageQuery{})
	keep(err)
	c.Branches, err = v.Branches()
	keep(err)
	for _, b := range c.Branches {
		messages, err := v.Messages(spool.MessageQuery{Branch: b.ID})
		keep(err)
		c.Branched = append(c.Branched, messages)
	}
	c.Entries, err = v.Entries(spool.EntryQuery{})
	keep(err)
	c.Parks, err = v.Parks(run)
	keep(err)
	c.Effects, err = v.Effects(run, 1)
	keep(err)
	c.Usage, err = v.Usage()
	keep(err)
	newest, err := v.UsageRows(spool.UsageQuery{Last: true, Limit: 1})
	keep(err)
	for _, row := range newest {
		c.Newest = row
	}
	return c, errors.Join(errs...)
}

// threadKey returns the key of a thread of the default tenant.
func threadKey(id spool.ThreadID) spool.ThreadKey {
	return spool.ThreadKey{Tenant: spool.DefaultTenant, ID: id}
}

func messageAt(all []spool.Message, id spool.MessageID) int {
	return slices.IndexFunc(all, func(m spool.Message) bool { return m.ID == id })
}

// turnAt returns a turn of a script, and a failure behind its end.
func turnAt(turns []spooltest.Turn, at int) spooltest.Turn {
	if at >= len(turns) {
		return spooltest.Turn{Err: &spool.ModelError{Status: 400, Message: "the script has no turn left"}}
	}
	return turns[at]
}

func canceled(ctx context.Context) error {
	return spool.Wrap(spool.Canceled, "Canceled", ctx.Err())
}

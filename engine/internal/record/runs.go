package record

import (
	"cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Answers returns the run whose first user turn a run answers: its own, or that of the run that a redriven run goes
// on with.
func Answers(run store.RunRow) spool.RunID { return cmp.Or(run.Continues, run.ID) }

// AgentOf returns the id of a nested run's agent, or nil for a dispatched run.
func AgentOf(run store.RunRow) *spool.AgentID {
	if id := run.AgentID(); id != "" {
		return &id
	}
	return nil
}

// Nested returns the runs below a dispatched run, in the order of their insertion.
func Nested(v store.View, root spool.RunID) ([]store.RunRow, error) {
	return v.Runs(wire.RunQuery{RootID: root, Whole: true})
}

// Waiting returns the runs that wait for the thread, in their order.
func Waiting(v store.View) ([]store.RunRow, error) {
	return v.Runs(wire.RunQuery{Waiting: true, Whole: true})
}

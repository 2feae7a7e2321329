package record

import (
	"cmp"

	"github.com/spoolhq/spool"
)

// Answers returns the run whose first user turn a run answers: its own, or that of the run that a redriven run goes on with.
func Answers(run spool.RunRow) spool.RunID { return cmp.Or(run.Continues, run.ID) }

// AgentOf returns the id of a nested run's agent, or nil for a dispatched run.
func AgentOf(run spool.RunRow) *spool.AgentID {
	if id := run.AgentID(); id != "" {
		return &id
	}
	return nil
}

// Nested returns the runs below a dispatched run, in the order of their insertion.
func Nested(v spool.View, root spool.RunID) ([]spool.RunRow, error) {
	return v.Runs(spool.RunQuery{RootID: root, Whole: true})
}

// Waiting returns the runs that wait for the thread, in their order.
func Waiting(v spool.View) ([]spool.RunRow, error) {
	return v.Runs(spool.RunQuery{Waiting: true, Whole: true})
}

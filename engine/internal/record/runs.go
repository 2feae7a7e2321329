package record

import "github.com/spoolhq/spool"

// Nested returns the runs below a dispatched run, in the order of their insertion.
func Nested(v spool.View, root spool.RunID) ([]spool.RunRow, error) {
	return v.Runs(spool.RunQuery{RootID: root, Whole: true})
}

// Waiting returns the runs that wait for the thread, in their order.
func Waiting(v spool.View) ([]spool.RunRow, error) {
	return v.Runs(spool.RunQuery{Waiting: true, Whole: true})
}

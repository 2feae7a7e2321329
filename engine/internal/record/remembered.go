package record

import (
	"slices"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Remembering returns a view that reads a thread, a run or an entry once. The parts of one read ask for the same ones
// again and again, and a view never changes. The caller must not pass a transaction, which does change.
func Remembering(v store.View) store.View {
	r := &remembering{View: v}
	if encoded, ok := v.(store.EncodedMessages); ok {
		return rememberingEncoded{r, encoded}
	}
	return r
}

type remembering struct {
	store.View

	thread  *wire.Thread
	runs    answers[wire.RunQuery, store.RunRow]
	entries answers[store.EntryQuery, wire.Entry]
}

type rememberingEncoded struct {
	*remembering
	store.EncodedMessages
}

// Thread implements [store.View].
func (r *remembering) Thread() (wire.Thread, error) {
	if r.thread != nil {
		return *r.thread, nil
	}
	thread, err := r.View.Thread()
	if err == nil {
		r.thread = &thread
	}
	return thread, err
}

// Runs implements [store.View].
func (r *remembering) Runs(q wire.RunQuery) ([]store.RunRow, error) {
	return r.runs.read(q, r.View.Runs)
}

// Entries implements [store.View].
func (r *remembering) Entries(q store.EntryQuery) ([]wire.Entry, error) {
	return r.entries.read(q, r.View.Entries)
}

// answers are those to queries that have one row or none. It does not keep longer ones.
type answers[Q comparable, R any] []answered[Q, R]

type answered[Q comparable, R any] struct {
	query Q
	rows  []R
}

func (m *answers[Q, R]) read(q Q, read func(Q) ([]R, error)) ([]R, error) {
	for i := range *m {
		if (*m)[i].query == q {
			return slices.Clone((*m)[i].rows), nil
		}
	}
	rows, err := read(q)
	if err == nil && len(rows) <= 1 {
		*m = append(*m, answered[Q, R]{q, slices.Clone(rows)})
	}
	return rows, err
}

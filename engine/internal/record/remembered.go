package record

import (
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Remembering returns a view that reads the thread's row once, and a run by its id once as long as no other run is
// read in between. The parts of one read ask for both again and again, and a view never changes. The caller must not
// pass a transaction, which does change.
func Remembering(v store.View) store.View {
	r := &remembering{View: v}
	if encoded, ok := v.(store.EncodedMessages); ok {
		return rememberingEncoded{r, encoded}
	}
	return r
}

type remembering struct {
	store.View

	thread *wire.Thread
	run    *store.RunRow
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
	if q.ID == "" || q != (wire.RunQuery{ID: q.ID, Whole: true}) {
		return r.View.Runs(q)
	}
	if r.run != nil && r.run.ID == q.ID {
		return []store.RunRow{*r.run}, nil
	}
	runs, err := r.View.Runs(q)
	if err == nil && len(runs) == 1 {
		run := runs[0]
		r.run = &run
	}
	return runs, err
}

package view

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// applyWait applies what an entry says of what a run waits for.
func (t *Thread) applyWait(payload any) {
	t.parks = t.parks.After(payload)
	switch said := payload.(type) {
	case fold.Pending:
		is := func(p fold.Pending) bool { return p.ToolCallID == said.ToolCallID && p.RunID == said.RunID }
		if i := slices.IndexFunc(t.pending, is); i >= 0 {
			t.pending[i] = said
		} else {
			t.pending = append(t.pending, said)
		}
	case wire.RunStarted:
		t.retry, t.waits = nil, nil
	case fold.Ended:
		t.retry, t.waits = said.Retry, nil
	}
}

// waitOnly ends the waits of all runs but one. Empty: of all.
func (t *Thread) waitOnly(run spool.RunID) {
	goes := func(id spool.RunID) bool { return run == "" || id != run }
	if t.retry != nil && goes(t.retry.RunID) {
		t.retry = nil
	}
	t.parks = slices.DeleteFunc(t.parks, func(p fold.Park) bool { return goes(p.RunID) })
	t.pending = slices.DeleteFunc(t.pending, func(p fold.Pending) bool { return goes(p.RunID) })
}

package loop

import (
	"context"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active/activetest"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// scene has the loop of a run.
type scene struct {
	*activetest.Scene
	*Loop
}

// still is a segment that does not settle its run, and keeps its slot.
type still struct{}

func (still) Settle(context.Context) error            { return nil }
func (still) YieldSlot(context.Context) (bool, error) { return false, nil }

// newScene returns a run of an agent that has the model "m" and, for the tests of fallbacks, "spare" and "last".
func newScene(t *testing.T, agent spool.Agent, run store.RunRow) *scene {
	t.Helper()
	s := activetest.New(t, agent, run)
	return &scene{s, New(Models{Chat: &chat.Client{Log: s.Host().Log}}, still{}, s.Run)}
}

func desk(t *testing.T, run store.RunRow) *scene {
	t.Helper()
	return newScene(t, stage.Desk(), run)
}

// nested returns the scene of a run that the call "c1" of the scene's run has spawned.
func (s *scene) nested(run store.RunRow) *scene {
	nested := s.Nested(nestedID("r", "c1"), run)
	l := s.child(nested.Row())
	nested.Run = l.run
	return &scene{nested, l}
}

// record returns the types of the record's entries.
func (s *scene) record() (types []wire.EntryType) {
	for _, e := range s.Rows.Rows.Entries {
		types = append(types, e.Type)
	}
	return types
}

package calls

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active/activetest"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
)

// scene has the calls of a run.
type scene struct {
	*activetest.Scene
	*Calls
}

// newScene returns a run of an agent that has the model "m" and, for the tests of fallbacks, "spare" and "last".
func newScene(t *testing.T, agent spool.Agent, run store.RunRow) *scene {
	t.Helper()
	s := activetest.New(t, agent, run)
	return &scene{s, New(s.Run)}
}

func desk(t *testing.T, run store.RunRow) *scene {
	t.Helper()
	s := newScene(t, stage.Desk(), run)
	s.Agent().AtClient = map[string]bool{"look": run.Client != nil}
	return s
}

// nested returns the scene of a run that the call "c1" of the scene's run has spawned.
func (s *scene) nested(run store.RunRow) *scene {
	nested := s.Nested("sub", run)
	return &scene{nested, New(nested.Run)}
}

// says returns what the plan is for a call, or what has become of it.
func (p *Call) says() string {
	switch {
	case p.parks() && p.pends():
		return "pending"
	case p.parks():
		return "park " + p.park.Reason
	case p.state == callWaits:
		return "wait"
	case p.state == callSaved:
		return "saved " + string(p.result)
	case p.result != nil:
		return string(p.result)
	case p.state == callRepeats:
		return "repeat"
	default:
		return "run"
	}
}

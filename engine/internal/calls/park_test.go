package calls

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A park lasts as long as the call asks, or else as its tool says, or else as the engine does.
func TestParkTTL(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ asked, tool, want time.Duration }{
		"engine":        {want: time.Hour},
		"tool":          {tool: 2 * time.Hour, want: 2 * time.Hour},
		"call":          {asked: time.Minute, tool: 2 * time.Hour, want: time.Minute},
		"less than now": {asked: -1, tool: 2 * time.Hour, want: 2 * time.Hour},
	} {
		s := newScene(t, spool.Agent{Tools: []spool.Tool{stage.Tool("look", func(t *spool.Tool) { t.Expiry.TTL = c.tool })}},
			store.RunRow{})
		if got := s.newPark(s.planned("look"), "input", c.asked).Expiry.TTL; got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A call of the client's tool has a time of its own, because a client answers at once or is gone.
func TestClientToolTTL(t *testing.T) {
	t.Parallel()
	s := newScene(t, spool.Agent{Tools: []spool.Tool{stage.Tool("look")}}, store.RunRow{})
	s.Agent().AtClient = map[string]bool{"look": true}
	p := s.planned("look")
	s.planFresh(t.Context(), p)
	if p.park == nil || p.park.Expiry.TTL != time.Minute || p.park.Expiry.Warn != 12*time.Second {
		t.Errorf("the call waits with %+v", p.park)
	}
}

// Somebody else has to answer if the tool, an earlier park of the call or an agent above asks for it.
func TestParkDistinct(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent, tool, before, nested bool
		reason                      string
		want                        bool
	}{
		"nobody asks":                 {reason: wire.ParkApproval},
		"tool":                        {tool: true, reason: "input", want: true},
		"earlier park":                {before: true, reason: "input", want: true},
		"agent, approval":             {agent: true, reason: wire.ParkApproval, want: true},
		"agent, outcome":              {agent: true, reason: wire.ParkOutcomeUnknown, want: true},
		"agent, question of the tool": {agent: true, reason: "input"},
		"agent, client tool":          {agent: true, reason: wire.ParkClientTool},
		"agent above":                 {agent: true, nested: true, reason: wire.ParkApproval, want: true},
	} {
		s := newScene(t, spool.Agent{
			DistinctApprover: c.agent, Spawn: &spool.Spawn{Open: true},
			Tools: []spool.Tool{stage.Tool("look", func(t *spool.Tool) { t.DistinctApprover = c.tool })},
		}, store.RunRow{})
		if c.nested {
			s = s.nested(store.RunRow{})
			s.Agent().DistinctApprover = false
		}
		p := s.planned("look")
		if c.before {
			p.answered = &store.Park{DistinctApprover: true}
		}
		if got := s.newPark(p, c.reason, 0).DistinctApprover; got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A park names the run that made the call, and the calls above that wait for it.
func TestParkFrames(t *testing.T) {
	t.Parallel()
	root := newScene(t, spool.Agent{Spawn: &spool.Spawn{Open: true}},
		store.RunRow{RunState: store.RunState{Revision: "v1"}})
	s := root.nested(store.RunRow{})
	s.Agent().FromSource = map[string]bool{"look": true}
	p := s.planned("look", func(p *Call) { p.tool.Parameters = json.RawMessage(`{"type":"object"}`) })
	got := s.newPark(p, wire.ParkApproval, 0)
	if got.RunID != "r" || got.AgentID != s.Row().AgentID() || len(got.Frames) != 1 || got.Frames[0].ToolCallID != "c1" ||
		got.Revision != "v1" {
		t.Errorf("the park is %+v", got)
	}
	if string(got.Schema) != `{"type":"object"}` { // the tool is of a source
		t.Errorf("the schema is %s", got.Schema)
	}
	if got := root.newPark(p, wire.ParkApproval, 0); got.AgentID != "" || got.Frames != nil || got.Schema != nil {
		t.Errorf("the park of the dispatched run is %+v", got)
	}
}

// The park of a call keeps what the call goes on with: its answer before, its state, and its work elsewhere.
func TestParkKeeps(t *testing.T) {
	t.Parallel()
	before, answer := &spool.Answer{Reason: "1"}, &spool.Answer{Reason: "2"}
	state, work := json.RawMessage(`"s"`), &wire.PendingCall{State: json.RawMessage("1"), Until: stage.Noon, Notes: 3}
	type kept struct {
		State      wire.ParkState
		Before     *spool.Answer
		Resume     json.RawMessage
		Pending    *wire.PendingCall
		Occurrence int
		Shown      string
	}
	pending := func(p *Call) {
		p.answered = &store.Park{State: wire.ParkPending, Before: before, Resume: state, Pending: work, Occurrence: 1}
		p.call.Pending = work.State
	}
	answered := func(p *Call) {
		p.answered = &store.Park{State: wire.ParkAnswered, Before: before, Pending: work}
		p.call.Answer, p.call.Resume = answer, state
	}
	began := func(p *Call) { answered(p); p.call.Pending = work.State }
	asks := func(s *scene, p *Call) *store.Park {
		return s.parkFor(p, &spool.ParkRequest{Payload: 5, Resume: json.RawMessage("7")})
	}
	waits := func(s *scene, p *Call) *store.Park {
		return s.pendingPark(p, &spool.PendingError{After: time.Minute, State: json.RawMessage("2"), Note: "half"})
	}
	unknown := func(s *scene, p *Call) *store.Park { return s.unknownPark(p) }
	lost := func(s *scene, p *Call) *store.Park { return s.lostWork(p) }
	fresh := &wire.PendingCall{State: json.RawMessage("2"), After: time.Minute, Note: "half"}
	next := &wire.PendingCall{State: json.RawMessage("2"), After: time.Minute, Note: "half", Until: stage.Noon, Notes: 3}
	for name, c := range map[string]struct {
		call func(p *Call)
		park func(s *scene, p *Call) *store.Park
		want kept
	}{
		"question": {nil, asks, kept{State: wire.ParkOpen, Resume: json.RawMessage("7"), Shown: "5"}},
		"second question": {
			answered, asks, kept{State: wire.ParkOpen, Resume: json.RawMessage("7"), Pending: work, Occurrence: 2, Shown: "5"},
		},
		"question of the work": {
			pending, asks, kept{State: wire.ParkOpen, Resume: json.RawMessage("7"), Pending: work, Occurrence: 2, Shown: "5"},
		},
		"outcome": {nil, unknown, kept{State: wire.ParkOpen}},
		"outcome of an answered call": {
			answered, unknown, kept{State: wire.ParkOpen, Before: answer, Resume: state, Pending: work, Occurrence: 2},
		},
		"outcome of a pending call": {
			pending, unknown, kept{State: wire.ParkOpen, Before: before, Resume: state, Occurrence: 2},
		},
		"outcome that the tool lost":     {answered, lost, kept{State: wire.ParkOpen, Occurrence: 2}},
		"outcome that a first call lost": {nil, lost, kept{State: wire.ParkOpen}},
		"work begins":                    {nil, waits, kept{State: wire.ParkPending, Pending: fresh}},
		"work begins with an answer": {
			answered, waits, kept{State: wire.ParkPending, Before: answer, Resume: state, Pending: fresh, Occurrence: 1},
		},
		"work goes on": {
			pending, waits, kept{State: wire.ParkPending, Before: before, Resume: state, Pending: next, Occurrence: 1},
		},
		"work goes on after its question": {began, waits, kept{State: wire.ParkPending, Pending: fresh, Occurrence: 1}},
		"outcome of the work's own answer": {
			began, unknown, kept{State: wire.ParkOpen, Before: answer, Resume: state, Pending: work, Occurrence: 2},
		},
	} {
		s := desk(t, store.RunRow{})
		p := s.planned("look")
		if c.call != nil {
			c.call(p)
		}
		got := c.park(s, p)
		if diff := cmp.Diff(
			c.want, kept{got.State, got.Before, got.Resume, got.Pending, got.Occurrence, string(got.Shown)},
		); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The time of a pending call begins once, with the commit that makes it pending.
func TestPendingBegins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		timeout time.Duration
		until   time.Time
		want    time.Time
	}{
		"default":    {want: stage.Noon.Add(24 * time.Hour)},
		"of a tool":  {timeout: time.Hour, want: stage.Noon.Add(time.Hour)},
		"goes on":    {timeout: time.Hour, until: stage.Noon.Add(time.Second), want: stage.Noon.Add(time.Second)},
		"is overdue": {timeout: time.Hour, until: stage.Noon.Add(-time.Second), want: stage.Noon.Add(-time.Second)},
	} {
		p := &Call{tool: spool.Tool{PendingTimeout: c.timeout}, park: &store.Park{Pending: &wire.PendingCall{Until: c.until}}}
		if p.startTime(stage.Noon); !p.park.Pending.Until.Equal(c.want) || !p.park.CreatedAt.Equal(stage.Noon) {
			t.Errorf("%s: until %s", name, p.park.Pending.Until)
		}
	}
}

// The parks of a step are written together. A tool that parked itself is called again with the answer.
func TestParkStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error // of the tool; nil for an approval before it
		effect wire.EffectState
		state  wire.ParkState
	}{
		"approval": {state: wire.ParkOpen},
		"question": {err: &spool.ParkRequest{}, effect: wire.EffectVoid, state: wire.ParkOpen},
		"unknown":  {err: &spool.OutcomeUnknownError{Err: stage.ErrDial}, state: wire.ParkOpen},
		"pending":  {err: spool.Pending(1, nil), effect: wire.EffectVoid, state: wire.ParkPending},
	} {
		s := desk(t, store.RunRow{})
		p := s.planned("look")
		if c.err != nil {
			s.failedCall(t.Context(), p, c.err)
		} else {
			p.state = callNew
			p.ask(s.newPark(p, wire.ParkApproval, 0))
		}
		s.plan = []*Call{p, s.planned("look", func(p *Call) { p.call.ID = "c2"; p.Finish(json.RawMessage("1")) })}
		s.Check(s.Commit(t.Context(), func(tx *thread.Tx) error { return s.park(tx, false) }))
		park := s.Rows.Rows.Parks[0]
		if len(s.Rows.Rows.Parks) != 1 || park.State != c.state || !park.CreatedAt.Equal(stage.Noon) ||
			(park.Digest == park.DigestOf(nil)) != (c.state == wire.ParkOpen) {
			t.Errorf("%s: the parks are %+v", name, s.Rows.Rows.Parks)
		}
		var effect wire.EffectState
		for _, e := range s.Rows.Rows.Effects {
			effect = e.State
		}
		if state := s.Saved().State; effect != c.effect || state != wire.WaitingForInput {
			t.Errorf("%s: the run is %s, and the ledger has %q", name, state, effect)
		}
	}
}

package enginetest

import (
	"context"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var describeTests = map[string]func(s describeTest){
	"Changes": testDescribeChanges,
	"Refused": testDescribeRefused,
	"Running": testDescribeRunning,
}

// describeTest is the fixture of the cases about titles, labels and owners.
type describeTest struct{ *engineTest }

// change changes the thread and checks that the result equals the stored thread.
func (s describeTest) change(e *engine.Engine, c wire.ThreadChange) wire.Thread {
	s.Helper()
	got, err := e.UpdateThread(context.Background(), chat, c)
	if err != nil {
		s.Error(err)
	}
	s.same("the thread", s.thread(), got)
	return got
}

// A title, labels and an owner are set and removed one by one. Fields that a change does not name stay.
func testDescribeChanges(s describeTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Say("hi"))))
	s.startAs(e, chat, wire.StartRequest{
		Prompt: "go", RunID: "r1", By: "ann", Labels: map[string]string{"team": "a", "kind": "x"},
	})
	s.ended(wire.Completed)
	before := s.thread()

	title, other, owner, nobody := "A title", "b", "ben", ""
	want := before
	for _, step := range []struct {
		change wire.ThreadChange
		apply  func()
	}{
		{wire.ThreadChange{}, func() {}},
		{wire.ThreadChange{Title: &title}, func() { want.Title = title }},
		{
			wire.ThreadChange{Labels: map[string]*string{"team": &other, "kind": nil, "none": nil}},
			func() { want.Labels = map[string]string{"team": "b"} },
		},
		{wire.ThreadChange{Labels: map[string]*string{"team": nil}}, func() { want.Labels = nil }},
		{
			wire.ThreadChange{Labels: map[string]*string{"new": &other}},
			func() { want.Labels = map[string]string{"new": "b"} },
		},
		{wire.ThreadChange{Owner: &owner}, func() { want.Owner = owner }},
		{wire.ThreadChange{Owner: &nobody}, func() { want.Owner = "" }},
	} {
		step.apply()
		got := s.change(e, step.change)
		want.UpdatedAt = got.UpdatedAt
		s.same("the thread", got, want)
	}
	// Only a new owner is logged in the audit log, and the last entry comes first.
	list, err := e.Audit(context.Background(), chat.Tenant, wire.AuditQuery{})
	if err != nil || len(list) != 2 {
		s.Fatalf("the audit log: %+v, %v", list, err)
	}
	for i, detail := range []string{`{"from":"ben","to":""}`, `{"from":"ann","to":"ben"}`} {
		if a := list[i]; a.Action != wire.AuditOwner || a.ThreadID != chat.ID || string(a.Detail) != detail {
			s.Errorf("entry %d of the audit log: %+v with %s", i, a, a.Detail)
		}
	}
}

func testDescribeRefused(s describeTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Say("hi"))))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	before := s.thread()
	long, empty, fine := strings.Repeat("x", 201), "", "fine"
	for _, c := range []struct {
		field  string
		change wire.ThreadChange
	}{
		{"title", wire.ThreadChange{Title: &long, Owner: &fine}},
		{"title", wire.ThreadChange{Title: &empty}},
		{"labels", wire.ThreadChange{Labels: map[string]*string{"": &fine}, Title: &fine}},
	} {
		_, err := e.UpdateThread(context.Background(), chat, c.change)
		if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), c.field) {
			s.Errorf("a wrong %s: %v", c.field, err)
		}
	}
	s.same("the thread", s.thread(), before)
	_, err := e.UpdateThread(context.Background(), of(chat.Tenant, "none"), wire.ThreadChange{Title: &fine})
	s.same("of no thread", spool.CodeOf(err), spool.NotFound)
}

// A change during a run does not affect the run.
func testDescribeRunning(s describeTest) {
	gate := make(chan struct{})
	e := s.working(s.config(spooltest.NewModel(spooltest.Turn{Text: []string{"hi"}, Gate: gate})))
	s.start(e, "r1", "go")
	s.becomes(wire.Running)
	title := "while it runs"
	s.same("its state", s.change(e, wire.ThreadChange{Title: &title}).State, wire.Running)
	close(gate)
	s.ended(wire.Completed)
	s.same("its title", s.thread().Title, title)
}

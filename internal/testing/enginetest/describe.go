package enginetest

import (
	"context"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
)

var describeTests = map[string]func(s describeTest){
	"Changes": testDescribeChanges,
	"Refused": testDescribeRefused,
	"Running": testDescribeRunning,
}

// describeTest is the fixture of the cases about titles, labels and owners.
type describeTest struct{ *engineTest }

// change changes the thread and checks that the result equals the stored thread.
func (s describeTest) change(e *engine.Engine, c engine.ThreadChange) spool.Thread {
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
	s.startAs(e, chat, engine.StartRequest{Prompt: "go", RunID: "r1", By: "ann", Labels: map[string]string{"team": "a", "kind": "x"}})
	s.ended(spool.Completed)
	before := s.thread()

	title, other, owner, nobody := "A title", "b", "ben", ""
	want := before
	for _, step := range []struct {
		change engine.ThreadChange
		apply  func()
	}{
		{engine.ThreadChange{}, func() {}},
		{engine.ThreadChange{Title: &title}, func() { want.Title = title }},
		{engine.ThreadChange{Labels: map[string]*string{"team": &other, "kind": nil, "none": nil}}, func() { want.Labels = map[string]string{"team": "b"} }},
		{engine.ThreadChange{Labels: map[string]*string{"team": nil}}, func() { want.Labels = nil }},
		{engine.ThreadChange{Labels: map[string]*string{"new": &other}}, func() { want.Labels = map[string]string{"new": "b"} }},
		{engine.ThreadChange{Owner: &owner}, func() { want.Owner = owner }},
		{engine.ThreadChange{Owner: &nobody}, func() { want.Owner = "" }},
	} {
		step.apply()
		got := s.change(e, step.change)
		want.UpdatedAt = got.UpdatedAt
		s.same("the thread", got, want)
	}
	// Only a new owner is logged in the audit log, and the last entry comes first.
	list, err := e.Audit(context.Background(), chat.Tenant, spool.AuditQuery{})
	if err != nil || len(list) != 2 {
		s.Fatalf("the audit log: %+v, %v", list, err)
	}
	for i, detail := range []string{`{"from":"ben","to":""}`, `{"from":"ann","to":"ben"}`} {
		if a := list[i]; a.Action != spool.AuditOwner || a.ThreadID != chat.ID || string(a.Detail) != detail {
			s.Errorf("entry %d of the audit log: %+v with %s", i, a, a.Detail)
		}
	}
}

func testDescribeRefused(s describeTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Say("hi"))))
	s.start(e, "r1", "go")
	s.ended(spool.Completed)
	before := s.thread()
	long, empty, fine := strings.Repeat("x", 201), "", "fine"
	for _, c := range []struct {
		field  string
		change engine.ThreadChange
	}{
		{"title", engine.ThreadChange{Title: &long, Owner: &fine}},
		{"title", engine.ThreadChange{Title: &empty}},
		{"labels", engine.ThreadChange{Labels: map[string]*string{"": &fine}, Title: &fine}},
	} {
		_, err := e.UpdateThread(context.Background(), chat, c.change)
		if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), c.field) {
			s.Errorf("a wrong %s: %v", c.field, err)
		}
	}
	s.same("the thread", s.thread(), before)
	_, err := e.UpdateThread(context.Background(), of(chat.Tenant, "none"), engine.ThreadChange{Title: &fine})
	s.same("of no thread", spool.CodeOf(err), spool.NotFound)
}

// A change during a run does not affect the run.
func testDescribeRunning(s describeTest) {
	gate := make(chan struct{})
	e := s.working(s.config(spooltest.NewModel(spooltest.Turn{Text: []string{"hi"}, Gate: gate})))
	s.start(e, "r1", "go")
	s.becomes(spool.Running)
	title := "while it runs"
	s.same("its state", s.change(e, engine.ThreadChange{Title: &title}).State, spool.Running)
	close(gate)
	s.ended(spool.Completed)
	s.same("its title", s.thread().Title, title)
}

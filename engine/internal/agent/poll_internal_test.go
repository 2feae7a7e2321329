package agent

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestBounded checks that bounded returns the error of its function whenever the function ends in time. Many calls run
// side by side, so that functions end before bounded waits for them.
func TestBounded(t *testing.T) {
	t.Parallel()
	want := errors.New("the call is pending")
	var all sync.WaitGroup
	for range 5000 {
		all.Go(func() {
			if err := bounded(t.Context(), func(context.Context) error { return want }); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
	all.Wait()
}

// A look at a pending call comes too early, too late, or finds that nobody waits for it. Only in time is the tool called.
func TestPoll(t *testing.T) {
	t.Parallel()
	early := wire.JobResult{Reason: "it is too early to look at the call", RetryAfter: time.Minute}
	gone, accepted := wire.JobResult{Accepted: true, Reason: "the call is not pending"}, wire.JobResult{Accepted: true}
	still := spool.Pending(time.Minute, json.RawMessage("2"))
	for name, c := range map[string]struct {
		change func(s *scene, p *store.Park)
		err    error // of the tool
		want   wire.JobResult
		state  string // of the pending call
		calls  int
	}{
		"still pending":      {err: still, want: accepted, state: "2", calls: 1},
		"done":               {want: accepted, state: "ready", calls: 1},
		"failed":             {err: errDial, want: accepted, state: "ready", calls: 1},
		"cannot be stored":   {err: spool.Pending(1, json.RawMessage("{")), want: accepted, state: "ready", calls: 1},
		"too early":          {change: func(_ *scene, p *store.Park) { p.Pending.NextAt = noon.Add(time.Minute) }, want: early, state: "1"},
		"overdue":            {change: func(_ *scene, p *store.Park) { p.Pending.Until = noon }, want: accepted, state: "ready"},
		"ready before":       {change: func(_ *scene, p *store.Park) { p.Pending.Ready = true }, want: gone, state: "ready"},
		"landed":             {change: func(_ *scene, p *store.Park) { p.Landed = true }, want: gone, state: "1"},
		"answered":           {change: func(_ *scene, p *store.Park) { p.State = wire.ParkAnswered }, want: gone, state: "1"},
		"has not parked yet": {change: func(_ *scene, p *store.Park) { p.Pending.NextAt = time.Time{} }, want: gone, state: "1"},
		"other call":         {change: func(_ *scene, p *store.Park) { p.ToolCallID = "c2" }, want: gone, state: "1"},
		"tool is gone":       {change: func(_ *scene, p *store.Park) { p.ToolName = "find" }, want: accepted, state: "ready"},
		"thread is gone":     {change: func(s *scene, _ *store.Park) { s.rows.Rows.Thread, s.rows.Rows.Runs = nil, nil }, want: gone, state: "1"},
	} {
		calls := 0
		work := tool("work", func(tool *spool.Tool) {
			tool.Call = func(_ context.Context, call spool.ToolCall) (json.RawMessage, error) {
				calls++
				if !call.Looking || string(call.Pending) != "1" || call.PublishFunc != nil {
					t.Errorf("%s: the call is %+v", name, call)
				}
				return nil, c.err
			}
		})
		s := newScene(t, spool.Agent{Tools: []spool.Tool{work}}, store.RunRow{Run: wire.Run{State: wire.WaitingForInput}})
		s.rows.Rows.Runs[0].Revision = s.agent.Revision
		park := store.Park{RunID: "r", ToolCallID: "c1", ToolName: "work", State: wire.ParkPending, Pending: &wire.PendingCall{
			State: json.RawMessage("1"), NextAt: noon, Until: noon.Add(time.Hour),
		}}
		job := wire.Job{Tenant: "t", ThreadID: "c", RunID: "r", Agent: "a", Kind: wire.JobPoll, Key: thread.PollKey(park)}
		if c.change != nil {
			c.change(s, &park)
		}
		s.rows.Rows.Parks = []store.Park{park}
		got, err := s.s.runner.poll(t.Context(), job)
		s.check(err)
		p := s.rows.Rows.Parks[0].Pending
		state := string(p.State)
		if p.Ready {
			state = "ready"
		}
		if got != c.want || state != c.state || calls != c.calls {
			t.Errorf("%s: %+v, the call is %s, %d calls", name, got, state, calls)
		}
		if jobs := s.rows.Rows.Jobs; state == "2" && (len(jobs) != 1 || !jobs[0].DueAt.Equal(noon.Add(time.Minute))) {
			t.Errorf("%s: the next look is %+v", name, jobs)
		}
	}
}

// The work of a call that is pending no more is cancelled. What goes wrong is only logged.
func TestCancelCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(tool *spool.Tool, p *store.Park)
		err    error
		calls  int
	}{
		"cancelled":     {calls: 1},
		"fails":         {err: errDial, calls: 1},
		"not landed":    {change: func(_ *spool.Tool, p *store.Park) { p.Landed = false }},
		"had no work":   {change: func(_ *spool.Tool, p *store.Park) { p.Pending = nil }},
		"other call":    {change: func(_ *spool.Tool, p *store.Park) { p.ToolCallID = "c2" }},
		"tool is gone":  {change: func(_ *spool.Tool, p *store.Park) { p.ToolName = "find" }},
		"cannot cancel": {change: func(tool *spool.Tool, _ *store.Park) { tool.Cancel = nil }},
		"cancel panics": {change: func(tool *spool.Tool, _ *store.Park) {
			tool.Cancel = func(context.Context, spool.ToolCall) error { panic("no") }
		}},
		"pending before": {change: func(_ *spool.Tool, p *store.Park) { p.State = wire.ParkAnswered }, calls: 1},
	} {
		calls := 0
		work := tool("work", func(tool *spool.Tool) {
			tool.Cancel = func(_ context.Context, call spool.ToolCall) error {
				if calls++; string(call.Pending) != "1" {
					t.Errorf("%s: the call is %+v", name, call)
				}
				return c.err
			}
		})
		park := store.Park{
			RunID: "r", ToolCallID: "c1", ToolName: "work", State: wire.ParkClosed, Landed: true, Pending: &wire.PendingCall{State: json.RawMessage("1")},
		}
		job := wire.Job{Tenant: "t", ThreadID: "c", RunID: "r", Agent: "a", Kind: wire.JobCancel, Key: thread.CancelKey(park)}
		if c.change != nil {
			c.change(&work, &park)
		}
		s := newScene(t, spool.Agent{Tools: []spool.Tool{work}}, store.RunRow{Run: wire.Run{State: wire.Cancelled}})
		s.rows.Rows.Runs[0].Revision, s.rows.Rows.Parks = s.agent.Revision, []store.Park{park}
		if got, err := s.s.runner.cancelCall(t.Context(), job); err != nil || got != (wire.JobResult{Accepted: true}) || calls != c.calls {
			t.Errorf("%s: %+v, %v, cancelled %d times", name, got, err, calls)
		}
	}
}

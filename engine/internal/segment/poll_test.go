package segment

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A look at a pending call comes too early, too late, or finds that nobody waits for it. Only in time is the tool
// called.
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
		"still pending":    {err: still, want: accepted, state: "2", calls: 1},
		"done":             {want: accepted, state: "ready", calls: 1},
		"failed":           {err: stage.ErrDial, want: accepted, state: "ready", calls: 1},
		"cannot be stored": {err: spool.Pending(1, json.RawMessage("{")), want: accepted, state: "ready", calls: 1},
		"too early": {
			change: func(_ *scene, p *store.Park) { p.Pending.NextAt = stage.Noon.Add(time.Minute) }, want: early, state: "1",
		},
		"overdue": {
			change: func(_ *scene, p *store.Park) { p.Pending.Until = stage.Noon }, want: accepted, state: "ready",
		},
		"ready before": {change: func(_ *scene, p *store.Park) { p.Pending.Ready = true }, want: gone, state: "ready"},
		"landed":       {change: func(_ *scene, p *store.Park) { p.Landed = true }, want: gone, state: "1"},
		"answered":     {change: func(_ *scene, p *store.Park) { p.State = wire.ParkAnswered }, want: gone, state: "1"},
		"has not parked yet": {
			change: func(_ *scene, p *store.Park) { p.Pending.NextAt = time.Time{} }, want: gone, state: "1",
		},
		"other call":   {change: func(_ *scene, p *store.Park) { p.ToolCallID = "c2" }, want: gone, state: "1"},
		"tool is gone": {change: func(_ *scene, p *store.Park) { p.ToolName = "find" }, want: accepted, state: "ready"},
		"thread is gone": {
			change: func(s *scene, _ *store.Park) { s.Rows.Rows.Thread, s.Rows.Rows.Runs = nil, nil }, want: gone, state: "1",
		},
	} {
		calls := 0
		work := stage.Tool("work", func(tool *spool.Tool) {
			tool.Call = func(_ context.Context, call spool.ToolCall) (json.RawMessage, error) {
				calls++
				if !call.Looking || string(call.Pending) != "1" || call.PublishFunc != nil {
					t.Errorf("%s: the call is %+v", name, call)
				}
				return nil, c.err
			}
		})
		s := newScene(t, spool.Agent{Tools: []spool.Tool{work}}, store.RunRow{Run: wire.Run{State: wire.WaitingForInput}})
		s.Rows.Rows.Runs[0].Revision = s.Agent().Revision
		park := store.Park{
			RunID: "r", ToolCallID: "c1", ToolName: "work", State: wire.ParkPending,
			Pending: &wire.PendingCall{
				State: json.RawMessage("1"), NextAt: stage.Noon, Until: stage.Noon.Add(time.Hour),
			},
		}
		job := wire.Job{Tenant: "t", ThreadID: "c", RunID: "r", Agent: "a", Kind: wire.JobPoll, Key: thread.PollKey(park)}
		if c.change != nil {
			c.change(s, &park)
		}
		s.Rows.Rows.Parks = []store.Park{park}
		got, err := s.segment.runner.poller.Look(t.Context(), job)
		s.Check(err)
		p := s.Rows.Rows.Parks[0].Pending
		state := string(p.State)
		if p.Ready {
			state = "ready"
		}
		if got != c.want || state != c.state || calls != c.calls {
			t.Errorf("%s: %+v, the call is %s, %d calls", name, got, state, calls)
		}
		if jobs := s.Rows.Rows.Jobs; state == "2" && (len(jobs) != 1 || !jobs[0].DueAt.Equal(stage.Noon.Add(time.Minute))) {
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
		"fails":         {err: stage.ErrDial, calls: 1},
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
		work := stage.Tool("work", func(tool *spool.Tool) {
			tool.Cancel = func(_ context.Context, call spool.ToolCall) error {
				if calls++; string(call.Pending) != "1" {
					t.Errorf("%s: the call is %+v", name, call)
				}
				return c.err
			}
		})
		park := store.Park{
			RunID: "r", ToolCallID: "c1", ToolName: "work", State: wire.ParkClosed, Landed: true,
			Pending: &wire.PendingCall{State: json.RawMessage("1")},
		}
		job := wire.Job{Tenant: "t", ThreadID: "c", RunID: "r", Agent: "a", Kind: wire.JobCancel, Key: thread.CancelKey(park)}
		if c.change != nil {
			c.change(&work, &park)
		}
		s := newScene(t, spool.Agent{Tools: []spool.Tool{work}}, store.RunRow{Run: wire.Run{State: wire.Cancelled}})
		s.Rows.Rows.Runs[0].Revision, s.Rows.Rows.Parks = s.Agent().Revision, []store.Park{park}
		if got, err := s.segment.runner.poller.Cancel(t.Context(), job); err != nil ||
			got != (wire.JobResult{Accepted: true}) || calls != c.calls {
			t.Errorf("%s: %+v, %v, cancelled %d times", name, got, err, calls)
		}
	}
}

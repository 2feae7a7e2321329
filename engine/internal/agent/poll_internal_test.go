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
	early := spool.JobResult{Reason: "it is too early to look at the call", RetryAfter: time.Minute}
	gone, accepted := spool.JobResult{Accepted: true, Reason: "the call is not pending"}, spool.JobResult{Accepted: true}
	still, ready := spool.Pending(time.Minute, json.RawMessage("2")), errors.New("failed")
	for name, c := range map[string]struct {
		change func(s *scene, p *spool.Park)
		err    error // of the tool
		want   spool.JobResult
		state  string // of the pending call
		calls  int
	}{
		"still pending":      {err: still, want: accepted, state: "2", calls: 1},
		"done":               {want: accepted, state: "ready", calls: 1},
		"failed":             {err: ready, want: accepted, state: "ready", calls: 1},
		"cannot be stored":   {err: spool.Pending(1, json.RawMessage("{")), want: accepted, state: "ready", calls: 1},
		"too early":          {change: func(_ *scene, p *spool.Park) { p.Pending.NextAt = noon.Add(time.Minute) }, want: early, state: "1"},
		"overdue":            {change: func(_ *scene, p *spool.Park) { p.Pending.Until = noon }, want: accepted, state: "ready"},
		"ready before":       {change: func(_ *scene, p *spool.Park) { p.Pending.Ready = true }, want: gone, state: "ready"},
		"landed":             {change: func(_ *scene, p *spool.Park) { p.Landed = true }, want: gone, state: "1"},
		"answered":           {change: func(_ *scene, p *spool.Park) { p.State = spool.ParkAnswered }, want: gone, state: "1"},
		"has not parked yet": {change: func(_ *scene, p *spool.Park) { p.Pending.NextAt = time.Time{} }, want: gone, state: "1"},
		"other call":         {change: func(_ *scene, p *spool.Park) { p.ToolCallID = "c2" }, want: gone, state: "1"},
		"tool is gone":       {change: func(_ *scene, p *spool.Park) { p.ToolName = "find" }, want: accepted, state: "ready"},
		"thread is gone":     {change: func(s *scene, _ *spool.Park) { s.rows.Rows.Thread, s.rows.Rows.Runs = nil, nil }, want: gone, state: "1"},
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
		s := newScene(t, spool.Agent{Tools: []spool.Tool{work}}, spool.RunRow{Run: spool.Run{State: spool.WaitingForInput}})
		s.rows.Rows.Runs[0].Revision = s.agent.Revision
		park := spool.Park{RunID: "r", ToolCallID: "c1", ToolName: "work", State: spool.ParkPending, Pending: &spool.PendingCall{
			State: json.RawMessage("1"), NextAt: noon, Until: noon.Add(time.Hour),
		}}
		job := spool.Job{Tenant: "t", ThreadID: "c", RunID: "r", Agent: "a", Kind: spool.JobPoll, Key: thread.PollKey(park)}
		if c.change != nil {
			c.change(s, &park)
		}
		s.rows.Rows.Parks = []spool.Park{park}
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
		if next := c.err == still && len(s.rows.Rows.Jobs) == 1 && s.rows.Rows.Jobs[0].DueAt.Equal(noon.Add(time.Minute)); c.err == still && !next { //nolint:errorlint // it is the same error
			t.Errorf("%s: the next look is %+v", name, s.rows.Rows.Jobs)
		}
	}
}

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/config"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/internal/testing/maptx"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// scene is the run "r" that a worker executes, over rows in a map. Nothing in it waits, and only the test's own
// goroutine uses it.
type scene struct {
	*loop

	t      *testing.T
	rows   *maptx.Tx
	screen *screen
}

// newScene returns a run of an agent that has the model "m" and, for the tests of fallbacks, "spare" and "last".
func newScene(t *testing.T, agent spool.Agent, run spool.RunRow) *scene {
	t.Helper()
	agent.Name, agent.Model = "a", "m"
	reg, err := registry.New(registry.Config{
		Agents: []spool.Agent{agent, {Name: "other", Model: "m"}}, Models: map[string]spool.Model{"m": mute{}, "spare": mute{}, "last": mute{}},
		MaxPromptBytes: 1000, OnBudget: spool.BudgetEnd, WhenBusy: spool.BusyReject,
	})
	if err != nil {
		t.Fatal(err)
	}
	run.ID, run.Agent, run.Model, run.Segments = "r", "a", "m", 1
	if run.State == "" {
		run.State = spool.Running
	}
	rows := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, noon)
	rows.Rows.Thread = &spool.Thread{
		Tenant: "t", ID: "c", RunID: "r", State: run.State, Fence: 1, LeaseUntil: noon.Add(time.Minute), CreatedAt: noon,
	}
	rows.Rows.Runs = []spool.RunRow{run}
	screen, log := &screen{}, slog.New(slog.DiscardHandler)
	rules := thread.Rules{
		Lease: time.Minute, ParkTTL: time.Hour, ClientToolTTL: time.Minute, Log: log, QueueOf: func(string) string { return "" }, Parameters: reg.Parameters,
		Retry: config.RetryOptions{Attempts: 3, Backoff: time.Second, BackoffMax: time.Minute, AfterMax: time.Hour},
	}
	runner := New(Host{
		Threads:   &change.Threads{Store: maptx.Store{Tx: rows}, Live: screen, Log: log, Rules: rules},
		Streaming: stream.Settings{Live: screen, Log: log, FlushEvery: -1},
		Registry:  reg, Chat: &chat.Client{Log: log}, Limits: config.LimitOptions{StepBytes: 1000},
	})
	s := runner.newSegment(*rows.Rows.Thread, run, 0, reg.Configured(run), time.Now())
	return &scene{loop: s.main, t: t, rows: rows, screen: screen}
}

// nested returns the scene of a run that the call "c1" of the scene's run has spawned.
func (s *scene) nested(run spool.RunRow) *scene {
	run.ID, run.Agent, run.ParentID, run.RootID, run.CallID, run.Depth = nestedID("r", "c1"), "helper", "r", "r", "c1", 1
	if run.State == "" {
		run.State = spool.Running
	}
	s.rows.Rows.Runs = append(s.rows.Rows.Runs, run)
	s.rows.Rows.Runs[0].Children = 1
	s.run.Children = 1
	return &scene{loop: s.child(run), t: s.t, rows: s.rows, screen: s.screen}
}

// tx opens a transaction of the scene's run.
func (s *scene) tx() *thread.Tx {
	s.t.Helper()
	root, err := thread.Open(s.rows, s.s.runner.Rules)
	if err != nil {
		s.t.Fatal(err)
	}
	tx, err := root.ForRun(s.self)
	if err != nil {
		s.t.Fatal(err)
	}
	return tx
}

// saved returns the scene's run as it is stored.
func (s *scene) saved() spool.RunRow {
	at := slices.IndexFunc(s.rows.Rows.Runs, func(r spool.RunRow) bool { return r.ID == s.self.ID })
	return s.rows.Rows.Runs[at]
}

// record returns the types of the record's entries.
func (s *scene) record() (types []spool.EntryType) {
	for _, e := range s.rows.Rows.Entries {
		types = append(types, e.Type)
	}
	return types
}

func (s *scene) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// screen is a [spool.Live] that keeps the types of the items, and how often workers were woken.
type screen struct {
	spool.Live

	items []spool.ItemType
	woken int
}

func (l *screen) Append(_ context.Context, _ spool.StreamKey, items []spool.Item) error {
	for _, i := range items {
		l.items = append(l.items, i.Type)
	}
	return nil
}

func (l *screen) Close(_ context.Context, _ spool.StreamKey, end spool.Item, _ time.Duration) error {
	l.items = append(l.items, end.Type)
	return nil
}

func (l *screen) Wake(_ spool.ThreadKey, kind spool.WakeKind, _ []byte) {
	if kind == spool.WakeJobs {
		l.woken++
	}
}

// mute is a model that nobody may ask.
type mute struct{}

func (mute) Stream(context.Context, spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	panic("the model was asked")
}

// tool returns a tool that returns null, after changes.
func tool(name string, changes ...func(t *spool.Tool)) spool.Tool {
	t := spool.Tool{ToolSpec: spool.ToolSpec{Name: name}, Call: returns(nil, nil)}
	for _, change := range changes {
		change(&t)
	}
	return t
}

// returns is a tool that gives a result or an error.
func returns(result json.RawMessage, err error) func(context.Context, spool.ToolCall) (json.RawMessage, error) {
	return func(context.Context, spool.ToolCall) (json.RawMessage, error) { return result, err }
}

func idempotent(t *spool.Tool) { t.Idempotent = true }
func approved(t *spool.Tool)   { t.Approval = spool.AlwaysApprove }

// asked returns the parts of calls without arguments: the first is "c1".
func asked(names ...string) (calls []spool.Part) {
	for i, name := range names {
		id := spool.ToolCallID("c" + string(rune('1'+i)))
		calls = append(calls, spool.Part{Type: spool.PartToolCall, ToolCallID: id, ToolName: name, Args: json.RawMessage("{}")})
	}
	return calls
}

var (
	errDown = &spool.ModelError{Status: 503, Message: "down"}
	errKey  = &spool.ModelError{Status: 401, Message: "bad key"}
	errDial = errors.New("dial: refused")
)

// says returns what the plan is for a call, or what has become of it.
func (p *plannedCall) says() string {
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

package compact

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var key = spool.ThreadKey{Tenant: "t", ID: "c"}

// model is a model that gives a summary, or an error. It calls then before that.
type model struct {
	err  error
	then func()
}

func (m *model) Stream(context.Context, spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		if m.then != nil {
			m.then()
		}
		if m.err != nil {
			yield(nil, m.err)
			return
		}
		_ = yield(spool.TextDelta{Text: "so far"}, nil) && yield(spool.Finish{Usage: spool.Usage{Input: new(int64(5))}}, nil)
	}
}

// still is a [store.Live] that nobody listens to.
type still struct{ store.Live }

func (still) Wake(spool.ThreadKey, store.WakeKind, []byte) {}

// scene is a thread whose run "r" has ended. Its four messages are long.
type scene struct {
	*Compactor

	rows  *maptx.Tx
	model *model
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{rows: maptx.New(key, time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)), model: &model{}}
	reg, err := registry.New(registry.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m"}}, Models: map[string]spool.Model{"m": s.model, "brief": &model{}},
		OnBudget: spool.BudgetEnd, WhenBusy: spool.BusyReject,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.rows.Rows.Thread = &wire.Thread{RunID: "r", State: wire.Completed}
	s.rows.Rows.Runs = []store.RunRow{{
		Run:      wire.Run{ID: "r", Agent: "a", Model: "m", State: wire.Completed},
		RunState: store.RunState{Context: &store.ContextCount{Tokens: 4000, Bytes: 11_664, Messages: 4}},
	}}
	for i, role := range []spool.Role{spool.RoleUser, spool.RoleAssistant, spool.RoleUser, spool.RoleAssistant} {
		id := spool.MessageID("m" + string(rune('1'+i)))
		s.rows.Rows.Messages = append(s.rows.Rows.Messages,
			spool.Message{ID: id, Role: role, RunID: "r", Content: spool.TextContent(strings.Repeat("word ", 800))})
	}
	log := slog.New(slog.DiscardHandler)
	s.Compactor = &Compactor{
		Threads:  &change.Threads{Store: maptx.Store{Tx: s.rows}, Live: still{}, Log: log, Rules: thread.Rules{Log: log}},
		Registry: reg, Context: history.Context{
			Ceiling: 100_000, OutputReserve: 1000, CompactionTrigger: 0.8, TailShare: 0.3,
		},
		Chat: &chat.Client{Log: log, MaxAnswerBytes: 1000},
	}
	return s
}

func room() error { return nil }

// A summary on demand is refused, fails, or is saved. What it cost is kept in any case.
func TestIdle(t *testing.T) {
	t.Parallel()
	down := &spool.ModelError{Status: 503, Message: "down"}
	for name, c := range map[string]struct {
		before    func(s *scene)
		meanwhile func(s *scene) // while the model answers
		room      error
		err       error // of the model
		want      string
		rows      int // of the ledger
	}{
		"summarised": {want: "3 messages", rows: 1},
		"no thread":  {before: func(s *scene) { s.rows.Rows.Thread = nil }, want: "not_found"},
		"no run":     {before: func(s *scene) { s.rows.Rows.Thread.RunID = "" }, want: "nothing_to_compact"},
		"active":     {before: func(s *scene) { s.rows.Rows.Thread.State = wire.Queued }, want: "active_run"},
		"waits":      {before: func(s *scene) { s.rows.Rows.Thread.State = wire.WaitingForInput }, want: "active_run"},
		"one message": {
			before: func(s *scene) { s.rows.Rows.Messages = s.rows.Rows.Messages[:1] }, want: "nothing_to_compact",
		},
		"only nested": {before: func(s *scene) { ofNested(s.rows.Rows.Messages) }, want: "nothing_to_compact"},
		"under way":   {before: func(s *scene) { s.compacting.start(key) }, want: "compacting"},
		"other thread": {
			before: func(s *scene) { s.compacting.start(spool.ThreadKey{Tenant: "u", ID: "c"}) }, want: "3 messages", rows: 1,
		},
		"no room":       {room: spool.Errorf(spool.StorageFull, "full"), want: "error storage_full"},
		"agent is gone": {before: func(s *scene) { s.rows.Rows.Runs[0].Agent = "b" }, want: "error not_found"},
		"model fails":   {err: down, want: "error unavailable", rows: 1},
		"next turn":     {meanwhile: func(s *scene) { add(s, spool.Message{ID: "m5"}) }, want: "changed", rows: 1},
		"nested message": {
			meanwhile: func(s *scene) { add(s, spool.Message{ID: "m5", AgentID: "sub"}) }, want: "changed", rows: 1,
		},
		"next run":  {meanwhile: func(s *scene) { s.rows.Rows.Thread.State = wire.Running }, want: "active_run", rows: 1},
		"other run": {meanwhile: otherRun, want: "changed", rows: 1},
		"deleted":   {meanwhile: func(s *scene) { s.rows.Rows = maptx.Rows{} }, want: "not_found"},
	} {
		s := newScene(t)
		if c.before != nil {
			c.before(s)
		}
		if s.model.err = c.err; c.meanwhile != nil {
			s.model.then = func() { c.meanwhile(s) }
		}
		r, err := s.Idle(t.Context(), key, func() error { return c.room })
		got := r.Reason
		switch {
		case err != nil:
			got = "error " + string(spool.CodeOf(err))
		case r.Compacted:
			got = string(rune('0'+r.SummarizedMessages)) + " messages"
		}
		saved := false
		for _, m := range s.rows.Rows.Messages {
			_, is := m.Content.Summary()
			saved = saved || is
		}
		if got != c.want || saved != r.Compacted || len(s.rows.Rows.Usage) != c.rows ||
			(len(s.rows.Rows.Entries) == 1) != r.Compacted {
			t.Errorf("%s: %s, saved %t, %d rows, %d entries", name, got, saved, len(s.rows.Rows.Usage), len(s.rows.Rows.Entries))
		}
	}
}

func ofNested(messages []spool.Message) {
	for i := range messages {
		messages[i].AgentID = "sub"
	}
}

func add(s *scene, m spool.Message) { s.rows.Rows.Messages = append(s.rows.Rows.Messages, m) }

func otherRun(s *scene) {
	s.rows.Rows.Runs = append(s.rows.Rows.Runs, store.RunRow{Run: wire.Run{ID: "r2", State: wire.Completed}})
	s.rows.Rows.Thread.RunID = "r2"
}

// A caller that ends gets its own error, and the summary under way is marked no longer.
func TestIdleEnds(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.model.then, s.model.err = cancel, context.Canceled
	if _, err := s.Idle(ctx, key, room); spool.CodeOf(err) != spool.Canceled || len(s.rows.Rows.Usage) != 1 {
		t.Errorf("%v, %d rows", err, len(s.rows.Rows.Usage))
	}
	s.model.then, s.model.err = nil, nil
	if r, err := s.Idle(t.Context(), key, room); err != nil || !r.Compacted {
		t.Errorf("the next one: %+v, %v", r, err)
	}
}

// A thread is summarised once at a time. The second caller asks no model.
func TestIdleOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	asked := 0
	s.model.then = func() {
		if asked++; asked > 1 {
			return
		}
		r, err := s.Idle(t.Context(), key, room)
		if want := (wire.CompactResult{
			Reason: wire.ReasonCompacting, Error: "The thread is being summarised already",
		}); r != want || err != nil {
			t.Errorf("meanwhile: %+v, %v", r, err)
		}
	}
	if r, err := s.Idle(t.Context(), key, room); err != nil || !r.Compacted || asked != 1 {
		t.Errorf("%+v, %v, asked %d times", r, err, asked)
	}
	if r, err := s.Idle(t.Context(), key, room); err != nil || r.Reason == wire.ReasonCompacting {
		t.Errorf("after both: %+v, %v", r, err)
	}
}

// The summary stands behind the messages, belongs to no run, and the next prompt is measured by it.
func TestIdleSaves(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if _, err := s.Idle(t.Context(), key, room); err != nil {
		t.Fatal(err)
	}
	last := s.rows.Rows.Messages[4]
	summary, _ := last.Content.Summary()
	if last.Role != spool.RoleSystem || last.RunID != "" || summary.Text != "so far" || summary.ThroughMessageID != "m3" {
		t.Errorf("the summary is %+v", last)
	}
	e := s.rows.Rows.Entries[0]
	if want := `{"summarizedMessages":3,"messageId":"` + string(last.ID) + `"`; e.Type != wire.EntryContextCompacted ||
		e.RunID != "" || !strings.HasPrefix(string(e.Payload), want) {
		t.Errorf("the record says %s %s of %s", e.Type, e.Payload, e.RunID)
	}
	count := s.rows.Rows.Runs[0].Context
	if count.Messages != 5 || count.LastMessageID != last.ID || count.Tokens >= 4000 || count.Tokens < 1000 {
		t.Errorf("the next prompt has %+v", count)
	}
	if row := s.rows.Rows.Usage[0]; row.RunID != "" || row.Agent != "a" || row.Model != "m" ||
		row.Kind != spool.UsageCompaction {
		t.Errorf("the ledger has %+v", row)
	}
}

// The configured model summarises, or else the one of the prompts.
func TestNewSummary(t *testing.T) {
	t.Parallel()
	for configured, want := range map[string]string{"": "m", "brief": "brief"} {
		s := newScene(t)
		s.Context.CompactionModel = configured
		if got := s.NewSummary(
			"m", s.model, history.Meter{}, history.Limits{}, wire.UsageRow{},
		).Model; got != s.Registry.Models[want] {
			t.Errorf("%q: not the model %s", configured, want)
		}
	}
}

// The next prompt is measured by the last one that its provider has counted.
func TestCount(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	agent := s.Registry.Configured(s.rows.Rows.Runs[0])
	if got := Count(agent, store.RunRow{}, s.rows.Rows.Messages, history.NewMeter(nil)); got != nil {
		t.Errorf("nothing was counted: %+v", got)
	}
	got := Count(agent, store.RunRow{}, s.rows.Rows.Messages, history.NewMeter(s.rows.Rows.Runs[0].Context))
	if got == nil || got.Messages != 4 || got.LastMessageID != "m4" || got.Tokens < 3900 || got.Tokens > 4300 {
		t.Errorf("%+v", got)
	}
}

// A refusal is a result, and any other error is none.
func TestCompactRefused(t *testing.T) {
	t.Parallel()
	if r, err := compactRefused(thread.Refuse(wire.ReasonChanged, "no")); err != nil || r.Reason != wire.ReasonChanged ||
		r.Error != "no" || r.Compacted {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := compactRefused(spool.Errorf(spool.NotFound, "no")); err != nil || r.Reason != wire.ReasonNotFound {
		t.Errorf("%+v, %v", r, err)
	}
	failed := errors.New("no store")
	if r, err := compactRefused(failed); !errors.Is(err, failed) || r.Reason != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

package chat

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/wire"
)

// A summary is the text of a finished answer. Each attempt has its row in the ledger.
func TestSummary(t *testing.T) {
	t.Parallel()
	done := spool.Finish{Usage: tokens(5, 2), ModelID: "large-2"}
	for name, c := range map[string]struct {
		model   script
		ended   bool // the caller's context
		text    string
		err     string
		outcome wire.Outcome
		used    int64
	}{
		"finished": {
			model: script{events: []spool.ModelEvent{say(" so "), say("far \n"), done, say("more")}}, text: "so far",
			outcome: wire.OutcomeFinished, used: 7,
		},
		"fits exactly": {
			model: script{events: []spool.ModelEvent{say("so far"), say(strings.Repeat("x", 91)), done}},
			text:  "so far" + strings.Repeat("x", 91), outcome: wire.OutcomeFinished, used: 7,
		},
		"only thought": {
			model: script{events: []spool.ModelEvent{spool.ReasoningDelta{Text: "hm"}, done}},
			err:   "model: the summary is empty", outcome: wire.OutcomeFinished, used: 7,
		},
		"blank": {
			model: script{events: []spool.ModelEvent{say(" \n"), done}}, err: "model: the summary is empty",
			outcome: wire.OutcomeFinished, used: 7,
		},
		"no finish": {
			model: script{events: []spool.ModelEvent{spool.UsageSeen{Usage: tokens(5, 1)}, say("half")}}, text: "half",
			err: "model: the summary ended without a finish", outcome: wire.OutcomeError, used: 6,
		},
		"fails": {
			model: script{events: []spool.ModelEvent{say("half")}, err: errors.New("down")}, text: "half", err: "down",
			outcome: wire.OutcomeError,
		},
		"panics": {
			model: script{after: func() { panic("boom") }}, err: "model: the model adapter panicked (status 400)",
			outcome: wire.OutcomeError,
		},
		"too long": {
			model: script{events: []spool.ModelEvent{say(strings.Repeat("x", 200))}}, text: strings.Repeat("x", 99),
			outcome: wire.OutcomeFinished,
		},
		"false counts": {
			model: script{
				events: []spool.ModelEvent{
					spool.UsageSeen{Usage: tokens(-5, 1)},
					say("so far"),
					spool.Finish{Usage: tokens(-5, math.MaxInt64)},
				},
			},
			text: "so far", outcome: wire.OutcomeFinished,
		},
		"stopped": {
			model: script{events: []spool.ModelEvent{say("half")}}, ended: true, text: "half", err: "context canceled",
			outcome: wire.OutcomeAborted,
		},
		"just in time": {
			model: script{events: []spool.ModelEvent{say("so far"), done}}, ended: true, text: "so far",
			outcome: wire.OutcomeFinished, used: 7,
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if c.ended {
			cancel()
		}
		s := newScene(t)
		s.MaxAnswerBytes = 100
		if name == "too long" {
			s.MaxAnswerBytes = 99
		}
		sum := s.NewSummary("m", &c.model, history.Context{Ceiling: 1000, OutputReserve: 100}, history.Meter{},
			history.Limits{}, wire.UsageRow{RunID: "r"})
		text, err := sum.ask(ctx, "user: hi")
		cancel()
		got := ""
		if err != nil {
			got = err.Error()
		}
		if text != c.text || got != c.err {
			t.Errorf("%s: %q, %s", name, text, got)
		}
		row := sum.Rows[0]
		if len(sum.Rows) != 1 || row.Outcome != c.outcome || row.Usage.Count().TotalTokens != c.used ||
			row.Kind != spool.UsageCompaction || row.RunID != "r" || row.Model != "m" {
			t.Errorf("%s: the ledger has %+v", name, sum.Rows)
		}
		if r := c.model.asked; r.Kind != spool.UsageCompaction || r.MaxOutputTokens != 100 ||
			r.Messages[0].Text() != "user: hi" || len(r.Tools) != 0 {
			t.Errorf("%s: the request is %+v", name, r)
		}
	}
}

// A summary without a reservation asks no model and costs nothing.
func TestSummaryReserves(t *testing.T) {
	t.Parallel()
	s, short := newScene(t), errors.New("no room")
	sum := s.NewSummary("m", &script{after: func() { t.Error("the model was asked") }}, history.Context{}, history.Meter{},
		history.Limits{}, wire.UsageRow{})
	sum.Reserve = func(context.Context, wire.UsageRow, *spool.ModelRequest) error { return short }
	if _, err := sum.ask(t.Context(), "x"); !errors.Is(err, short) || len(sum.Rows) != 0 {
		t.Errorf("%v, %v", err, sum.Rows)
	}
}

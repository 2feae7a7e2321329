//go:build unix

package main

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// TestExcuse has the reasons for which the outcome of a call may be unknown, and calls that have none.
func TestExcuse(t *testing.T) {
	t.Parallel()

	now := time.Now()
	whole := &attempt{began: now.Add(-time.Second), ended: now.Add(-time.Second / 2)}
	cut := &attempt{began: whole.began, ended: whole.ended, trouble: cutAfter}
	hung := &attempt{began: now.Add(-mcpTimeout), ended: now}
	looked := &kept{tool: "work", looks: []time.Time{now.Add(-time.Second)}}
	for name, c := range map[string]struct {
		call  called
		lost  bool
		cuts  int
		again int
		want  string
	}{
		"Nothing":    {call: called{attempts: []*attempt{whole}}},
		"Never sent": {},
		"Cut":        {call: called{attempts: []*attempt{cut}}, want: wasCut},
		"Cut once":   {call: called{attempts: []*attempt{cut, whole}}, cuts: 1, again: 1},
		"Later":      {call: called{attempts: []*attempt{{began: now.Add(time.Second), trouble: cutAfter}}}},
		"Lost":       {call: called{attempts: []*attempt{whole}}, lost: true, want: wasLost},
		"Hung":       {call: called{attempts: []*attempt{hung}}, want: wasSlow},
		"Task":       {call: called{attempts: []*attempt{whole}, tasks: []*kept{looked}}, lost: true},
		"Begun anew": {
			call: called{attempts: []*attempt{whole}, tasks: []*kept{looked}}, lost: true, cuts: 1, again: 1, want: wasLost,
		},
		"Forgotten": {call: called{tasks: []*kept{{tool: "work", gone: true}}}, want: wasGone},
		"Short":     {call: called{tasks: []*kept{{tool: "short"}}}, want: wasGone},
	} {
		w := &mcpWorld{mcpAt: &reopening{}}
		if got := w.excuse(c.call, c.lost, c.cuts, c.again, now); got != c.want {
			t.Errorf("%s: excused by %q, want %q", name, got, c.want)
		}
		w.mcpAt.away = []span{{from: now.Add(-time.Second), to: now}}
		if got := w.excuse(c.call, c.lost, c.cuts, c.again, now); got == "" {
			t.Errorf("%s: a restart of the server is no excuse", name)
		}
	}
}

// TestTroubles does the same to a call with each run of a seed, whatever the nonce of its run is.
func TestTroubles(t *testing.T) {
	t.Parallel()

	troubles := func(seed uint64, mac string) (all []string) {
		s := newMCPServer(options{Seed: seed}, "secret")
		for i := range 100 {
			q := mcpRequest{Method: "tools/call"}
			q.Params.Meta.Key = "t1-r1/1/t1-r1.0." + strings.Repeat("0", i) + "/" + mac
			s.ledger.arrived("n0.1", q.Params.Meta.Key, "plain", nil)
			all = append(all, s.trouble(q))
		}
		return all
	}
	one, other, another := troubles(1, "a"), troubles(1, "b"), troubles(2, "a")
	if !slices.Equal(one, other) || slices.Equal(one, another) || !slices.Contains(one, cutAfter) ||
		!slices.Contains(one, "") {
		t.Errorf("the troubles are %q, %q and %q", one, other, another)
	}
}

// TestTorn breaks a stream in the middle of its answer.
func TestTorn(t *testing.T) {
	t.Parallel()

	w := httptest.NewRecorder()
	func() {
		defer func() { _ = recover() }()
		tear(w, []byte("0123456789"))
	}()
	if got := w.Body.String(); got != ": a comment\n\ndata: 01234" || !w.Flushed {
		t.Errorf("the stream is %q", got)
	}
}

// TestToolList changes the tools and knows what each generation had.
func TestToolList(t *testing.T) {
	t.Parallel()

	l := newToolList()
	if !l.change(func(int) int { return 1 }, 0) || l.change(func(int) int { return 1 }, time.Hour) {
		t.Error("the first change is refused, or the second one comes too early")
	}
	first, until, ok := l.at(0)
	second, still, _ := l.at(1)
	if !ok || until.IsZero() || !still.IsZero() || !slices.Contains(first.names, extraTool(1)) ||
		slices.Contains(second.names, extraTool(1)) {
		t.Errorf("the generations are %v and %v", first, second)
	}
	if _, _, ok := l.at(2); ok || len(l.list()) != len(second.names) {
		t.Error("there is a third generation, or the list is not the second one")
	}
}

// TestSight reads the tools of a request.
func TestSight(t *testing.T) {
	t.Parallel()

	var q chatRequest
	q.Tools = make([]struct {
		Function struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"function"`
	}, 2)
	q.Tools[0].Function.Name, q.Tools[0].Function.Description = mcpPrefix+"work", "The tool work of generation 3."
	q.Tools[1].Function.Name, q.Tools[1].Function.Description = mcpPrefix+"ask", "The tool ask of generation 3."
	if s := q.sight(); s.generation != 3 || !slices.Equal(s.bareNames(), []string{"ask", "work"}) {
		t.Errorf("seen was %+v", s)
	}
	q.Tools[1].Function.Description = "The tool ask of generation 4."
	if s := q.sight(); s.generation >= 0 {
		t.Errorf("the tools of two lists are those of generation %d", s.generation)
	}
}

// TestLedger counts effects by the key of a call.
func TestLedger(t *testing.T) {
	t.Parallel()

	w := &mcpWorld{server: newMCPServer(options{}, "secret")}
	l := w.server.ledger
	const key = "t1-r1/2/t1-r1.1.0/mac"
	l.arrived("n0.1", key, "plain", []byte(`{"n":0}`))
	l.take(key)
	l.arrived("n1.1", key, "ask", []byte(`{"n":0}`))
	l.take(key)
	all := w.executions(spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t1"})
	if len(all) != 2 || all[0].Call.Key != key || all[0].Call.Step != 2 || all[0].Call.ID != "t1-r1.1.0" ||
		len(l.wrong) != 1 {
		t.Errorf("executed were %+v, wrong %q", all, l.wrong)
	}
	if other := w.executions(spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}); len(other) != 0 {
		t.Errorf("another thread has executed %+v", other)
	}
}

// TestWrongResult has results of calls that had one effect or none.
func TestWrongResult(t *testing.T) {
	t.Parallel()

	one, none := called{effects: []effect{{number: 7}}}, called{}
	for _, c := range []struct {
		call     called
		result   string
		repeated bool
		wrong    bool
	}{
		{one, "done: effect-7-", false, false},
		{one, "done: effect-8-", true, true},
		{none, "done: effect-7-", false, true},
		{one, "MCP server shop cannot be reached", false, true},
		{one, "MCP server shop cannot be reached", true, false},
		{none, "MCP server shop cannot be reached", false, false},
	} {
		if got := c.call.wrongResult(c.result, c.repeated); (got != "") != c.wrong {
			t.Errorf("%q of %s: %q", c.result, c.call, got)
		}
	}
}

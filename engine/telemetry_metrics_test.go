package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// lines returns the points of a metric: their attributes, and their value or their count and sum.
func lines(t *testing.T, data metricdata.Aggregation) (out []string) {
	t.Helper()
	text := func(set attribute.Set) string {
		var parts []string
		for _, a := range set.ToSlice() {
			parts = append(parts, string(a.Key)+"="+a.Value.String())
		}
		return strings.Join(parts, " ")
	}
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			out = append(out, fmt.Sprint(text(p.Attributes), ": ", p.Value))
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			out = append(out, fmt.Sprint(text(p.Attributes), ": ", p.Value))
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			out = append(out, fmt.Sprint(text(p.Attributes), ": ", p.Value))
		}
	case metricdata.Histogram[int64]:
		for _, p := range data.DataPoints {
			out = append(out, fmt.Sprint(text(p.Attributes), ": ", p.Count, " ", p.Sum))
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			out = append(out, fmt.Sprint(text(p.Attributes), ": ", p.Count, " ", p.Sum))
		}
	default:
		t.Fatalf("no points of %T", data)
	}
	slices.Sort(out)
	return out
}

// The metrics count what the store has: a run that fails an attempt, parks and completes, a run that is
// stopped while it is queued, and a refused start.
func TestMetricsOfRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := spooltest.Turn{Usage: spooltest.Tokens(5, 1), Err: &spool.ModelError{Status: 503, Message: "busy"}}
		asks := spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})
		asks.Usage = spooltest.Tokens(10, 4)
		done := spooltest.Turn{Text: []string{"done"}, Usage: spooltest.Tokens(20, 2)}
		b := memory.New(nil)
		c, m := measure(t, config(spooltest.NewModel(failed, asks, done), sendTool()))
		e := newEngine(t, b, c)

		start(t, e, "r1")
		if r, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "p", RunID: "r2"}); err != nil || r.Accepted {
			t.Fatal(r, err)
		}
		pass(3 * time.Second)
		if diff := cmp.Diff([]string{
			"spool.job.state=dead: 0", "spool.job.state=delayed: 0", "spool.job.state=in_flight: 0", "spool.job.state=ready: 1",
		}, lines(t, m.metrics(t)["spool.queue.jobs"])); diff != "" {
			t.Errorf("queue (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{": 3"}, lines(t, m.metrics(t)["spool.queue.oldest_age"])); diff != "" {
			t.Errorf("oldest job (-want +got):\n%s", diff)
		}
		stop := work(t, e)
		pass(10 * time.Second)
		approve(t, e, "c1")
		pass(time.Second)
		stop()
		other := key
		other.ID = "t2"
		if r, err := e.Run(t.Context(), other, wire.StartRequest{Prompt: "p", RunID: "r3"}); err != nil || !r.Accepted {
			t.Fatal(r, err)
		}
		if r, err := e.Stop(t.Context(), other); err != nil || !r.Accepted {
			t.Fatal(r, err)
		}

		got := m.metrics(t)
		for name, want := range map[string][]string{
			"spool.runs.started":   {"gen_ai.agent.name=a: 2"},
			"spool.parks.opened":   {"gen_ai.tool.name=send: 1"},
			"spool.parks.resolved": {"gen_ai.tool.name=send spool.park.state=answered: 1"},
			"spool.runs.active":    {": 0"},
			"spool.streams.open":   {": 0"},
		} {
			if diff := cmp.Diff(want, lines(t, got[name])); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		runs := lines(t, got["spool.run.duration"])
		if len(runs) != 2 ||
			!strings.HasPrefix(runs[0], "gen_ai.agent.name=a spool.run.state=CANCELLED spool.run.stop_reason=cancelled: 1 0") ||
			!strings.HasPrefix(runs[1], "gen_ai.agent.name=a spool.run.state=COMPLETED spool.run.stop_reason=completed: 1 1") {
			t.Errorf("runs: %q", runs)
		}
		checkLedger(t, b, got["gen_ai.client.token.usage"], 35, 7)
	})
}

// checkLedger compares the metric of tokens with the sums of the ledger.
func checkLedger(t *testing.T, b store.Backend, data metricdata.Aggregation, input, output int64) {
	t.Helper()
	sums := make(map[string]int64)
	tokens, _ := data.(metricdata.Histogram[int64])
	for _, p := range tokens.DataPoints {
		of, _ := p.Attributes.Value("gen_ai.token.type")
		sums[of.AsString()] += p.Sum
	}
	var ledger spool.TokenCount
	err := b.Store.View(t.Context(), key, func(v store.View) error {
		usage, err := v.Usage(wire.UsageQuery{Sums: true})
		for _, l := range usage.Sums {
			ledger.InputTokens += l.InputTokens
			ledger.OutputTokens += l.OutputTokens
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if sums["input"] != ledger.InputTokens || sums["output"] != ledger.OutputTokens {
		t.Errorf("metrics have %v, the ledger has %+v", sums, ledger)
	}
	if ledger.InputTokens != input || ledger.OutputTokens != output {
		t.Errorf("the ledger has %+v, not %d and %d", ledger, input, output)
	}
}

// Active segments count while they go on, and durations are those of their operation.
func TestMetricsOfWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := toolOf("slow", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			<-time.After(3 * time.Second)
			return nil, nil
		})
		waits := spooltest.Use(spooltest.Call{ID: "c1", Name: "slow"})
		waits.Before = func(context.Context) error {
			<-time.After(2 * time.Second)
			return nil
		}
		c, m := measure(t, config(spooltest.NewReplayModel(waits, spooltest.Say("done")), slow))
		e := newEngine(t, memory.New(nil), c)
		start(t, e, "r1")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_ = watch(ctx, e, nil)
		pass(7 * time.Second)
		defer work(t, e)()
		pass(time.Second)

		got := m.metrics(t)
		for name, want := range map[string][]string{
			"spool.runs.active":   {": 1"},
			"spool.streams.open":  {": 1"},
			"spool.claim.latency": {"spool.job.kind=start: 1 7"},
		} {
			if diff := cmp.Diff(want, lines(t, got[name])); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		pass(10 * time.Second)
		got = m.metrics(t)
		chat := "gen_ai.operation.name=chat gen_ai.provider.name=unknown gen_ai.request.model=m gen_ai.response.model=scripted-1"
		for name, want := range map[string][]string{
			"gen_ai.client.operation.duration":            {chat + ": 2 2"},
			"gen_ai.client.operation.time_to_first_chunk": {chat + ": 2 2.000000001"},
			"gen_ai.execute_tool.duration": {
				"gen_ai.agent.name=a gen_ai.operation.name=execute_tool gen_ai.tool.name=slow gen_ai.tool.type=function spool.outcome=finished: 1 3",
			},
		} {
			if diff := cmp.Diff(want, lines(t, got[name])); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		if updates := lines(t, got["spool.store.update.duration"]); !slices.ContainsFunc(updates, func(l string) bool {
			return strings.HasPrefix(l, "spool.outcome=committed: ")
		}) {
			t.Errorf("updates: %q", updates)
		}
	})
}

// No metric has a label for a tenant, thread, run or subject.
func TestMetricsNameNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, m := measure(t, config(
			spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("x")), sendTool(),
		))
		e := newEngine(t, memory.New(nil), c)
		whose := spool.ThreadKey{Tenant: "MARKtenant", ID: "MARKthread"}
		if r, err := e.Run(t.Context(), whose, wire.StartRequest{Prompt: "p", RunID: "MARKrun"}); err != nil || !r.Accepted {
			t.Fatal(r, err)
		}
		defer work(t, e)()
		pass(time.Second)
		if r, err := e.Respond(
			t.Context(), whose, wire.Response{ToolCallID: "c1", Approved: true, By: "MARKsubject"},
		); err != nil || !r.Delivered {
			t.Fatal(r, err)
		}
		pass(time.Second)

		all := m.metrics(t)
		for name, data := range all {
			for _, l := range lines(t, data) {
				if strings.Contains(l, "MARK") {
					t.Errorf("%s: %s", name, l)
				}
			}
		}
		if len(all) < 12 {
			t.Errorf("only %d metrics were looked at", len(all))
		}
	})
}

// The metrics count refused credentials by their kind. An engine without metrics counts nothing.
func TestMetricsOfFailedLogins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, m := measure(t, config(spooltest.NewModel()))
		e := newEngine(t, memory.New(nil), c)
		for _, kind := range []string{"bearer", "session", "bearer"} {
			e.CountFailedLogin(t.Context(), kind)
			newEngine(t, memory.New(nil), config(spooltest.NewModel())).CountFailedLogin(t.Context(), kind)
		}
		want := []string{"spool.credentials=bearer: 2", "spool.credentials=session: 1"}
		if diff := cmp.Diff(want, lines(t, m.metrics(t)["spool.auth.failures"])); diff != "" {
			t.Errorf("refused credentials (-want +got):\n%s", diff)
		}
	})
}

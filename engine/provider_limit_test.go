package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var otherKey = spool.ThreadKey{Tenant: "acme", ID: "t2"}

// oneAMinute limits a configuration's model to one request a minute.
func oneAMinute(c engine.Config) engine.Config {
	c.ProviderLimits = map[string]option.ProviderLimit{"m": {RPM: 1}}
	return c
}

// startOther starts a run on the other thread.
func startOther(t *testing.T, e *engine.Engine, id spool.RunID) {
	t.Helper()
	r, err := e.Run(t.Context(), otherKey, wire.StartRequest{Prompt: "p", RunID: id})
	if err != nil || !r.Accepted {
		t.Fatal(r, err)
	}
}

// detail returns what operators see of a run.
func detail(t *testing.T, e *engine.Engine, id spool.RunID) wire.RunDetail {
	t.Helper()
	d, err := e.RunDetail(t.Context(), key.Tenant, id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A run that waits for its provider shows it to clients, operators and metrics, and asks nothing of the
// model. A stop ends the wait at once.
func TestRunWaitsForItsProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		model := spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two"))
		c, m := measure(t, oneAMinute(config(model)))
		c.Budget.Default = spool.Budget{Tokens: 1_000_000}
		e := newEngine(t, b, c)
		stop := work(t, e)
		startOther(t, e, "r0")
		pass(time.Second)
		start(t, e, "r1")
		pass(5 * time.Second)
		if items := collect(t, e, nil); count(items, "WAITING_FOR_PROVIDER") != 1 || model.Asked() != 1 {
			t.Errorf("the model was asked %d times:\n%s", model.Asked(), text(items))
		}
		if got := detail(t, e, "r1").WaitsFor; got != "waits for the provider's limit of 1 request a minute; it is next" {
			t.Errorf("the run %q", got)
		}
		if got := detail(t, e, "r0").WaitsFor; got != "" {
			t.Errorf("the run that has ended %q", got)
		}
		labels := "gen_ai.provider.name=unknown gen_ai.request.model=m: "
		if diff := cmp.Diff([]string{labels + "1"}, lines(t, m.metrics(t)["spool.provider.waiting"])); diff != "" {
			t.Error(diff)
		}
		began := time.Now()
		stopRun(t, e)
		pass(100 * time.Millisecond)
		if state(t, b) != wire.Cancelled {
			t.Errorf("%s after the stop the thread is %s", time.Since(began), state(t, b))
		}
		if d := detail(t, e, "r1"); len(d.Usage) != 0 || d.WaitsFor != "" {
			t.Errorf("the stopped run waits (%q), or has usage: %+v", d.WaitsFor, d.Usage)
		}
		if diff := cmp.Diff([]string{labels + "0"}, lines(t, m.metrics(t)["spool.provider.waiting"])); diff != "" {
			t.Error(diff)
		}
		if waits := lines(t, m.metrics(t)["spool.provider.wait.duration"]); len(waits) != 1 || !has(waits, labels+"2 ") {
			t.Errorf("waits: %q", waits)
		}
		stop()
		e.Close()
	})
}

// A worker that shuts down hands a waiting run back without an attempt and without a cost, and another one
// continues it when its turn comes.
func TestShutdownWhileARunWaitsForItsProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		c := oneAMinute(config(spooltest.NewReplayModel(spooltest.Say("done"))))
		c.Budget.Default = spool.Budget{Tokens: 1_000_000}
		e := newEngine(t, b, c)
		stop := work(t, e)
		startOther(t, e, "r0")
		pass(time.Second)
		start(t, e, "r1")
		pass(5 * time.Second)
		stop()
		e.Close()
		if d := detail(t, e, "r1"); d.Run.State != wire.Queued || d.Run.Attempts != 0 || len(d.Usage) != 0 ||
			d.WaitsFor != "" {
			t.Errorf("%s after %d attempts, waits for %q, usage %+v", d.Run.State, d.Run.Attempts, d.WaitsFor, d.Usage)
		}
		e = newEngine(t, b, c)
		stop = work(t, e)
		pass(50 * time.Second)
		if state(t, b) != wire.Running {
			t.Errorf("before a minute is over the thread is %s", state(t, b))
		}
		pass(10 * time.Second)
		if state(t, b) != wire.Completed {
			t.Errorf("after a minute the thread is %s", state(t, b))
		}
		stop()
		e.Close()
	})
}

// A provider that refuses a request of one worker and says for how long is left alone by the others too.
func TestRefusalIsHonouredByAnotherWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		var refused, asked time.Time
		limits := map[string]option.ProviderLimit{"m": {RPM: 60, Group: "key"}}
		first := config(spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
			refused = time.Now()
			return spooltest.Turn{Err: &spool.ModelError{Status: 429, After: 40 * time.Second}}
		}))
		second := config(spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
			asked = time.Now()
			return spooltest.Say("done")
		}))
		first.ProviderLimits, second.ProviderLimits = limits, limits
		e := newEngine(t, b, first)
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		stop()
		e.Close()
		e = newEngine(t, b, second)
		stop = work(t, e)
		startOther(t, e, "r2")
		pass(10 * time.Second)
		if got := detail(t, e, "r2").WaitsFor; got !=
			"waits because the provider has refused requests for a time; it is next" {
			t.Errorf("the run %q", got)
		}
		pass(time.Minute)
		if wait := asked.Sub(refused); wait < 40*time.Second {
			t.Errorf("the provider was asked again after %s", wait)
		}
		if state(t, b) != wire.Completed {
			t.Errorf("the thread is %s", state(t, b))
		}
		stop()
		e.Close()
	})
}

// Eight engines over one store keep to the provider's limit with their runs, and every run completes.
func TestEnginesShareAProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		var mu sync.Mutex
		var starts []time.Time
		model := spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
			mu.Lock()
			defer mu.Unlock()
			starts = append(starts, time.Now())
			return spooltest.Say("done")
		})
		var stops []func()
		var e *engine.Engine
		for range 8 {
			c := config(model)
			c.ProviderLimits = map[string]option.ProviderLimit{"m": {RPM: 30, Concurrent: 4, TPM: 1_000_000}}
			e = newEngine(t, b, c)
			stops = append(stops, work(t, e), e.Close)
		}
		const runs = 100
		for i := range runs {
			id := fmt.Sprint("r", i)
			_, err := e.Run(t.Context(), spool.ThreadKey{Tenant: "acme", ID: spool.ThreadID(id)},
				wire.StartRequest{Prompt: "p", RunID: spool.RunID(id)})
			if err != nil {
				t.Fatal(err)
			}
		}
		pass(4 * time.Minute)
		for _, stop := range stops {
			stop()
		}
		for i := 30; i < len(starts); i++ {
			if starts[i].Sub(starts[i-30]) < time.Minute {
				t.Fatalf("31 requests within %s", starts[i].Sub(starts[i-30]))
			}
		}
		stats, err := b.Store.Stats(t.Context(), wire.StatsQuery{Tenant: "acme", Tally: true})
		if err != nil || stats.Tally.Runs[wire.Completed] != runs || len(starts) != runs {
			t.Errorf("%v runs, %d requests, %v", stats.Tally.Runs, len(starts), err)
		}
	})
}

// The summary of older messages waits for the provider too.
func TestSummaryWaitsForItsProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		c := oneAMinute(config(spooltest.NewReplayModel(spooltest.Say("a long answer with many words"),
			spooltest.Say("a summary"))))
		e := newEngine(t, b, c)
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		_, err := e.Compact(ctx, key)
		if spool.CodeOf(err) != spool.Canceled || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		stop()
		e.Close()
	})
}

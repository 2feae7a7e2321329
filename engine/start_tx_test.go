package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// errHostRollsBack ends a transaction of a host.
var errHostRollsBack = errors.New("the host rolls back")

// startInHost starts a run in a transaction of a host, which then does the rest and commits, unless rest fails.
func startInHost(
	t *testing.T, b store.Backend, e *engine.Engine, r wire.StartRequest, rest func() error,
) (result wire.RunResult, wake func(), err error) {
	t.Helper()

	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t1"}
	err = b.Store.Update(t.Context(), key, 0, func(tx store.Tx) (err error) {
		host := store.NewHostTx("memory", func(_ context.Context, _ spool.ThreadKey, fn func(store.Tx) error) error {
			return fn(tx)
		})
		if result, wake, err = e.StartTx(t.Context(), host, key, r); err != nil {
			return err
		}
		return rest()
	})
	return result, wake, err
}

// A run that starts in the host's transaction exists if the host commits, and not otherwise.
func TestStartTx(t *testing.T) {
	t.Parallel()

	b := memory.New(nil)
	b.HostTx = "memory"
	e, err := engine.New(b, engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t1"}

	result, _, err := startInHost(t, b, e, wire.StartRequest{RunID: "r1", Prompt: "Hello"},
		func() error { return errHostRollsBack })
	if !errors.Is(err, errHostRollsBack) || !result.Accepted {
		t.Fatalf("%+v, %v", result, err)
	}
	if _, err := e.Outcome(t.Context(), key, "r1"); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("the run of a host that rolled back: %v", err)
	}

	woken := 0
	stop, err := b.Live.Subscribe(t.Context(), store.JobsTopic, func(store.WakeKind, []byte) { woken++ })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	result, wake, err := startInHost(t, b, e, wire.StartRequest{RunID: "r1", Prompt: "Hello"}, func() error {
		if woken != 0 {
			t.Error("workers were woken before the commit")
		}
		return nil
	})
	if err != nil || !result.Accepted || result.RunID != "r1" {
		t.Fatalf("%+v, %v", result, err)
	}
	if wake(); woken != 1 {
		t.Errorf("workers were woken %d times", woken)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, engine.WorkOptions{}) }()
	if out, err := e.Await(ctx, key, "r1"); err != nil || out.State != wire.Completed {
		t.Errorf("%+v, %v", out, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}

	result, wake, err = startInHost(t, b, e, wire.StartRequest{RunID: "r1", Prompt: "Hello"}, func() error { return nil })
	// memory has no savepoints
	if result.Accepted || result.Reason != wire.ReasonRunIDUsed || !errors.Is(err, store.ErrRunIDUsed) {
		t.Errorf("a used id: %+v, %v", result, err)
	}
	wake() // of a refused start, it does nothing
	if _, _, err := e.StartTx(
		t.Context(), store.HostTx{}, key, wire.StartRequest{Prompt: "Hello"},
	); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("no transaction: %v", err)
	}
}

// The events of a start in the host's transaction are there if the host commits, and workers are woken behind it.
func TestStartTxTells(t *testing.T) {
	t.Parallel()

	b := memory.New(nil)
	b.HostTx = "memory"
	sender, err := webhook.NewSender(webhook.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(b, engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
		Webhooks: option.Webhooks{Sender: sender, Endpoints: []option.WebhookEndpoint{{
			Name: "all", URL: "https://hooks.example.com/",
			Secrets: []string{"whsec_bm9ib2R5IGtub3dzIHRoaXMgc2VjcmV0IG9mIG91cnM="},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	woken := 0
	stop, err := b.Live.Subscribe(t.Context(), store.EventsTopic, func(store.WakeKind, []byte) { woken++ })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	key, queue := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t1"}, "spool.webhooks"
	events := func() []wire.QueuedJob {
		t.Helper()
		jobs, err := b.Store.Jobs(t.Context(), wire.JobQuery{Tenant: key.Tenant, Queue: &queue})
		if err != nil {
			t.Fatal(err)
		}
		return jobs
	}
	for _, id := range []spool.RunID{"r1", "r2"} {
		if r, err := e.Run(t.Context(), key, wire.StartRequest{
			RunID: id, Prompt: "Hello", WhenBusy: spool.BusyLatest,
		}); err != nil || !r.Accepted {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	latest := wire.StartRequest{RunID: "r3", Prompt: "Hello", WhenBusy: spool.BusyLatest} // it takes the place of r2
	_, _, err = startInHost(t, b, e, latest, func() error { return errHostRollsBack })
	if !errors.Is(err, errHostRollsBack) || len(events()) != 0 || woken != 0 {
		t.Errorf("a host that rolled back: %v, %d events, woken %d times", err, len(events()), woken)
	}
	result, wake, err := startInHost(t, b, e, latest, func() error { return nil })
	if err != nil || !result.Accepted || woken != 0 {
		t.Fatalf("%+v, %v, woken %d times", result, err, woken)
	}
	wake()
	if got := events(); len(got) != 1 || got[0].Subject != "all" || got[0].ThreadID != key.ID || woken != 1 ||
		!strings.Contains(string(got[0].Payload), `"type":"run.cancelled"`) {
		t.Errorf("%+v, woken %d times", got, woken)
	}
}

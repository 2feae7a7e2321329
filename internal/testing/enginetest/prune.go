package enginetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// pruneTest is the fixture of the cases about pruning.
type pruneTest struct{ *engineTest }

var pruneTests = map[string]func(s pruneTest){
	"Old":       testPruneOld,
	"Limit":     testPruneLimit,
	"Moved":     testPruneMoved,
	"Unsettled": testPruneUnsettled,
	"Dead":      testPruneDead,
	"Invalid":   testPruneInvalid,
	"Retention": testRetention,
	"Expired":   testExpiredRows,
}

func (s pruneTest) prune(e *engine.Engine, o wire.PruneOptions) string {
	s.Helper()
	report, err := e.Prune(context.Background(), o)
	if err != nil {
		s.Fatalf("prune: %v", err)
	}
	return compare.Spaced(report.Threads, spool.ThreadKey.String)
}

func (s pruneTest) exists(key spool.ThreadKey) bool {
	err := s.backend.Store.View(context.Background(), key, func(v store.View) error {
		_, err := v.Thread()
		return err
	})
	return err == nil
}

// completes runs a prompt on a thread to its end.
func (s pruneTest) completes(e *engine.Engine, key spool.ThreadKey) wire.RunResult {
	s.Helper()
	result := s.startAs(e, key, wire.StartRequest{Prompt: "go"})
	s.until("the end of "+key.String(), func() bool {
		runs, err := s.backend.Store.Runs(context.Background(), wire.RunQuery{Tenant: key.Tenant, ID: result.RunID})
		return err == nil && len(runs) == 1 && runs[0].State.Terminal()
	})
	return result
}

func of(tenant spool.Tenant, id spool.ThreadID) spool.ThreadKey {
	return spool.ThreadKey{Tenant: tenant, ID: id}
}

// testPruneOld has old threads, new threads, and old threads that are still active.
func testPruneOld(s pruneTest) {
	s.lasts(30 * 24 * time.Hour)
	day := 24 * time.Hour
	slow := approved("send", "1")
	slow.Expiry = spool.Expiry{TTL: 30 * day}
	c := s.config(
		spooltest.NewModel(spooltest.Say("1"), spooltest.Say("2"), spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}),
			spooltest.Say("3"), spooltest.Say("4")),
		slow,
	)
	c.Worker.Poll, c.Worker.SweepEvery = time.Hour, time.Hour // otherwise the worker would poll each second for days
	e := s.working(c)
	old, theirs, parked, fresh := of("acme", "old"), of("other", "old"), chat, of("acme", "fresh")
	result := s.completes(e, old)
	s.completes(e, theirs)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	<-time.After(10 * day)
	s.completes(e, fresh)

	o := wire.PruneOptions{Before: s.now().Add(-day), DryRun: true}
	s.same("a dry run", s.prune(e, o), "acme/old other/old")
	s.same("a dry run again", s.prune(e, o), "acme/old other/old")
	o.DryRun, o.Tenant = false, "acme"
	s.same("of a tenant", s.prune(e, o), "acme/old")
	o.Tenant = ""
	s.same("of all tenants", s.prune(e, o), "other/old")
	s.same("again", s.prune(e, o), "")
	for key, want := range map[spool.ThreadKey]bool{old: false, theirs: false, parked: true, fresh: true} {
		s.same(key.String()+" exists", s.exists(key), want)
	}
	if _, err := e.Snapshot(context.Background(), old, nil); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("a snapshot: %v", err)
	}
	_, err := s.backend.Live.Read(context.Background(),
		store.StreamKey{Thread: old, ID: wire.NewStreamID(result.RunID, 1)}, wire.Offset{}, 0)
	if !errors.Is(err, store.ErrStreamGone) {
		s.Errorf("its stream: %v", err)
	}
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.keys = []spool.ThreadKey{parked, fresh}
	s.history.Forget(old, theirs)
}

func testPruneLimit(s pruneTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Say("1"), spooltest.Say("2"), spooltest.Say("3"))))
	for _, id := range []spool.ThreadID{"b", "c", "a"} {
		s.completes(e, of("acme", id))
		<-time.After(time.Second)
	}
	for _, want := range []struct {
		threads string
		more    bool
	}{{"acme/b acme/c", true}, {"acme/a", false}, {"", false}} {
		report, err := e.Prune(context.Background(), wire.PruneOptions{Before: s.now(), Limit: 2})
		if got := compare.Spaced(report.Threads, spool.ThreadKey.String); err != nil || got != want.threads ||
			report.More != want.more {
			s.Errorf("%+v and error %v, want %+v", report, err, want)
		}
	}
	s.keys = nil
	s.history.Forget(of("acme", "a"), of("acme", "b"), of("acme", "c"))
}

// testPruneMoved has threads that change after they were found and before they are pruned.
func testPruneMoved(s pruneTest) {
	c := s.config(spooltest.NewModel(spooltest.Say("1"), spooltest.Say("2"), spooltest.Say("3"), spooltest.Say("4"),
		spooltest.Say("5")))
	e := s.engine(c)
	stop := s.work(e)
	again, queued, gone := of("acme", "again"), of("acme", "queued"), of("acme", "gone")
	for _, key := range []spool.ThreadKey{again, queued, gone} {
		s.completes(e, key)
	}
	<-time.After(time.Hour)
	before := s.now().Add(-time.Minute)
	b := s.join()
	b.Store = foundIdle{b.Store, []wire.Thread{idle(gone), idle(again), idle(queued)}}
	s.completes(e, again)
	stop()
	s.startAs(e, queued, wire.StartRequest{Prompt: "go"})
	if _, err := e.DeleteThread(context.Background(), gone); err != nil {
		s.Fatal(err)
	}
	s.same("pruned", s.prune(s.over(b, c), wire.PruneOptions{Before: before}), "")
	if !s.exists(again) || !s.exists(queued) {
		s.Error("a thread that moved is gone")
	}
	s.work(e)
	s.until("the end", func() bool {
		runs, err := e.Runs(context.Background(), "acme", wire.RunQuery{State: wire.Completed})
		return err == nil && len(runs) == 4
	})
	s.keys = []spool.ThreadKey{again, queued}
	s.history.Forget(gone)
}

// idle returns a thread as a list has it.
func idle(key spool.ThreadKey) wire.Thread { return wire.Thread{Tenant: key.Tenant, ID: key.ID} }

// foundIdle finds threads that were idle once.
type foundIdle struct {
	store.Store

	threads []wire.Thread
}

func (f foundIdle) Threads(ctx context.Context, q wire.ThreadQuery) ([]wire.Thread, error) {
	if q.Work == wire.ThreadsIdle {
		return f.threads, nil
	}
	return f.Store.Threads(ctx, q)
}

// testPruneUnsettled has a run that is not settled yet.
func testPruneUnsettled(s pruneTest) {
	var fine atomic.Bool
	c := s.config(spooltest.NewModel(spooltest.Say("hi")))
	c.OnSettle = func(context.Context, wire.Settlement) error {
		if fine.Load() {
			return nil
		}
		return errors.New("not now")
	}
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	<-time.After(time.Hour)
	o := wire.PruneOptions{Before: s.now().Add(-30 * time.Minute)}
	s.same("unsettled", s.prune(e, o), "")
	fine.Store(true)
	s.until("the settlement", func() bool { return !s.run("r1").SettledAt.IsZero() })
	<-time.After(time.Minute)
	s.same("settled", s.prune(e, o), chat.String())
	s.keys = nil
	s.history.Forget(chat)
}

// testPruneDead has a thread with a dead job: both are removed.
func testPruneDead(s pruneTest) {
	e := s.engine(s.config(spooltest.NewModel()))
	s.start(e, "r1", "go")
	redriveTest(s).die(e)
	<-time.After(time.Hour)
	s.same("pruned", s.prune(e, wire.PruneOptions{Before: s.now()}), chat.String())
	s.same("dead jobs", len(s.deadJobs()), 0)
	s.keys = nil
	s.history.Forget(chat)
}

func testPruneInvalid(s pruneTest) {
	e := s.engine(s.config(spooltest.NewModel()))
	for _, o := range []wire.PruneOptions{{}, {Before: s.now(), Limit: -1}} {
		if _, err := e.Prune(context.Background(), o); spool.CodeOf(err) != spool.Invalid {
			s.Errorf("%+v: %v", o, err)
		}
	}
	c := s.config(spooltest.NewModel())
	c.Retention.Threads = -time.Second
	if _, err := engine.New(s.backend, c); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("a negative retention: %v", err)
	}
	s.keys = nil
}

// testRetention checks that a worker removes old threads and no others.
func testRetention(s pruneTest) {
	s.lasts(5 * 24 * time.Hour)
	c := s.config(spooltest.NewModel(spooltest.Say("1"), spooltest.Say("2"), spooltest.Say("3")))
	c.Retention.Threads = 24 * time.Hour
	c.Worker.Poll, c.Worker.SweepEvery = 10*time.Minute, 10*time.Minute
	e := s.working(c)
	once, again := of("acme", "once"), of("other", "again")
	s.completes(e, once)
	s.completes(e, again)
	<-time.After(20 * time.Hour)
	s.completes(e, again)
	<-time.After(3 * time.Hour)
	if !s.exists(once) {
		s.Error("it went too early")
	}
	<-time.After(2 * time.Hour)
	if s.exists(once) || !s.exists(again) {
		s.Errorf("after a day: %v, %v", s.exists(once), s.exists(again))
	}
	<-time.After(20 * time.Hour)
	if s.exists(again) {
		s.Error("it is still there")
	}
	s.keys = nil
	s.history.Forget(once, again)
}

// testExpiredRows checks that a worker removes rows that have expired and no others.
func testExpiredRows(s pruneTest) {
	s.lasts(5 * time.Hour)
	c := s.config(spooltest.NewModel())
	c.Worker.Poll, c.Worker.SweepEvery = 10*time.Minute, 10*time.Minute
	put := func(key string, expires time.Time) {
		s.Helper()
		err := s.backend.Store.Update(context.Background(), spool.ThreadKey{Tenant: "acme"}, 0, func(tx store.Tx) error {
			return tx.Write(store.Changes{Rows: []store.Row{{Kind: "k", Key: key, Value: []byte("1"), ExpiresAt: expires}}})
		})
		if err != nil {
			s.Fatal(err)
		}
	}
	put("stays", time.Time{})
	put("later", s.now().Add(4*time.Hour))
	s.working(c)
	put("gone", s.now().Add(30*time.Minute))
	<-time.After(3 * time.Hour)
	// A prune finds only what the worker has left.
	if n, err := s.backend.Store.Prune(context.Background(), store.PruneQuery{Kind: store.PruneRows}); n != 0 ||
		err != nil {
		s.Errorf("%d expired rows are still there, %v", n, err)
	}
	rows, err := s.backend.Store.Rows(context.Background(), store.RowQuery{Tenant: "acme", Kind: "k"})
	if keys := compare.Spaced(rows, func(r store.Row) string { return r.Key }); keys != "later stays" || err != nil {
		s.Errorf("the rows are %s, %v", keys, err)
	}
	s.keys = nil
}

package memory_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func update(t *testing.T, b store.Backend, id spool.ThreadID, fn func(tx store.Tx) error) {
	t.Helper()
	if err := b.Store.Update(t.Context(), spool.ThreadKey{Tenant: spool.DefaultTenant, ID: id}, 0, fn); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, b store.Backend, id spool.ThreadID, fn func(v store.View) error) {
	t.Helper()
	if err := b.Store.View(t.Context(), spool.ThreadKey{Tenant: spool.DefaultTenant, ID: id}, fn); err != nil {
		t.Fatal(err)
	}
}

// touch adds an entry to a thread.
func touch(ctx context.Context, b store.Backend) error {
	return b.Store.Update(ctx, spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread:  &wire.Thread{},
			Entries: []*wire.Entry{wire.NewEntry("TOUCHED", "", nil)},
		})
	})
}

// touched counts the entries of that thread.
func touched(t *testing.T, b store.Backend) (n int) {
	t.Helper()
	view(t, b, "t", func(v store.View) error {
		entries, err := v.Entries(store.EntryQuery{})
		n = len(entries)
		return err
	})
	return n
}

// everything writes one of each thing.
func everything(tx store.Tx) error {
	const run = spool.RunID("r")
	return errors.Join(
		tx.Write(store.Changes{
			Thread: &wire.Thread{State: wire.Queued, RunID: run},
			NewRuns: []store.RunRow{
				{Run: wire.Run{ID: run, State: wire.Queued}, RunState: store.RunState{StartKey: string("key-" + run)}},
			},
			Entries: []*wire.Entry{wire.NewEntry(wire.EntryRunStarted, run, nil)},
		}),
		tx.Write(store.Changes{
			Messages: []*spool.Message{{ID: "m-" + spool.MessageID(run), Role: spool.RoleUser}},
			Parks:    []store.Park{{RunID: run, ToolCallID: "c"}},
			Effects:  []store.Effect{{RunID: run, Step: 1, ToolCallID: "c"}},
			Usage:    []wire.UsageRow{{RunID: run, Model: "m", Usage: spooltest.Tokens(1, 2)}},
			Jobs:     []wire.Job{{RunID: run, Key: string(run)}},
		}),
	)
}

// tally counts what a thread has of everything, jobs included.
func tally(t *testing.T, b store.Backend, id spool.ThreadID) string {
	t.Helper()
	var out string
	view(t, b, id, func(v store.View) error {
		runs, err1 := v.Runs(wire.RunQuery{})
		entries, err2 := v.Entries(store.EntryQuery{})
		messages, err3 := v.Messages(store.MessageQuery{})
		parks, err4 := v.Parks("r")
		effects, err5 := v.Effects("r", 1)
		usage, err6 := v.Usage(wire.UsageQuery{Sums: true})
		out = fmt.Sprint(len(runs), len(entries), len(messages), len(parks), len(effects), len(usage.Sums))
		return errors.Join(err1, err2, err3, err4, err5, err6)
	})
	stats, err := b.Store.Stats(t.Context(), wire.StatsQuery{Queue: true})
	if err != nil {
		t.Fatal(err)
	}
	return out + fmt.Sprint(" ", stats.Queue.Ready)
}

func TestRollback(t *testing.T) {
	t.Parallel()

	b, boom := memory.New(nil), errors.New("boom")
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}
	fail := func() {
		t.Helper()
		err := b.Store.Update(t.Context(), key, 0, func(tx store.Tx) error {
			return errors.Join(tx.Write(store.Changes{DeleteThread: true}), everything(tx), boom)
		})
		if !errors.Is(err, boom) {
			t.Fatal(err)
		}
	}
	fail()
	if got, want := tally(t, b, "t"), "0 0 0 0 0 0 0"; got != want {
		t.Errorf("after a rollback there is %s, want %s", got, want)
	}
	update(t, b, "t", everything)
	fail()
	if got, want := tally(t, b, "t"), "1 1 1 1 1 1 1"; got != want {
		t.Errorf("after a commit and a rollback there is %s, want %s", got, want)
	}
	update(t, b, "t", func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	if got, want := tally(t, b, "t"), "0 0 0 0 0 0 0"; got != want {
		t.Errorf("after a deletion there is %s, want %s", got, want)
	}
	if runs, err := b.Store.Runs(t.Context(), wire.RunQuery{Tenant: key.Tenant, StartKey: "key-r"}); err != nil ||
		len(runs) > 0 {
		t.Errorf("the start of a deleted thread is found: %v, %v", runs, err)
	}
	update(t, b, "other", everything)
}

// A view is of one moment, whatever is committed while it is read.
func TestViewIsOneState(t *testing.T) {
	t.Parallel()

	b := memory.New(nil)
	update(t, b, "t", everything)
	view(t, b, "t", func(v store.View) error {
		update(t, b, "t", func(tx store.Tx) error {
			return errors.Join(
				tx.Write(store.Changes{
					Runs:  []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Failed}}},
					Parks: []store.Park{{RunID: "r", ToolCallID: "c", Landed: true}},
				}),
				tx.Write(store.Changes{
					Drop:     &store.Drop{From: "m-r", Seq: 1},
					Messages: []*spool.Message{{ID: "new"}},
					Entries:  []*wire.Entry{wire.NewEntry(wire.EntryRunEnded, "r", nil)},
				}),
			)
		})
		thread, err1 := v.Thread()
		run, err2 := store.FindRun(v, "r")
		parks, err3 := v.Parks("r")
		_, err4 := store.FindMessage(v, "m-r")
		if thread.LastSeq != 1 || run.State != wire.Queued || parks[0].Landed {
			t.Errorf("the view changed: %+v %+v %+v", thread, run, parks)
		}
		return errors.Join(err1, err2, err3, err4)
	})
	view(t, b, "t", func(v store.View) error {
		if _, err := store.FindMessage(v, "m-r"); spool.CodeOf(err) != spool.NotFound {
			t.Errorf("a dropped message returned %v", err)
		}
		_, err := store.FindMessage(v, "new")
		return err
	})
}

// What a caller does with what it gave or got does not reach the store.
func TestKeepsItsOwn(t *testing.T) {
	t.Parallel()

	b := memory.New(nil)
	draft := &store.Draft{Message: spool.Message{Content: spool.TextContent("a")}}
	update(t, b, "t", func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread:  &wire.Thread{State: wire.Queued},
			NewRuns: []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Queued}, RunState: store.RunState{Draft: draft}}},
		})
	})
	draft.Message.Content[0].Text = "b"
	for range 2 {
		view(t, b, "t", func(v store.View) error {
			run, err := store.FindRun(v, "r")
			if got := run.Draft.Message.Text(); got != "a" {
				t.Errorf("the draft says %q, want %q", got, "a")
			}
			run.Draft.Message.Content[0].Text = "c"
			return err
		})
	}
}

func TestRunsAreRefused(t *testing.T) {
	t.Parallel()

	b := memory.New(nil)
	update(t, b, "t", everything)
	for _, test := range []struct {
		run  store.RunRow
		want error
	}{
		{store.RunRow{Run: wire.Run{ID: "r"}}, store.ErrRunIDUsed},
		{store.RunRow{Run: wire.Run{ID: "a", State: wire.Queued}}, nil},
		{store.RunRow{Run: wire.Run{ID: "a"}}, store.ErrRunIDUsed},
		{store.RunRow{Run: wire.Run{ID: "b", State: wire.Running}}, store.ErrActiveRun},
		{store.RunRow{Run: wire.Run{ID: "c", State: wire.Running, Depth: 1}}, nil},
		{store.RunRow{Run: wire.Run{ID: "d", State: wire.Failed}}, nil},
		{store.RunRow{Run: wire.Run{ID: "e"}, RunState: store.RunState{StartKey: "key-r"}}, store.ErrStartKeyUsed},
	} {
		err := b.Store.Update(t.Context(), spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "u"}, 0, func(tx store.Tx) error {
			return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Queued}, NewRuns: []store.RunRow{test.run}})
		})
		if !errors.Is(err, test.want) {
			t.Errorf("insert %+v returned %v, want %v", test.run, err, test.want)
		}
	}
}

func TestFence(t *testing.T) {
	t.Parallel()

	b := memory.New(nil)
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}
	none := func(store.Tx) error { return nil }
	if err := b.Store.Update(t.Context(), key, 1, none); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a fence of no thread returned %v", err)
	}
	update(t, b, "t", func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{Fence: 2}}) })
	for fence, want := range map[int64]error{0: nil, 1: store.ErrFenced, 2: nil, 3: store.ErrFenced} {
		if err := b.Store.Update(t.Context(), key, fence, none); !errors.Is(err, want) {
			t.Errorf("fence %d returned %v, want %v", fence, err, want)
		}
	}
}

// Updates of one thread follow each other, so that nothing is lost or numbered twice.
func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()

	b := memory.New(nil)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 25 {
				if err := touch(t.Context(), b); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() {
			for range 25 {
				n := touched(t, b)
				view(t, b, "t", func(v store.View) error {
					entries, err := v.Entries(store.EntryQuery{After: int64(n)})
					for i, e := range entries {
						if e.Seq != int64(n+i+1) {
							t.Errorf("entry %d stands after %d others", e.Seq, n+i)
						}
					}
					return err
				})
			}
		})
	}
	group.Wait()
	if got := touched(t, b); got != 200 {
		t.Errorf("%d entries, want 200", got)
	}
}

func TestJobs(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b, ctx := memory.New(nil), t.Context()
		claim := func(want int) store.Delivery {
			t.Helper()
			taken, _, err := b.Store.Claim(ctx, store.ClaimQuery{Limit: 10, Lease: time.Minute})
			if err != nil || len(taken) != want {
				t.Fatalf("claimed %v, %v, want %d", taken, err, want)
			}
			if want == 0 {
				return store.Delivery{}
			}
			return taken[0]
		}
		enqueue := func(j wire.Job) {
			t.Helper()
			update(t, b, "t", func(tx store.Tx) error { return tx.Write(store.Changes{Jobs: []wire.Job{j, j}}) })
		}
		enqueue(wire.Job{RunID: "r", Key: "k", DueAt: time.Now().Add(time.Second)})
		claim(0)
		if _, next, err := b.Store.Claim(ctx, store.ClaimQuery{Limit: 1, Lease: 0}); err != nil ||
			!next.Equal(time.Now().Add(time.Second)) {
			t.Errorf("the next job is due at %v, %v", next, err)
		}
		<-time.After(time.Second)
		first := claim(1)
		<-time.After(time.Minute)
		second := claim(1)
		if first.Attempt != 1 || second.Attempt != 2 {
			t.Errorf("attempts %d and %d, want 1 and 2", first.Attempt, second.Attempt)
		}
		if err := b.Store.Ack(ctx, first, store.Ack{Kind: store.AckDone}); !errors.Is(err, store.ErrFenced) {
			t.Errorf("an old delivery was acknowledged: %v", err)
		}
		if err := b.Store.Ack(ctx, second, store.Ack{Kind: store.AckRelease, Refund: true}); err != nil {
			t.Error(err)
		}
		third := claim(1)
		if third.Attempt != 2 {
			t.Errorf("attempt %d after a refund, want 2", third.Attempt)
		}
		if err := b.Store.Ack(ctx, third, store.Ack{Kind: store.AckDead, Cause: "why"}); err != nil {
			t.Error(err)
		}
		dead, err := b.Store.Jobs(ctx, wire.JobQuery{Tenant: spool.DefaultTenant, State: wire.JobDead})
		if err != nil || len(dead) != 1 || dead[0].Cause != "why" || dead[0].ThreadID != "t" {
			t.Errorf("dead are %v, %v", dead, err)
		}
		enqueue(wire.Job{RunID: "r", Key: "k"})
		update(t, b, "t", func(tx store.Tx) error { return tx.Write(store.Changes{CancelJobs: []string{"k"}}) })
		claim(0)
	})
}

func TestStranded(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		put := func(id spool.ThreadID, thread wire.Thread, jobs ...wire.Job) {
			thread.RunID = spool.RunID("r-" + id)
			update(t, b, id, func(tx store.Tx) error {
				err := tx.Write(store.Changes{Thread: &thread})
				for _, j := range jobs {
					err = errors.Join(err, tx.Write(store.Changes{Jobs: []wire.Job{j}}))
				}
				return err
			})
		}
		put("ended", wire.Thread{State: wire.Completed})
		put("leased", wire.Thread{State: wire.Running, LeaseUntil: time.Now().Add(time.Minute)})
		put("ticket", wire.Thread{State: wire.Queued}, wire.Job{RunID: "r-ticket", DueAt: time.Now().Add(time.Hour)})
		put("old", wire.Thread{State: wire.Queued}, wire.Job{RunID: "another"})
		check := func(want string) {
			t.Helper()
			list, err := b.Store.Threads(t.Context(), wire.ThreadQuery{Work: wire.ThreadsStranded})
			name := func(t wire.Thread) spool.ThreadID { return t.ID }
			if got := compare.Spaced(list, name); err != nil || got != want {
				t.Errorf("stranded are %s, %v, want %s", got, err, want)
			}
		}
		check("old")
		<-time.After(time.Minute)
		check("leased old")
	})
}

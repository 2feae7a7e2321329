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
)

func update(t *testing.T, b spool.Backend, id spool.ThreadID, fn func(tx spool.Tx) error) {
	t.Helper()
	if err := b.Store.Update(t.Context(), spool.ThreadKey{Tenant: spool.DefaultTenant, ID: id}, 0, fn); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, b spool.Backend, id spool.ThreadID, fn func(v spool.View) error) {
	t.Helper()
	if err := b.Store.View(t.Context(), spool.ThreadKey{Tenant: spool.DefaultTenant, ID: id}, fn); err != nil {
		t.Fatal(err)
	}
}

// touch adds an entry to a thread.
func touch(ctx context.Context, b spool.Backend) error {
	return b.Store.Update(ctx, spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}, 0, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread:  &spool.Thread{},
			Entries: []*spool.Entry{spool.NewEntry("TOUCHED", "", nil)},
		})
	})
}

// touched counts the entries of that thread.
func touched(t *testing.T, b spool.Backend) (n int) {
	t.Helper()
	view(t, b, "t", func(v spool.View) error {
		entries, err := v.Entries(spool.EntryQuery{})
		n = len(entries)
		return err
	})
	return n
}

// everything writes one of each thing.
func everything(tx spool.Tx) error {
	const run = spool.RunID("r")
	return errors.Join(
		tx.Write(spool.Changes{
			Thread:  &spool.Thread{State: spool.Queued, RunID: run},
			NewRuns: []spool.RunRow{{Run: spool.Run{ID: run, State: spool.Queued}, RunState: spool.RunState{StartKey: string("key-" + run)}}},
			Entries: []*spool.Entry{spool.NewEntry(spool.EntryRunStarted, run, nil)},
		}),
		tx.Write(spool.Changes{
			Messages: []*spool.Message{{ID: "m-" + spool.MessageID(run), Role: spool.RoleUser}},
			Parks:    []spool.Park{{RunID: run, ToolCallID: "c"}},
			Effects:  []spool.Effect{{RunID: run, Step: 1, ToolCallID: "c"}},
			Usage:    []spool.UsageRow{{RunID: run, Model: "m", Usage: spooltest.Tokens(1, 2)}},
			Jobs:     []spool.Job{{RunID: run, Key: string(run)}},
		}),
	)
}

// tally counts what a thread has of everything, jobs included.
func tally(t *testing.T, b spool.Backend, id spool.ThreadID) string {
	t.Helper()
	var out string
	view(t, b, id, func(v spool.View) error {
		runs, err1 := v.Runs(spool.RunQuery{})
		entries, err2 := v.Entries(spool.EntryQuery{})
		messages, err3 := v.Messages(spool.MessageQuery{})
		parks, err4 := v.Parks("r")
		effects, err5 := v.Effects("r", 1)
		usage, err6 := v.Usage(spool.UsageQuery{Sums: true})
		out = fmt.Sprint(len(runs), len(entries), len(messages), len(parks), len(effects), len(usage.Sums))
		return errors.Join(err1, err2, err3, err4, err5, err6)
	})
	stats, err := b.Store.Stats(t.Context(), spool.StatsQuery{Queue: true})
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
		err := b.Store.Update(t.Context(), key, 0, func(tx spool.Tx) error {
			return errors.Join(tx.Write(spool.Changes{DeleteThread: true}), everything(tx), boom)
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
	update(t, b, "t", func(tx spool.Tx) error { return tx.Write(spool.Changes{DeleteThread: true}) })
	if got, want := tally(t, b, "t"), "0 0 0 0 0 0 0"; got != want {
		t.Errorf("after a deletion there is %s, want %s", got, want)
	}
	if runs, err := b.Store.Runs(t.Context(), spool.RunQuery{Tenant: key.Tenant, StartKey: "key-r"}); err != nil || len(runs) > 0 {
		t.Errorf("the start of a deleted thread is found: %v, %v", runs, err)
	}
	update(t, b, "other", everything)
}

// A view is of one moment, whatever is committed while it is read.
func TestViewIsOneState(t *testing.T) {
	t.Parallel()

	b := memory.New(nil)
	update(t, b, "t", everything)
	view(t, b, "t", func(v spool.View) error {
		update(t, b, "t", func(tx spool.Tx) error {
			return errors.Join(
				tx.Write(spool.Changes{
					Runs:  []spool.RunRow{{Run: spool.Run{ID: "r", State: spool.Failed}}},
					Parks: []spool.Park{{RunID: "r", ToolCallID: "c", Landed: true}},
				}),
				tx.Write(spool.Changes{
					Drop:     &spool.Drop{From: "m-r", Seq: 1},
					Messages: []*spool.Message{{ID: "new"}},
					Entries:  []*spool.Entry{spool.NewEntry(spool.EntryRunEnded, "r", nil)},
				}),
			)
		})
		thread, err1 := v.Thread()
		run, err2 := spool.FindRun(v, "r")
		parks, err3 := v.Parks("r")
		_, err4 := spool.FindMessage(v, "m-r")
		if thread.LastSeq != 1 || run.State != spool.Queued || parks[0].Landed {
			t.Errorf("the view changed: %+v %+v %+v", thread, run, parks)
		}
		return errors.Join(err1, err2, err3, err4)
	})
	view(t, b, "t", func(v spool.View) error {
		if _, err := spool.FindMessage(v, "m-r"); spool.CodeOf(err) != spool.NotFound {
			t.Errorf("a dropped message returned %v", err)
		}
		_, err := spool.FindMessage(v, "new")
		return err
	})
}

// What a caller does with what it gave or got does not reach the store.
func TestKeepsItsOwn(t *testing.T) {
	t.Parallel()

	b := memory.New(nil)
	draft := &spool.Draft{Message: spool.Message{Content: spool.TextContent("a")}}
	update(t, b, "t", func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread:  &spool.Thread{State: spool.Queued},
			NewRuns: []spool.RunRow{{Run: spool.Run{ID: "r", State: spool.Queued}, RunState: spool.RunState{Draft: draft}}},
		})
	})
	draft.Message.Content[0].Text = "b"
	for range 2 {
		view(t, b, "t", func(v spool.View) error {
			run, err := spool.FindRun(v, "r")
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
		run  spool.RunRow
		want error
	}{
		{spool.RunRow{Run: spool.Run{ID: "r"}}, spool.ErrRunIDUsed},
		{spool.RunRow{Run: spool.Run{ID: "a", State: spool.Queued}}, nil},
		{spool.RunRow{Run: spool.Run{ID: "a"}}, spool.ErrRunIDUsed},
		{spool.RunRow{Run: spool.Run{ID: "b", State: spool.Running}}, spool.ErrActiveRun},
		{spool.RunRow{Run: spool.Run{ID: "c", State: spool.Running, Depth: 1}}, nil},
		{spool.RunRow{Run: spool.Run{ID: "d", State: spool.Failed}}, nil},
		{spool.RunRow{Run: spool.Run{ID: "e"}, RunState: spool.RunState{StartKey: "key-r"}}, spool.ErrStartKeyUsed},
	} {
		err := b.Store.Update(t.Context(), spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "u"}, 0, func(tx spool.Tx) error {
			return tx.Write(spool.Changes{Thread: &spool.Thread{State: spool.Queued}, NewRuns: []spool.RunRow{test.run}})
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
	none := func(spool.Tx) error { return nil }
	if err := b.Store.Update(t.Context(), key, 1, none); !errors.Is(err, spool.ErrFenced) {
		t.Errorf("a fence of no thread returned %v", err)
	}
	update(t, b, "t", func(tx spool.Tx) error { return tx.Write(spool.Changes{Thread: &spool.Thread{Fence: 2}}) })
	for fence, want := range map[int64]error{0: nil, 1: spool.ErrFenced, 2: nil, 3: spool.ErrFenced} {
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
				view(t, b, "t", func(v spool.View) error {
					entries, err := v.Entries(spool.EntryQuery{After: int64(n)})
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
		claim := func(want int) spool.Delivery {
			t.Helper()
			taken, _, err := b.Store.Claim(ctx, spool.ClaimQuery{Limit: 10, Lease: time.Minute})
			if err != nil || len(taken) != want {
				t.Fatalf("claimed %v, %v, want %d", taken, err, want)
			}
			if want == 0 {
				return spool.Delivery{}
			}
			return taken[0]
		}
		enqueue := func(j spool.Job) {
			t.Helper()
			update(t, b, "t", func(tx spool.Tx) error { return tx.Write(spool.Changes{Jobs: []spool.Job{j, j}}) })
		}
		enqueue(spool.Job{RunID: "r", Key: "k", DueAt: time.Now().Add(time.Second)})
		claim(0)
		if _, next, err := b.Store.Claim(ctx, spool.ClaimQuery{Limit: 1, Lease: 0}); err != nil || !next.Equal(time.Now().Add(time.Second)) {
			t.Errorf("the next job is due at %v, %v", next, err)
		}
		<-time.After(time.Second)
		first := claim(1)
		<-time.After(time.Minute)
		second := claim(1)
		if first.Attempt != 1 || second.Attempt != 2 {
			t.Errorf("attempts %d and %d, want 1 and 2", first.Attempt, second.Attempt)
		}
		if err := b.Store.Ack(ctx, first, spool.Ack{Kind: spool.AckDone}); !errors.Is(err, spool.ErrFenced) {
			t.Errorf("an old delivery was acknowledged: %v", err)
		}
		if err := b.Store.Ack(ctx, second, spool.Ack{Kind: spool.AckRelease, Refund: true}); err != nil {
			t.Error(err)
		}
		third := claim(1)
		if third.Attempt != 2 {
			t.Errorf("attempt %d after a refund, want 2", third.Attempt)
		}
		if err := b.Store.Ack(ctx, third, spool.Ack{Kind: spool.AckDead, Cause: "why"}); err != nil {
			t.Error(err)
		}
		dead, err := b.Store.Jobs(ctx, spool.JobQuery{Tenant: spool.DefaultTenant, State: spool.JobDead})
		if err != nil || len(dead) != 1 || dead[0].Cause != "why" || dead[0].ThreadID != "t" {
			t.Errorf("dead are %v, %v", dead, err)
		}
		enqueue(spool.Job{RunID: "r", Key: "k"})
		update(t, b, "t", func(tx spool.Tx) error { return tx.Write(spool.Changes{CancelJobs: []string{"k"}}) })
		claim(0)
	})
}

func TestStranded(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		put := func(id spool.ThreadID, thread spool.Thread, jobs ...spool.Job) {
			thread.RunID = spool.RunID("r-" + id)
			update(t, b, id, func(tx spool.Tx) error {
				err := tx.Write(spool.Changes{Thread: &thread})
				for _, j := range jobs {
					err = errors.Join(err, tx.Write(spool.Changes{Jobs: []spool.Job{j}}))
				}
				return err
			})
		}
		put("ended", spool.Thread{State: spool.Completed})
		put("leased", spool.Thread{State: spool.Running, LeaseUntil: time.Now().Add(time.Minute)})
		put("ticket", spool.Thread{State: spool.Queued}, spool.Job{RunID: "r-ticket", DueAt: time.Now().Add(time.Hour)})
		put("old", spool.Thread{State: spool.Queued}, spool.Job{RunID: "another"})
		check := func(want string) {
			t.Helper()
			list, err := b.Store.Threads(t.Context(), spool.ThreadQuery{Work: spool.ThreadsStranded})
			name := func(t spool.Thread) spool.ThreadID { return t.ID }
			if got := compare.Spaced(list, name); err != nil || got != want {
				t.Errorf("stranded are %s, %v, want %s", got, err, want)
			}
		}
		check("old")
		<-time.After(time.Minute)
		check("leased old")
	})
}

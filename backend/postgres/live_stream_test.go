package postgres

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func streamOf(n int) store.StreamKey {
	return store.StreamKey{
		Thread: spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(fmt.Sprint("t", n))}, ID: "r:1",
	}
}

// TestAppendsGather holds a flush up while others append: all that gathers must be sent by the next one.
func TestAppendsGather(t *testing.T) {
	t.Parallel()
	db := opened(t, pgtest.Database(t, tables), nil)
	ctx := testwait.Context(t, "the appends")
	live := db.Live()
	const streams = 20
	for i := range streams {
		if err := live.Open(ctx, streamOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	holder, err := db.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback(ctx) }()
	if _, err := holder.Exec(ctx, "SELECT FROM spool.stream WHERE thread_id = 't0' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	appendTo := func(i int) {
		group.Go(func() {
			if err := live.Append(ctx, streamOf(i), streamItems(1, 3)); err != nil {
				t.Errorf("append to stream %d: %v", i, err)
			}
		})
	}
	q := &db.live.append
	waiting := func() int {
		q.mu.Lock()
		defer q.mu.Unlock()
		return len(q.waiting)
	}
	appendTo(0)
	for flushes := 0; flushes == 0 && ctx.Err() == nil; { // the first one has been sent alone
		q.mu.Lock()
		flushes = q.flushes
		q.mu.Unlock()
	}
	for i := range streams - 1 {
		appendTo(i + 1)
	}
	for gathered := 0; gathered < streams-1 && ctx.Err() == nil; {
		gathered = waiting()
	}
	if err := holder.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if q.flushes != 2 {
		t.Errorf("%d appends took %d flushes, want 2", streams, q.flushes)
	}
	for i := range streams {
		if page, err := live.Read(ctx, streamOf(i), wire.Offset{}, 0); err != nil || len(page.Items) != 3 {
			t.Errorf("stream %d has %d items (%v), want 3", i, len(page.Items), err)
		}
	}
}

// TestPartitions lets the hour change: the partition of the last hour is dropped when the last of its streams is
// over, and not before.
func TestPartitions(t *testing.T) {
	t.Parallel()
	db := opened(t, pgtest.Database(t, tables), nil)
	ctx := testwait.Context(t, "the partitions")
	live := db.Live()
	old, late, fresh := streamOf(1), streamOf(2), streamOf(3)
	for _, key := range []store.StreamKey{old, late} {
		if err := errors.Join(live.Open(ctx, key), live.Append(ctx, key, streamItems(1, 2))); err != nil {
			t.Fatal(err)
		}
	}
	hours := partitions(t, db)
	if len(hours) != 1 {
		t.Fatalf("there are the partitions %v, want one", hours)
	}
	hour := hours[0] + 1
	if err := db.live.makePartitionOf(ctx, hour); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(live.Open(ctx, fresh), live.Append(ctx, fresh, streamItems(1, 2))); err != nil {
		t.Fatal(err)
	}
	end := func(key store.StreamKey, grace time.Duration) {
		t.Helper()
		item := wire.NewItem(wire.ItemRunFinished, wire.Offset{}, 0, wire.StreamFinished{Status: wire.SegmentFinished})
		if err := live.Close(ctx, key, item, grace); err != nil {
			t.Fatal(err)
		}
	}
	want := func(when string, hours ...int64) {
		t.Helper()
		if err := db.live.maintainOnce(ctx); err != nil {
			t.Fatal(err)
		}
		if got := partitions(t, db); fmt.Sprint(got) != fmt.Sprint(hours) {
			t.Errorf("%s there are the partitions %v, want %v", when, got, hours)
		}
	}
	end(old, 0)
	want("while a stream is open", hour-1, hour)
	if page, err := live.Read(ctx, late, wire.Offset{}, 0); err != nil || len(page.Items) != 2 {
		t.Errorf("the open stream has %d items (%v), want 2", len(page.Items), err)
	}
	end(late, time.Hour)
	want("while a stream can be read", hour-1, hour)
	if err := db.run(
		ctx, statement{sql: "UPDATE spool.stream SET expires_at = 1 WHERE hour = ?", args: []any{hour - 1}},
	); err != nil {
		t.Fatal(err)
	}
	want("when all streams of the hour are over", hour)
	if _, err := live.Read(ctx, late, wire.Offset{}, 0); !errors.Is(err, store.ErrStreamGone) {
		t.Errorf("the stream of the last hour: %v, want %v", err, store.ErrStreamGone)
	}
	if page, err := live.Read(ctx, fresh, wire.Offset{}, 0); err != nil || len(page.Items) != 2 {
		t.Errorf("the stream of this hour has %d items (%v), want 2", len(page.Items), err)
	}
	// An id that was used before can be used again, in the partition of today.
	if err := errors.Join(live.Open(ctx, late), live.Append(ctx, late, streamItems(1, 1))); err != nil {
		t.Errorf("open a stream again: %v", err)
	}
}

// partitions returns the hours whose partitions are attached.
func partitions(t *testing.T, db *DB) (hours []int64) {
	t.Helper()
	err := db.read(t.Context(),
		`SELECT substring(c.relname FROM '[0-9]+$')::bigint FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'spool.stream_item'::regclass ORDER BY 1`, each(&hours, (*row).Int64))
	if err != nil {
		t.Fatal(err)
	}
	return hours
}

// TestPartitionWaits lets the hour change while a stream is being opened in the partition of the last one: it must
// not be dropped before the stream is there to be seen.
func TestPartitionWaits(t *testing.T) {
	t.Parallel()
	db := opened(t, pgtest.Database(t, tables), nil)
	ctx := testwait.Context(t, "the partition")
	live, key := db.Live(), streamOf(1)
	if err := errors.Join(live.Open(ctx, streamOf(0)), live.Delete(ctx, streamOf(0).Thread)); err != nil {
		t.Fatal(err)
	}
	hour := partitions(t, db)[0]
	opening, err := db.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opening.Rollback(ctx) }()
	there, closed := false, false
	if err := (pgxLink{opening, db}).send(ctx, db.live.openBatch(key, &there, &closed)); err != nil || !there {
		t.Fatal("the stream was not opened", err)
	}
	done := make(chan error, 1)
	go func() { done <- errors.Join(db.live.makePartitionOf(ctx, hour+1), db.live.endHour(ctx, hour)) }()
	for waits := false; !waits && len(done) == 0; {
		if err := db.read(
			ctx, "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)",
			func(r *row) { waits = r.Bool() },
		); err != nil {
			t.Fatal(err)
		}
	}
	if err := opening.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := testwait.For(t, done, "the next hour"); err != nil {
		t.Fatal(err)
	}
	if err := live.Append(ctx, key, streamItems(1, 2)); err != nil {
		t.Errorf("append: %v", err)
	}
}

// TestAppendAfterRestart restarts the server in the middle of a stream. What was appended a moment before is still
// there, and the stream goes on.
func TestAppendAfterRestart(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{})
	db := opened(t, server.Database(t, tables), nil)
	ctx := testwait.Context(t, "the stream")
	live, key := db.Live(), streamOf(1)
	if err := errors.Join(live.Open(ctx, key), live.Append(ctx, key, streamItems(1, 5))); err != nil {
		t.Fatal(err)
	}
	// A commit that waits for the disk takes those before it along.
	if err := db.run(
		ctx, statement{sql: "DELETE FROM spool.wake"},
		statement{sql: "INSERT INTO spool.wake (at, node, body) VALUES (0, '', '')"},
	); err != nil {
		t.Fatal(err)
	}
	server.Restart(t)
	err := live.Append(ctx, key, streamItems(6, 7))
	for spool.CodeOf(err) == spool.Unavailable && ctx.Err() == nil {
		err = live.Append(ctx, key, streamItems(6, 7))
	}
	if err != nil {
		t.Errorf("append after the restart: %v", err)
	}
	if page, err := live.Read(ctx, key, wire.Offset{}, 0); err != nil || len(page.Items) != 7 {
		t.Errorf("the stream has %d items (%v), want 7", len(page.Items), err)
	}
}

// TestAppendCut cuts all connections of a process again and again while it appends. An append that fails may have
// happened or not; the stream has each item once, and in order.
func TestAppendCut(t *testing.T) {
	t.Parallel()
	proxy := pgtest.NewProxy(t, pgtest.Database(t, tables))
	db := opened(t, proxy.URL(), nil)
	ctx := testwait.Context(t, "the stream")
	live, key := db.Live(), streamOf(1)
	if err := live.Open(ctx, key); err != nil {
		t.Fatal(err)
	}
	const all = 300
	failed := 0
	for n := int64(1); n <= all; n++ {
		if n%20 == 0 {
			go proxy.Cut()
		}
		err := live.Append(ctx, key, streamItems(n, n))
		for ; spool.CodeOf(err) == spool.Unavailable && ctx.Err() == nil; failed++ {
			err = live.Append(ctx, key, streamItems(n, n))
		}
		if err != nil && (failed == 0 || !errors.Is(err, store.ErrOffsetUsed)) {
			t.Fatalf("append %d: %v", n, err)
		}
	}
	page, err := live.Read(ctx, key, wire.Offset{}, 0)
	for spool.CodeOf(err) == spool.Unavailable && ctx.Err() == nil {
		page, err = live.Read(ctx, key, wire.Offset{}, 0)
	}
	if err != nil || len(page.Items) != all || page.Last.N != all {
		t.Errorf("the stream has %d items up to %v (%v), want %d", len(page.Items), page.Last, err, all)
	}
	t.Logf("%d appends failed", failed)
}

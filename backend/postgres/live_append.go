package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// appendQueue has the appends of a process. While a flush is under way, those that come gather, and the next flush
// sends them together: so a process has one small transaction at a time for all its streams.
type appendQueue struct {
	mu      sync.Mutex
	waiting []*appending
	// flushing is true while a goroutine flushes.
	flushing bool
	closed   bool
	running  sync.WaitGroup
	// flushes counts the flushes. Tests read it.
	flushes int
}

// appending is an append that waits.
type appending struct {
	key   store.StreamKey
	items []wire.Item
	done  chan error // receives one value, unless the append was withdrawn
}

const (
	// flushItems bounds the items of a flush, but for the last append that fits.
	flushItems = 5000
	// flushTimeout bounds how long an append waits for its flush.
	flushTimeout = 15 * time.Second
	// flushTries is how often a flush is sent whose connection was lost.
	flushTries = 3
)

// Append implements [store.Live].
func (l *live) Append(ctx context.Context, key store.StreamKey, items []wire.Item) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	last := wire.Offset{}
	for _, item := range items {
		if item.Offset.Compare(last) <= 0 {
			return store.ErrOffsetUsed
		}
		last = item.Offset
	}
	if len(items) == 0 {
		return l.refusal(ctx, key, nil, false)
	}
	a := &appending{key: key, items: items, done: make(chan error, 1)}
	if !l.enqueue(a) {
		return &spool.Error{Code: spool.Unavailable, Message: "the store is closed"}
	}
	select {
	case err := <-a.done:
		return err
	case <-ctx.Done():
		if l.append.withdraw(a) {
			return canceled(ctx)
		}
		return <-a.done // the items are on their way
	}
}

// enqueue adds an append, and begins to flush unless somebody does. It returns false after the end.
func (l *live) enqueue(a *appending) bool {
	q := &l.append
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.waiting = append(q.waiting, a)
	if !q.flushing {
		q.flushing = true
		q.running.Go(l.flushAll)
	}
	return true
}

// withdraw removes an append that no flush has taken.
func (q *appendQueue) withdraw(a *appending) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.waiting, a)
	if at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
	}
	return at >= 0
}

// close refuses further appends, and waits for those under way.
func (q *appendQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.running.Wait()
}

// next takes what one flush sends: at most one append of each stream. It returns nil if nothing waits, and the
// caller then flushes no more.
func (q *appendQueue) next() (group []*appending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	passed, n := make(map[store.StreamKey]bool), 0
	q.waiting = slices.DeleteFunc(q.waiting, func(a *appending) bool {
		// An append that must wait holds back the later ones of its stream.
		if passed[a.key] || n >= flushItems {
			passed[a.key] = true
			return false
		}
		passed[a.key] = true
		group, n = append(group, a), n+len(a.items)
		return true
	})
	q.flushing = len(group) > 0
	if q.flushing {
		q.flushes++
	}
	return group
}

// flushAll flushes until nothing waits.
func (l *live) flushAll() {
	for group := l.append.next(); group != nil; group = l.append.next() {
		ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
		l.flush(ctx, group)
		cancel()
	}
}

// flush sends a group, and tells each append what has become of it.
func (l *live) flush(ctx context.Context, group []*appending) {
	grown := make([]bool, len(group))
	again := false
	var err error
	for try := range flushTries {
		again = try > 0
		s := appendItems(group)
		s.scan = func(r *row) { grown[r.Int64()-1] = true }
		if err = l.db.run(ctx, notSynced, s); err == nil || !lost(err) {
			break
		}
		clear(grown)
		l.pause(time.Duration(try) * flushPause) // the database may be restarting
	}
	for i, a := range group {
		switch {
		case err != nil:
			a.done <- err
		case grown[i]:
			a.done <- nil
		default:
			a.done <- l.refusal(ctx, a.key, a.items, again)
		}
	}
}

const flushPause = 200 * time.Millisecond

// refusal returns why a stream does not take items. Again says that they may be there from an earlier try.
func (l *live) refusal(ctx context.Context, key store.StreamKey, items []wire.Item, again bool) error {
	var last wire.Offset
	found, closed := false, false
	err := l.db.run(ctx, l.state(key, &closed, &last, &found))
	switch {
	case err != nil:
		return err
	case !found:
		return store.ErrStreamGone
	case len(items) > 0 && again && last == items[len(items)-1].Offset:
		return nil
	case closed:
		return store.ErrStreamClosed
	case len(items) > 0:
		return store.ErrOffsetUsed
	default:
		return nil
	}
}

// appendItems returns the statement that adds the items of a group of streams, and returns the places, from 1, of
// the appends that their streams have taken. A stream's row says how far it is, and makes its writers take turns.
func appendItems(group []*appending) statement {
	n := 0
	for _, a := range group {
		n += len(a.items)
	}
	tenants, threads, ids := make([]string, len(group)), make([]string, len(group)), make([]string, len(group))
	var bounds [4][]int64 // the fences and numbers of the first and of the last offset
	places, fences, numbers, seqs := make([]int64, 0, n), make([]int64, 0, n), make([]int64, 0, n), make([]int64, 0, n)
	types, data := make([]string, 0, n), make([][]byte, 0, n)
	for i, a := range group {
		tenants[i], threads[i], ids[i] = clean(string(a.key.Thread.Tenant)), clean(string(a.key.Thread.ID)),
			clean(string(a.key.ID))
		first, last := a.items[0].Offset, a.items[len(a.items)-1].Offset
		for at, value := range []int64{first.Fence, first.N, last.Fence, last.N} {
			bounds[at] = append(bounds[at], value)
		}
		for _, item := range a.items {
			places, fences, numbers = append(places, int64(i)+1), append(fences, item.Offset.Fence),
				append(numbers, item.Offset.N)
			seqs, types, data = append(seqs, item.Seq), append(types, clean(string(item.Type))), append(data, item.Data)
		}
	}
	return statement{
		sql: `WITH head AS (
				SELECT * FROM unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]) WITH ORDINALITY
					AS h (tenant, thread_id, id, first_fence, first_n, last_fence, last_n, place)
			), grown AS (
				UPDATE spool.stream s SET last_fence = h.last_fence, last_n = h.last_n FROM head h
				WHERE s.tenant = h.tenant AND s.thread_id = h.thread_id AND s.id = h.id AND NOT s.closed
					AND (s.last_fence, s.last_n) < (h.first_fence, h.first_n)
				RETURNING s.hour, s.number, h.place
			), added AS (
				INSERT INTO spool.stream_item (hour, stream, fence, n, type, seq, data)
				SELECT g.hour, g.number, i.fence, i.n, i.type, i.seq, i.data
				FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::bigint[], ?::bytea[]) AS i (place, fence, n, type, seq, data)
				JOIN grown g ON g.place = i.place
			)
			SELECT place FROM grown`,
		args: []any{
			tenants, threads, ids, bounds[0], bounds[1], bounds[2], bounds[3],
			places, fences, numbers, types, seqs, data,
		},
	}
}

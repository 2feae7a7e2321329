package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// itemBatch is how many items a writer appends at once: as many as the engine does at most.
	itemBatch = 32
	// itemWriters is how many run streams are written at the same time.
	itemWriters = 64
)

// itemData is the data of each item: some words, as a model says them.
var itemData = wire.NewItem(wire.ItemTextContent, wire.Offset{Fence: 1, N: 1}, 0,
	wire.Delta{MessageID: "msg_06h0j5713qtw64d9c36r3bf4hc", Delta: strings.Repeat("word ", 10)}).Data

// measurePgItems measures how many items of run streams a second backend/postgres stores, compared with a bare
// insert.
func measurePgItems(b *bench) (*section, error) {
	writers, took := size(b, itemWriters, 4), size(b, time.Second, 100*time.Millisecond)
	server, err := b.postgres()
	if err != nil {
		return nil, err
	}
	s := &section{
		title: "Stream items over PostgreSQL",
		how: fmt.Sprintf("%d run streams grow by %d items of %d bytes at a time, as fast as `Live.Append` takes them, for %s a round. \"Bare\" inserts "+
			"the same items into the same table with the same index by `INSERT ... SELECT FROM unnest`, with `synchronous_commit=off` as Spool does, and "+
			"neither checks offsets nor keeps the state of streams: once with as many goroutines, each with %[2]d items at a time, on %[5]d connections, and "+
			"once on one connection with %[6]d items at a time, which is what Spool gathers in one statement. Spool is held to the better of the two. Each "+
			"round has a new database. %[7]s", writers, itemBatch, len(itemData), took, pgConnections-1, writers*itemBatch,
			server.about),
	}
	var spooled, parallel, gathered sample
	err = b.interleave(size(b, 2, 1),
		func() error {
			return b.onFresh(func(url string) error { return appendItems(b.ctx, &spooled, url, writers, took) })
		},
		func() error {
			return b.onFresh(func(url string) error { return insertItems(b.ctx, &parallel, url, writers, itemBatch, took) })
		},
		func() error {
			return b.onFresh(func(url string) error { return insertItems(b.ctx, &gathered, url, 1, writers*itemBatch, took) })
		},
	)
	if err != nil {
		return nil, err
	}
	better := parallel
	if gathered.median() > parallel.median() {
		better = gathered
	}
	s.rows = []row{
		{"Spool", "items/s", spooled},
		{fmt.Sprintf("bare, %d connections", pgConnections-1), "items/s", parallel},
		{"bare, one connection", "items/s", gathered},
	}
	s.goals = []goal{
		ratioGoal("Stream items beside the better bare insert", spooled, better, 0.6, true),
		atLeast("Stream items a second", spooled.median(), 50_000),
	}
	return s, nil
}

func atLeast(what string, got, want float64) goal {
	return goal{what: what, want: "at least " + number(want), got: number(got), met: got >= want}
}

// appendItems measures backend/postgres.
func appendItems(ctx context.Context, into *sample, url string, writers int, took time.Duration) (err error) {
	db, err := openPostgres(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	live := db.Live()
	for i := range writers {
		if err := live.Open(ctx, itemStream(i)); err != nil {
			return err
		}
	}
	n, err := countItems(into, writers, took, itemBatch, func(writer int, first int64) error {
		items := make([]wire.Item, itemBatch)
		for i := range items {
			items[i] = wire.Item{Offset: wire.Offset{Fence: 1, N: first + int64(i)}, Type: wire.ItemTextContent, Data: itemData}
		}
		return live.Append(ctx, itemStream(writer), items)
	})
	return errors.Join(err, stored(ctx, url, n))
}

func itemStream(writer int) store.StreamKey {
	return store.StreamKey{
		Thread: spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(fmt.Sprint("thr_", writer))}, ID: "run:1",
	}
}

// insertItemRows adds items of one stream.
const insertItemRows = `INSERT INTO spool.stream_item (hour, stream, fence, n, type, seq, data)
	SELECT 1, $1, i.fence, i.n, i.type, i.seq, i.data
	FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bytea[]) AS i (fence, n, type, seq, data)`

// insertItems measures a bare insert into the table, with a partition as backend/postgres makes it.
func insertItems(ctx context.Context, into *sample, url string, writers, batch int, took time.Duration) error {
	pool, err := openPool(ctx, url, map[string]string{"synchronous_commit": "off"})
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = pool.Exec(ctx,
		"CREATE TABLE spool.stream_item_1 PARTITION OF spool.stream_item FOR VALUES IN (1) WITH (autovacuum_enabled = off)")
	if err != nil {
		return err
	}
	n, err := countItems(into, writers, took, batch, func(writer int, first int64) error {
		fences, numbers, seqs := make([]int64, batch), make([]int64, batch), make([]int64, batch)
		types, data := make([]string, batch), make([][]byte, batch)
		for i := range batch {
			fences[i], numbers[i], types[i], data[i] = 1, first+int64(i), string(wire.ItemTextContent), itemData
		}
		_, err := pool.Exec(ctx, insertItemRows, writer+1, fences, numbers, types, seqs, data)
		return err
	})
	return errors.Join(err, stored(ctx, url, n))
}

// countItems has writers write batches for some time, and returns how many items they wrote.
func countItems(
	into *sample, writers int, took time.Duration, batch int, write func(writer int, first int64) error,
) (int64, error) {
	written, failed := make([]int64, writers), make([]error, writers)
	var wg sync.WaitGroup
	began := time.Now()
	for w := range writers {
		wg.Go(func() {
			for time.Since(began) < took {
				if failed[w] = write(w, written[w]+1); failed[w] != nil {
					return
				}
				written[w] += int64(batch)
			}
		})
	}
	wg.Wait()
	seconds := time.Since(began).Seconds()
	all := int64(0)
	for _, n := range written {
		all += n
	}
	*into = append(*into, float64(all)/seconds)
	return all, errors.Join(failed...)
}

// stored returns an error unless the database has a number of items.
func stored(ctx context.Context, url string, want int64) error {
	got, err := countRows(ctx, url, "spool.stream_item")
	if err == nil && got != want {
		err = fmt.Errorf("%d items were written, and %d are stored", want, got)
	}
	return err
}

package engine_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// countingStore counts how often all messages of a thread are read.
type countingStore struct {
	store.Store

	reads atomic.Int64
}

func (s *countingStore) View(ctx context.Context, key spool.ThreadKey, fn func(v store.View) error) error {
	return s.Store.View(ctx, key, func(v store.View) error { return fn(countingView{v, s}) })
}

type countingView struct {
	store.View

	store *countingStore
}

func (v countingView) Messages(q store.MessageQuery) ([]spool.Message, error) {
	if q.Limit == 0 && q.After == "" && q.SinceSeq == 0 {
		v.store.reads.Add(1)
	}
	return v.View.Messages(q)
}

// goneCursor is a place after all messages in a stream that does not exist.
const goneCursor = "1 r0:1 1-5"

// filled returns an engine over a thread of so many messages of a kilobyte.
func filled(t *testing.T, messages int) (*engine.Engine, *countingStore) {
	t.Helper()
	b := memory.New(nil)
	err := b.Store.Update(t.Context(), key, 0, func(tx store.Tx) error {
		c := store.Changes{Thread: &wire.Thread{State: wire.Idle}, Entries: []*wire.Entry{wire.NewEntry("note", "", nil)}}
		for i := range messages {
			c.Messages = append(c.Messages, &spool.Message{
				ID: spool.MessageID(fmt.Sprintf("m%d", i)), Role: spool.RoleAssistant,
				Content: spool.TextContent(strings.Repeat("x", 1000)),
			})
		}
		return tx.Write(c)
	})
	if err != nil {
		t.Fatal(err)
	}
	store := &countingStore{Store: b.Store}
	b.Store = store
	e := newEngine(t, b, config(spooltest.NewModel()))
	t.Cleanup(e.Close)
	return e, store
}

// Five hundred clients, each with another last message, and half of them with a cursor that
// is gone, share the bytes of one snapshot and read the messages once.
func TestManySnapshotsTakeTheMemoryOfFew(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	const messages, clients = 2000, 500
	e, store := filled(t, messages)
	first, err := e.EncodedSnapshot(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Release()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			last := spool.MessageID(fmt.Sprintf("m%d", n%100))
			if n%2 == 0 {
				snap, err := e.EncodedSnapshot(t.Context(), key, &wire.SnapshotOptions{LastMessageID: last})
				if err != nil {
					t.Error(err)
					return
				}
				defer snap.Release()
				if !sameBytes(snap.Pieces[len(snap.Pieces)-2], first.Pieces[len(first.Pieces)-2]) {
					t.Error("the bytes are not shared")
				}
				return
			}
			stream, err := e.SSE(testwait.Context(t, "a snapshot"), key,
				wire.SSEOptions{Cursor: goneCursor, LastMessageID: last})
			if err != nil {
				t.Error(err)
				return
			}
			defer stream.Close()
			got := 0
			for chunk, err := range stream.Chunks() {
				if got += len(chunk); err != nil || bytes.Equal(chunk, []byte("}\n\n")) {
					break
				}
			}
			if got < (messages-100)*1000 {
				t.Errorf("a client got %d bytes", got)
			}
		})
	}
	all.Wait()
	runtime.ReadMemStats(&after)
	// What opening a stream takes is in it, garbage too. One copy for each would be ten times as much.
	if took := after.TotalAlloc - before.TotalAlloc; took > clients*uint64(first.Size)/10 {
		t.Errorf("%d clients took %d bytes of memory for a snapshot of %d", clients, took, first.Size)
	}
	if store.reads.Load() != 1 {
		t.Errorf("all messages were read %d times", store.reads.Load())
	}
}

// sameBytes reports whether two slices end with the same memory.
func sameBytes(a, b []byte) bool { return &a[len(a)-1] == &b[len(b)-1] }

// A stream that is read as an [io.Reader] has the same snapshot.
func TestSnapshotFrameIsThatOfASnapshot(t *testing.T) {
	t.Parallel()
	e, _ := filled(t, 10)
	snap, err := e.Snapshot(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	cursor := snap.Cursor()
	want := engine.FollowFrame(wire.Frame{Kind: wire.FrameSnapshot, Snapshot: snap}, &cursor)
	ctx, cancel := context.WithCancel(testwait.Context(t, "a snapshot"))
	defer cancel()
	stream, err := e.SSE(ctx, key, wire.SSEOptions{Cursor: goneCursor})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var got strings.Builder
	lines := bufio.NewReader(stream)
	for !strings.Contains(got.String(), `"kind":"snapshot"`) {
		got.Reset()
		for !strings.HasSuffix(got.String(), "\n\n") {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString(line)
		}
	}
	if got.String() != string(want) {
		t.Errorf("the stream has\n%s\nand not\n%s", got.String(), want)
	}
}

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The threads of the filled database. Both have the same messages and runs.
var (
	shortRecord = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "short-record"}
	longRecord  = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "long-record"}
)

const (
	filledRuns     = 100
	filledMessages = 1000
)

// entriesOf returns how many entries the long record has.
func entriesOf(b *bench) int { return size(b, 100_000, 2_000) }

// fill creates the database for snapshot and replay, once.
func (b *bench) fill() (string, error) {
	if b.filled != "" {
		return b.filled, nil
	}
	file := b.newFile("filled")
	db, err := sqlite.Open(file, nil)
	if err != nil {
		return "", err
	}
	defer db.Close()
	for _, t := range []struct {
		key     spool.ThreadKey
		entries int
	}{{shortRecord, 4}, {longRecord, entriesOf(b)}} {
		if err := fillThread(b.ctx, db, t.key, t.entries); err != nil {
			return "", err
		}
	}
	b.filled = file
	return file, nil
}

// fillThread creates a thread as if after many runs, each with some parks. Its entries come in groups
// of four: a segment starts, asks, is answered, and ends.
func fillThread(ctx context.Context, db *sqlite.DB, key spool.ThreadKey, entries int) error {
	segments := max(1, entries/4)
	err := db.Update(ctx, key, 0, func(tx store.Tx) error {
		c := store.Changes{Thread: &wire.Thread{State: wire.Idle, Title: "A long conversation", Model: "script"}}
		for i := range filledRuns {
			c.NewRuns = append(c.NewRuns, store.RunRow{Run: wire.Run{
				ID: filledRun(key, i), Agent: "bench", Model: "script", State: wire.Completed, StopReason: "completed",
				EnqueuedAt: tx.Now(), StartedAt: tx.Now(), EndedAt: tx.Now(), Segments: segments/filledRuns + 1,
			}})
		}
		for i := range filledMessages {
			c.Messages = append(c.Messages, &spool.Message{
				ID: spool.MessageID("msg_" + strconv.Itoa(i)), RunID: filledRun(key, i*filledRuns/filledMessages),
				Role: []spool.Role{spool.RoleUser, spool.RoleAssistant}[i%2], Content: spool.TextContent(startPrompt + startPrompt),
			})
		}
		return tx.Write(c)
	})
	const page = 500 // segments in a transaction
	for from := 0; from < segments && err == nil; from += page {
		err = db.Update(ctx, key, 0, func(tx store.Tx) error {
			thread, err := tx.Thread()
			if err != nil {
				return err
			}
			thread.RunID = filledRun(key, filledRuns-1)
			c := store.Changes{Thread: &thread}
			for i := from; i < min(from+page, segments); i++ {
				c.Entries = append(c.Entries, segmentEntries(filledRun(key, i*filledRuns/segments), i+1)...)
			}
			return tx.Write(c)
		})
	}
	return err
}

func filledRun(key spool.ThreadKey, n int) spool.RunID {
	return spool.RunID(fmt.Sprintf("run_%s_%04d", key.ID, n))
}

// segmentEntries returns the entries of one segment.
func segmentEntries(run spool.RunID, segment int) []*wire.Entry {
	stream, call := wire.NewStreamID(run, segment), spool.ToolCallID("call_"+strconv.Itoa(segment))
	entries := []*wire.Entry{
		wire.NewEntry(wire.EntryRunStarted, run, wire.RunStarted{RunID: run, StreamID: stream, Segment: segment}),
		wire.NewEntry(wire.EntryInputRequired, run, wire.InputRequired{
			ToolCallID: call, ToolName: "send", Arguments: []byte(`{"to":"ann@example.com"}`), Reason: "approval",
			ExpiresAt: time.Unix(1_800_000_000, 0).UTC(),
		}),
		wire.NewEntry(wire.EntryHITLResponse, run, wire.HITLResponse{ToolCallID: call, Approved: true, AnsweredBy: "ann"}),
		wire.NewEntry(wire.EntryRunEnded, run,
			wire.RunEnded{RunID: run, StreamID: stream, Segment: segment, Status: wire.SegmentFinished}),
	}
	for i, e := range entries {
		e.Stream, e.After = stream, wire.Offset{Fence: int64(segment), N: int64(i + 1)}
	}
	return entries
}

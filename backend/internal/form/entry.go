package form

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// EntryColumns are the columns of [wire.Entry] without its thread.
const EntryColumns = `seq, type, run_id, payload, created_at, stream, after_fence, after_n, published_by, published_by_tool, published`

// ScanEntry reads EntryColumns of a thread.
func ScanEntry(r Row, thread spool.ThreadID) wire.Entry {
	return wire.Entry{
		ThreadID: thread, Seq: r.Int64(), Type: wire.EntryType(r.Text()), RunID: spool.RunID(r.Text()),
		Payload: r.JSON(), CreatedAt: r.Time(), Stream: wire.StreamID(r.Text()),
		After:       wire.Offset{Fence: r.Int64(), N: r.Int64()},
		PublishedBy: r.Text(), PublishedByTool: r.Text(), Published: r.Bool(),
	}
}

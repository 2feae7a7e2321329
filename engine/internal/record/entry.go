package record

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// EndItem returns the last item of the stream that a RUN_ENDED entry names.
func EndItem(entry wire.Entry, at wire.Offset) wire.Item {
	var ended wire.RunEnded
	if err := json.Unmarshal(entry.Payload, &ended); err != nil {
		ended.Status = wire.SegmentLost
	}
	if ended.Status == wire.SegmentError || ended.Status == wire.SegmentLost {
		return wire.NewItem(wire.ItemRunError, at, entry.Seq-1, wire.StreamFailed{Status: ended.Status, Error: ended.Error})
	}
	return wire.NewItem(wire.ItemRunFinished, at, entry.Seq-1, wire.StreamFinished{Status: ended.Status})
}

// StreamOf returns the stream that a RUN_STARTED or RUN_ENDED entry names. It finds the id in a payload
// of the engine without decoding the JSON, because each client that connects needs the stream several
// times.
func StreamOf(entry wire.Entry) (wire.StreamID, error) {
	const run, stream = `{"runId":"`, `","streamId":"`
	if text, ok := bytes.CutPrefix(entry.Payload, []byte(run)); ok {
		if text, ok = bytes.CutPrefix(text, []byte(entry.RunID)); ok {
			if text, ok = bytes.CutPrefix(text, []byte(stream)); ok {
				if id, _, ok := bytes.Cut(text, []byte(`"`)); ok && bytes.IndexByte(id, '\\') < 0 {
					return wire.StreamID(id), nil
				}
			}
		}
	}
	var p struct {
		StreamID wire.StreamID `json:"streamId"`
	}
	if err := json.Unmarshal(entry.Payload, &p); err != nil {
		return "", spool.Wrap(spool.Internal, "read entry", err)
	}
	return p.StreamID, nil
}

// LastUpTo returns the last entry of a type up to seq, or nil. It looks close to seq first, because the
// entry is nearly always there.
func LastUpTo(v store.View, t wire.EntryType, seq int64) (*wire.Entry, error) {
	for near := int64(32); ; near *= 8 {
		q := store.EntryQuery{Type: t, After: max(seq-near, 0), Limit: int(near)}
		entries, err := v.Entries(q)
		if err != nil {
			return nil, err
		}
		for _, entry := range slices.Backward(entries) {
			if entry.Seq <= seq {
				return &entry, nil
			}
		}
		if q.After == 0 {
			return nil, nil //nolint:nilnil // there is none
		}
	}
}

// StatusOf returns how the segment of a RUN_ENDED entry ended.
func StatusOf(ended wire.Entry) wire.SegmentStatus {
	var p wire.RunEnded
	if json.Unmarshal(ended.Payload, &p) != nil {
		return wire.SegmentLost
	}
	return p.Status
}

// Farther returns the greater offset.
func Farther(a, b wire.Offset) wire.Offset {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

// Whole returns how many of the items follow the offset and each other without a gap. The worker of a
// segment numbers its items consecutively. If that worker dies, a later worker adds only the stream's
// end, and its numbers begin at one again.
func Whole(after wire.Offset, items []wire.Item) int {
	for i, item := range items {
		next := item.Offset
		if next.N != 1 && (next.Fence != after.Fence || next.N != after.N+1) {
			return i
		}
		after = next
	}
	return len(items)
}

// Farthest is an offset after every item.
var Farthest = wire.Offset{Fence: math.MaxInt64, N: math.MaxInt64}

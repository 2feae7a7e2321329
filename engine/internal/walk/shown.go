package walk

import (
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// shownSegment is what a walker knows about the segment that its client shows.
type shownSegment struct {
	// stream is the stream whose items the client may have. Empty: the client has the RUN_ENDED of
	// the last stream.
	stream wire.StreamID
	// plain is true while the walker has read every item of the stream, and no item is about a nested
	// run or about a limit that has ended the run.
	plain bool
	// ended is the last RUN_ENDED entry that the client has, if its run may have had open calls at that
	// point. Nil: no calls have to be closed.
	ended *wire.Entry
	// open is true if the walker has seen that the run of ended is still active.
	open bool
	// unsure is true until the walker has looked for ended.
	unsure bool
	// closed is true if the last frame was the snapshot that closes the calls.
	closed bool
}

// resolved reports whether the client needs no frame that a hub does not send.
func (h *shownSegment) resolved() bool { return !h.unsure && (h.ended == nil || h.open) }

// item notes an item that the walker has read.
func (h *shownSegment) item(item wire.Item) {
	switch item.Type {
	case wire.ItemSubagentStarted:
		h.plain = false
	case wire.ItemRunFinished:
		var f wire.StreamFinished
		h.plain = h.plain && item.Decode(&f) == nil && f.FinishReason == wire.StopCompleted
	default:
	}
}

// entry notes an entry that the walker has passed.
func (h *shownSegment) entry(entry *wire.Entry) {
	h.closed = false
	if entry.Type != wire.EntryRunEnded {
		return
	}
	if id, err := record.StreamOf(*entry); err != nil || id != h.stream {
		return
	}
	quiet := h.quiet(entry)
	*h = shownSegment{}
	if !quiet {
		h.ended = entry
	}
}

// quiet reports whether messages and stream agree: the messages have everything that the segment has
// streamed, and the stream has every result that the messages have.
func (h *shownSegment) quiet(ended *wire.Entry) bool {
	return h.plain && record.StatusOf(*ended) == wire.SegmentFinished
}

// find looks for the last RUN_ENDED entry before a client's cursor. A cursor without a stream may also
// be inside a segment.
func (h *shownSegment) find(v store.View, at wire.Cursor) error {
	*h = shownSegment{stream: at.Stream}
	if at.Stream == "" {
		return h.findBare(v, max(at.Seq, 0))
	}
	run, _, _ := at.Stream.Split()
	entries, err := v.Entries(store.EntryQuery{Type: wire.EntryRunEnded, Run: run})
	for _, entry := range entries {
		id, err := record.StreamOf(entry)
		if err == nil && entry.Seq <= at.Seq && id == at.Stream {
			*h = shownSegment{ended: &entry}
		}
	}
	return err
}

func (h *shownSegment) findBare(v store.View, seq int64) error {
	started, err := record.LastUpTo(v, wire.EntryRunStarted, seq)
	if err != nil || started == nil {
		return err
	}
	ended, err := record.LastUpTo(v, wire.EntryRunEnded, seq)
	if err != nil || ended != nil && ended.Seq > started.Seq {
		h.ended = ended
		return err
	}
	h.stream, err = record.StreamOf(*started)
	return err
}

package live

import (
	"bytes"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// FollowFrame returns a frame as a server-sent event, and moves the cursor `at` to the place of
// a reader that has it. The frame's own cursor is taken where it has one. A notice moves
// nothing and has no id.
func FollowFrame(f spool.Frame, at *spool.Cursor) []byte {
	if f.Cursor == nil {
		f.Cursor = moved(f, *at)
	}
	if f.Cursor != nil {
		*at = *f.Cursor
	}
	return encodeFrame(f)
}

// moved returns where a reader at c stands behind the frame, nil for a notice.
func moved(f spool.Frame, c spool.Cursor) *spool.Cursor {
	switch {
	case f.Kind == spool.FrameStream:
		c.Stream, c.Offset = f.StreamID, f.Item.Offset
	case f.Kind == spool.FrameSnapshot:
		c = f.Snapshot.Cursor()
	case f.Event.Seq <= 0:
		return nil
	default:
		c.Seq = f.Event.Seq
		if id, err := record.StreamOf(*f.Event); err == nil && f.Event.Type == spool.EntryRunStarted {
			c.Stream, c.Offset = id, spool.Offset{}
		}
	}
	return &c
}

// encode makes the SSE message, unless it is there. The hub calls it while an event stream reads
// the ring; other clients need the frame alone.
func (f *ringFrame) encode() {
	if f.text == nil {
		f.text = encodeFrame(f.Frame)
	}
}

// encodeFrame returns a frame as a server-sent event.
func encodeFrame(f spool.Frame) []byte {
	if f.Kind == spool.FrameThread && plainPayload(f.Event) {
		b := make([]byte, 0, entryBytes+len(f.Event.Payload))
		b = appendEntry(appendID(b, f.Cursor), f.Event)
		return append(b, "\n\n"...)
	}
	body, err := f.MarshalJSON()
	if err != nil {
		body = []byte(`{"kind":"error"}`) // what is stored always encodes
	}
	b := appendID(make([]byte, 0, len(body)+96), f.Cursor)
	b = append(b, body...)
	return append(b, "\n\n"...)
}

// appendID writes the id line, where there is one, and the start of the data line.
func appendID(b []byte, c *spool.Cursor) []byte {
	if c != nil {
		b = append(b, "id: "...)
		b = append(b, c.String()...)
		b = append(b, '\n')
	}
	return append(b, "data: "...)
}

// plainPayload reports whether the payload can be on the wire as it is stored.
func plainPayload(e *spool.Entry) bool {
	return len(e.Payload) > 0 && bytes.IndexByte(e.Payload, '\n') < 0
}

// appendEntry writes what [spool.Frame.MarshalJSON] writes for an entry whose payload was
// encoded before. It takes a fifth of the time, and a long replay spends most of its time here. The names and
// ids are of a kind that needs no quoting.
func appendEntry(b []byte, e *spool.Entry) []byte {
	b = append(b, `{"kind":"thread","event":{"threadId":"`...)
	b = append(b, e.ThreadID...)
	b = append(b, `","seq":`...)
	b = strconv.AppendInt(b, e.Seq, 10)
	b = append(b, `,"type":"`...)
	b = append(b, e.Type...)
	b = append(b, `","payload":`...)
	b = append(b, e.Payload...)
	b = append(b, `,"createdAt":"`...)
	b = e.CreatedAt.AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	if e.RunID != "" {
		b = append(b, `,"runId":"`...)
		b = append(b, e.RunID...)
		b = append(b, '"')
	}
	if e.PublishedBy != "" { // a subject may have any characters
		b = append(b, `,"publishedBy":`...)
		b = append(b, toolresult.JSON(e.PublishedBy)...)
	}
	if e.PublishedByTool != "" {
		b = append(b, `,"publishedByTool":`...)
		b = append(b, toolresult.JSON(e.PublishedByTool)...)
	}
	return append(b, "}}"...)
}

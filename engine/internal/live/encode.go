package live

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/wire"
)

// FollowFrame returns a frame as a server-sent event, and moves the cursor at to the position after the
// frame, or to the frame's own cursor if the frame has one. A notice has no id and does not move the
// cursor.
func FollowFrame(f wire.Frame, at *wire.Cursor) []byte {
	if f.Cursor == nil {
		f.Cursor = moved(f, *at)
	}
	if f.Cursor != nil {
		*at = *f.Cursor
	}
	return appendFrame(nil, f)
}

// moved returns the cursor after the frame for a reader at c, or nil for a notice.
func moved(f wire.Frame, c wire.Cursor) *wire.Cursor {
	switch {
	case f.Kind == wire.FrameStream:
		c.Stream, c.Offset = f.StreamID, f.Item.Offset
	case f.Kind == wire.FrameSnapshot:
		c = f.Snapshot.Cursor()
	case f.Event.Seq <= 0:
		return nil
	default:
		c.Seq = f.Event.Seq
		if id, err := record.StreamOf(*f.Event); err == nil && f.Event.Type == wire.EntryRunStarted {
			c.Stream, c.Offset = id, wire.Offset{}
		}
	}
	return &c
}

// encode makes the SSE message if it does not exist yet. The hub calls it only while an event stream
// reads the ring, because other clients do not need the message.
func (f *ringFrame) encode() {
	if f.text == nil {
		f.text = appendFrame(nil, f.Frame)
	}
}

// appendFrame writes a frame as a server-sent event.
func appendFrame(b []byte, f wire.Frame) []byte {
	if f.Kind == wire.FrameThread && plainPayload(f.Event) {
		b = slices.Grow(b, entryBytes+len(f.Event.Payload))
		b = appendEntry(appendID(b, f.Cursor), f.Event)
		return append(b, "\n\n"...)
	}
	body, err := f.MarshalJSON()
	if err != nil {
		body = []byte(`{"kind":"error"}`) // stored data always encodes, so this does not happen
	}
	b = appendID(slices.Grow(b, len(body)+96), f.Cursor)
	b = append(b, body...)
	return append(b, "\n\n"...)
}

// appendID appends the id line, if the frame has a cursor, and the start of the data line.
func appendID(b []byte, c *wire.Cursor) []byte {
	if c != nil {
		b = append(b, "id: "...)
		b = append(b, c.String()...)
		b = append(b, '\n')
	}
	return append(b, "data: "...)
}

// plainPayload reports whether the stored payload can be sent unchanged.
func plainPayload(e *wire.Entry) bool {
	return len(e.Payload) > 0 && bytes.IndexByte(e.Payload, '\n') < 0
}

// appendEntry appends the same JSON as [wire.Frame.MarshalJSON], for an entry whose payload is already
// encoded. It takes a fifth of the time, and long replays spend most of their time here. The names and
// ids contain no characters that have to be escaped.
func appendEntry(b []byte, e *wire.Entry) []byte {
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
	if e.Published {
		b = append(b, `,"published":true`...)
	}
	if e.PublishedBy != "" { // a subject may contain any characters
		b = append(b, `,"publishedBy":`...)
		b = append(b, toolresult.JSON(e.PublishedBy)...)
	}
	if e.PublishedByTool != "" {
		b = append(b, `,"publishedByTool":`...)
		b = append(b, toolresult.JSON(e.PublishedByTool)...)
	}
	return append(b, "}}"...)
}

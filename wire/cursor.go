package wire

import (
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

// Cursor is how far a client has read a thread: the last record entry, and the last
// item of the run stream that it was reading.
type Cursor struct {
	// Seq is the last record entry read. Zero or less: none.
	Seq int64
	// Stream is the run stream that is being read. Empty: none.
	Stream StreamID
	// Offset is the last item read of it. Zero: none yet.
	Offset Offset
}

// String returns the wire form "<seq> <streamId> <offset>", with "-" for a missing
// part.
func (c Cursor) String() string {
	var space [96]byte
	return string(c.append(space[:0]))
}

func (c Cursor) append(b []byte) []byte {
	b = strconv.AppendInt(b, c.Seq, 10)
	b = append(b, ' ')
	if c.Stream == "" {
		return append(b, "- -"...)
	}
	b = append(b, c.Stream...)
	b = append(b, ' ')
	if c.Offset.IsZero() {
		return append(b, '-')
	}
	return c.Offset.append(b)
}

// ParseCursor reads the wire form. A bare number is a seq alone. It reports false for a malformed cursor,
// which counts as no cursor.
func ParseCursor(s string) (Cursor, bool) {
	parts := strings.Fields(s)
	if len(parts) == 0 || len(parts) > 3 {
		return Cursor{}, false
	}
	var c Cursor
	if parts[0] != "-1" {
		n, ok := parseCount(parts[0])
		if !ok {
			return Cursor{}, false
		}
		c.Seq = n
	} else {
		c.Seq = -1
	}
	if len(parts) > 1 && parts[1] != "-" {
		c.Stream = StreamID(parts[1])
		if run, _, ok := c.Stream.Split(); !ok || spool.CheckID("runId", string(run)) != nil {
			return Cursor{}, false
		}
	}
	if len(parts) > 2 && parts[2] != "-" {
		offset, ok := ParseOffset(parts[2])
		if !ok || c.Stream == "" {
			return Cursor{}, false
		}
		c.Offset = offset
	}
	return c, true
}

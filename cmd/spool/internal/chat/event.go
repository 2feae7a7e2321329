package chat

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool/wire"
)

// Event returns a frame in one line: its place, its time if it has one, its type and its fields.
func Event(f wire.Frame) string {
	switch {
	case f.Event != nil:
		place := "-"
		if f.Event.Seq > 0 {
			place = strconv.FormatInt(f.Event.Seq, 10)
		}
		return line(place, f.Event.CreatedAt, string(f.Event.Type), f.Event.Payload)
	case f.Item != nil:
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(f.Item.Data, &fields)
		delete(fields, "type")
		delete(fields, "offset")
		delete(fields, "messageId")
		text, _ := json.Marshal(fields) //nolint:errchkjson // it was JSON before
		return line("  "+f.Item.Offset.String(), time.Time{}, string(f.Item.Type), text)
	case f.Snapshot != nil:
		s := f.Snapshot
		return line("=", time.Time{}, "snapshot",
			rawLine(fmt.Sprintf("%s, %d messages, through entry %d", s.Thread.State, len(s.Messages), s.LastEventSeq)))
	default:
		return string(f.Kind)
	}
}

func rawLine(text string) json.RawMessage {
	b, _ := json.Marshal(text) //nolint:errchkjson // a text has a JSON form
	return b
}

func line(place string, at time.Time, kind string, fields json.RawMessage) string {
	clock := strings.Repeat(" ", len(time.TimeOnly))
	if !at.IsZero() {
		clock = here(at).Format(time.TimeOnly)
	}
	return strings.TrimRight(fmt.Sprintf("%-7s %s %-22s %s", place, clock, Line(kind, 60), oneLine(fields, lineWidth)),
		" ")
}

package chat

import (
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

const (
	// callWeight is what a call counts besides its arguments, so that there is a bound on the
	// calls of an answer too.
	callWeight = 4 << 10
)

// bound counts what an answer takes.
type bound struct {
	left int // bytes
	// exceeded is true once the answer was cut because of the bound.
	exceeded bool
}

// take returns what of an event has room, nil for nothing, and whether that is all of it.
// Streamed is how much of a call's arguments has come before its end.
func (b *bound) fit(event spool.ModelEvent, streamed int) (spool.ModelEvent, bool) {
	size := 1 // also an event that says nothing takes time
	switch ev := event.(type) {
	case spool.TextDelta:
		if size += len(ev.Text); size > b.left {
			event = spool.TextDelta{Text: head(ev.Text, b.left)}
		}
	case spool.ReasoningDelta:
		if size += len(ev.Text); size > b.left {
			event = spool.ReasoningDelta{Text: head(ev.Text, b.left)}
		}
	case spool.ReasoningEnd:
		size += len(ev.Provider)
	case spool.ToolCallStart:
		size += callWeight + len(ev.ID) + len(ev.Name)
	case spool.ToolCallDelta:
		size += len(ev.Args)
	case spool.ToolCallEnd:
		size += max(0, len(ev.Args)-streamed) + len(ev.Provider)
	case spool.Finish:
		return event, true
	}
	if size <= b.left {
		b.left -= size
		return event, true
	}
	b.left, b.exceeded = 0, true
	switch event.(type) {
	case spool.TextDelta, spool.ReasoningDelta:
		return event, false
	default:
		return nil, false
	}
}

// head returns the first n bytes of a text, without half of a character.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:max(n, 0)]
}

// openCall is a call whose arguments are still to come.
type openCall struct {
	id   spool.ToolCallID
	name string
	args []byte
	nth  int // of the answer's calls
}

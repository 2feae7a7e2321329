package chat

import (
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

const (
	// callWeight is the size of a call without its arguments. So the bound also limits the number of
	// calls.
	callWeight = 4 << 10
)

// bound limits the size of an answer.
type bound struct {
	left int // bytes
	// exceeded is true once the bound has cut the answer.
	exceeded bool
}

// fit returns the part of an event that fits, or nil, and reports whether that is the whole event.
// Streamed is how many bytes of a call's arguments came before the event that ends the call.
func (b *bound) fit(event spool.ModelEvent, streamed int) (spool.ModelEvent, bool) {
	size := 1 // an empty event takes time too
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
	case spool.TextEnd:
		size += len(ev.Provider)
	case spool.Source:
		size += len(ev.URL) + len(ev.Title)
	case spool.ProviderPart:
		size += len(ev.Provider)
	case spool.FileMade: // the store of artifacts bounds the data
		size += callWeight + len(ev.Provider)
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

// head returns at most the first n bytes of a text, without a partial character.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:max(n, 0)]
}

// openCall is a call whose arguments are incomplete.
type openCall struct {
	id   spool.ToolCallID
	name string
	args []byte
	nth  int // its index among the answer's calls
}

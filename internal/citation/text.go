package citation

import (
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

// Text counts the characters of an answer's text, so that a provider's positions in a piece of the answer become
// positions in all of it.
type Text struct{ runes int }

// Watch returns an emit function that counts the text of the events.
func (t *Text) Watch(emit func(spool.ModelEvent) error) func(spool.ModelEvent) error {
	return func(event spool.ModelEvent) error {
		if delta, ok := event.(spool.TextDelta); ok {
			t.runes += utf8.RuneCountInString(delta.Text)
		}
		return emit(event)
	}
}

// Len returns the number of characters so far.
func (t *Text) Len() int { return t.runes }

// Spans returns the span from one position to another, or none if they are no piece of a text. Both count from base.
func Spans(base, from, to int) []spool.Span {
	if base < 0 || from < 0 || to <= from || to > 1<<30 {
		return nil
	}
	return []spool.Span{{Start: base + from, End: base + to}}
}

// Runes returns how many characters of a text stand before each of some positions in bytes. A position that is not
// between two characters of the text has none.
func Runes(text string, positions []int) map[int]int {
	at := make(map[int]int, len(positions))
	for _, p := range positions {
		at[p] = -1
	}
	n := 0
	for i := range text {
		if _, asked := at[i]; asked {
			at[i] = n
		}
		n++
	}
	if _, asked := at[len(text)]; asked {
		at[len(text)] = n
	}
	for p, runes := range at {
		if runes < 0 {
			delete(at, p)
		}
	}
	return at
}

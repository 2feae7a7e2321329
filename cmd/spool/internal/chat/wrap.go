package chat

import (
	"strings"
	"unicode"
)

// wrapper breaks lines between words while their text comes in pieces. A word that turns out not to fit is taken back
// from the end of its line, and begins the next one. The zero value is at the beginning of a line.
type wrapper struct {
	// at is the column, from 0.
	at int
	// word is what the line has of the word at its end.
	word []rune
}

// add returns what to write for a piece of text. Each new line begins with the indent. A width of 0 breaks no line.
func (w *wrapper) add(text string, width int, indent string) string {
	if width = width - 1 - len(indent); width <= 0 { // a terminal does not step back from behind its last column
		return strings.ReplaceAll(text, "\n", "\n"+indent)
	}
	width += len(indent)
	var b strings.Builder
	line := func() {
		b.WriteString("\n" + indent)
		w.at = len(indent)
	}
	for _, r := range text {
		size := columns(r)
		switch {
		case r == '\n':
			line()
			w.word = nil
			continue
		case r == ' ' || r == '\t':
			w.word = nil
			if w.at < width {
				b.WriteByte(' ')
				w.at++
			}
			continue
		case w.at+size <= width:
		case len(w.word) > 0 && len(indent)+columnsOf(w.word)+size <= width:
			b.WriteString(strings.Repeat("\b \b", columnsOf(w.word)))
			line()
			b.WriteString(string(w.word))
			w.at += columnsOf(w.word)
		default:
			line()
			w.word = nil
		}
		b.WriteRune(r)
		w.at += size
		if size > 1 { // text of East Asia breaks everywhere
			w.word = nil
		} else {
			w.word = append(w.word, r)
		}
	}
	return b.String()
}

// columns returns how many columns a character takes.
func columns(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r), r == 0x200d:
		return 0
	case wide(r):
		return 2
	default:
		return 1
	}
}

func columnsOf(word []rune) (n int) {
	for _, r := range word {
		n += columns(r)
	}
	return n
}

package body

import (
	"bytes"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// lexer reads the tokens of JSON. Its read methods return false if reading cannot continue.
type lexer struct {
	data []byte
	pos  int
	// loose accepts texts with flaws.
	loose bool
	// broken is set when the text is not JSON, and is then the only fault.
	broken  *fault.Fault
	scratch []byte // a string without its escapes
}

// syntax reports text that is not JSON.
func (x *lexer) syntax(reason string) bool {
	f := fault.JSON(fault.Body, x.pos, reason)
	x.broken = &f

	return false
}

// space passes over white space.
func (x *lexer) space() {
	for x.pos < len(x.data) {
		switch x.data[x.pos] {
		case ' ', '\t', '\r', '\n':
			x.pos++
		default:
			return
		}
	}
}

// word reads one of true, false and null.
func (x *lexer) word(want string) bool {
	for i := range len(want) {
		if x.pos == len(x.data) {
			return x.syntax("unexpected end of the text")
		}
		if x.data[x.pos] != want[i] {
			return x.syntax("expected " + want)
		}
		x.pos++
	}

	return true
}

// next continues after an item of a list or object that ends with end. It reports whether there is another
// item, and whether reading can continue.
func (x *lexer) next(end byte) (more, ok bool) {
	x.space()
	if x.pos == len(x.data) {
		return false, x.syntax("unexpected end of the text")
	}

	switch x.data[x.pos] {
	case ',':
		x.pos++
		x.space()
		if x.pos < len(x.data) && x.data[x.pos] == end {
			return false, x.syntax("unexpected comma")
		}

		return true, true
	case end:
		return false, true
	}

	return false, x.syntax("expected a comma or the end of the list or object")
}

// empty reports whether the list or object that was just entered is empty.
func (x *lexer) empty(end byte) bool { return x.pos < len(x.data) && x.data[x.pos] == end }

// key reads a key and the colon after it. The result is valid until the next string is read.
func (x *lexer) key() ([]byte, flaw, bool) {
	if x.pos == len(x.data) {
		return nil, flawless, x.syntax("unexpected end of the text")
	}
	if x.data[x.pos] != '"' {
		return nil, flawless, x.syntax("expected a key in quotes")
	}

	l, ok := x.quoted()
	if !ok {
		return nil, flawless, false
	}
	x.space()
	if x.pos == len(x.data) {
		return nil, flawless, x.syntax("unexpected end of the text")
	}
	if x.data[x.pos] != ':' {
		return nil, flawless, x.syntax("expected a colon after a key")
	}
	x.pos++
	x.space()

	if l.escaped || l.flaw != flawless {
		// Other strings are read before the key is used.
		return bytes.Clone(x.plain(l)), x.refused(l.flaw), true
	}

	return l.raw, flawless, true
}

// refused returns the flaw, unless texts with flaws are accepted.
func (x *lexer) refused(f flaw) flaw {
	if x.loose {
		return flawless
	}

	return f
}

// Package plainjson reads JSON of a known form in one pass, without reflection. It is for the frames of streams,
// nearly all of which have the same few fields. What it reads, it reads as [encoding/json] does. It fails for
// everything unexpected, also for much that is valid, so the caller can read the text again with
// encoding/json.
package plainjson

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fields are the keys of an object that were read so far.
type Fields struct {
	keys [16]string
	n    int
}

// add adds a key and reports whether it is new.
func (f *Fields) add(key string) bool {
	if f.n == len(f.keys) || slices.Contains(f.keys[:f.n], key) {
		return false
	}
	f.keys[f.n] = key
	f.n++
	return true
}

// Reader reads JSON from a text. After the first unexpected byte, it has failed and moves to the
// end of the text.
type Reader struct {
	text  string
	at    int
	fresh bool // no element of the innermost object or list was read yet
	bad   bool
}

// New returns a reader of a text that has one JSON value.
func New(text string) *Reader { return &Reader{text: text} }

// Fail makes the reader fail.
func (r *Reader) Fail() { r.at, r.bad = len(r.text), true }

// End reports whether the text was read to its end without a failure.
func (r *Reader) End() bool {
	r.space()
	return !r.bad && r.at == len(r.text)
}

func (r *Reader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return
		}
	}
}

// peek returns the next byte that is not a space, or 0 at the end.
func (r *Reader) peek() byte {
	r.space()
	if r.at == len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// skip reads the byte c.
func (r *Reader) skip(c byte) {
	if r.peek() != c {
		r.Fail()
		return
	}
	r.at++
}

// Open reads the opening byte c of an object or a list.
func (r *Reader) Open(c byte) {
	r.skip(c)
	r.fresh = true
}

// More reports whether the innermost object or list has another element. It reads the comma before the
// element, or the end of the object or list.
func (r *Reader) More(end byte) bool {
	switch c := r.peek(); {
	case c == end && !r.bad:
		r.at++
		r.fresh = false
		return false
	case r.fresh && c != 0:
		r.fresh = false
		return true
	case c == ',':
		r.at++
		return true
	default:
		r.Fail()
		return false
	}
}

// Key reads a key and its colon. It fails for a key that the object already had.
func (r *Reader) Key(seen *Fields) string {
	key := r.Str()
	if !seen.add(key) {
		r.Fail()
	}
	r.skip(':')
	return key
}

// Str reads a string.
func (r *Reader) Str() string {
	r.skip('"')
	start, ascii, escaped := r.at, true, false
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			text := r.text[start:r.at]
			r.at++
			switch {
			case escaped:
				return r.unquoted(r.text[start-1 : r.at])
			case !ascii && !utf8.ValidString(text):
				r.Fail()
				return ""
			}
			return text
		case c == '\\':
			escaped = true
			r.at++
		case c < ' ':
			r.Fail()
			return ""
		case c >= utf8.RuneSelf:
			ascii = false
		}
		r.at++
	}
	r.Fail()
	return ""
}

// unquoted returns the text of a string with escapes.
func (r *Reader) unquoted(quoted string) string {
	if text, ok := unescape(quoted[1 : len(quoted)-1]); ok {
		return text
	}
	var text string
	if json.Unmarshal([]byte(quoted), &text) != nil || strings.ContainsRune(text, utf8.RuneError) {
		r.Fail() // perhaps half a character, which package surrogate reads
	}
	return text
}

// unescape replaces escapes of one character. It returns false for a text with other escapes or with
// invalid UTF-8.
func unescape(s string) (string, bool) {
	const letters, characters = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	b := make([]byte, 0, len(s))
	for {
		before, after, found := strings.Cut(s, `\`)
		b = append(b, before...)
		if !found {
			return string(b), utf8.Valid(b)
		}
		at := -1
		if after != "" {
			at = strings.IndexByte(letters, after[0])
		}
		if at < 0 {
			return "", false
		}
		b, s = append(b, characters[at]), after[1:]
	}
}

// IsNull reads a null if it comes next, and reports whether it did.
func (r *Reader) IsNull() bool {
	if r.peek() != 'n' {
		return false
	}
	r.Null()
	return true
}

// Null reads a null.
func (r *Reader) Null() { r.word("null") }

func (r *Reader) word(word string) {
	r.space()
	if !strings.HasPrefix(r.text[r.at:], word) {
		r.Fail()
		return
	}
	r.at += len(word)
}

// NullOrStr reads a string, or a null as an empty string.
func (r *Reader) NullOrStr() string {
	if r.IsNull() {
		return ""
	}
	return r.Str()
}

// None reads a null or an empty list.
func (r *Reader) None() {
	if r.IsNull() {
		return
	}
	r.skip('[')
	r.skip(']')
}

// Scalar reads a value that is neither an object nor a list. It returns the text of a number.
func (r *Reader) Scalar() string {
	switch r.peek() {
	case '"':
		r.Str()
	case 'n':
		r.Null()
	case 't':
		r.word("true")
	case 'f':
		r.word("false")
	default:
		return r.Number()
	}
	return ""
}

// Number reads a number.
func (r *Reader) Number() string {
	start := r.at
	r.at += len(r.text[r.at:]) - len(strings.TrimLeft(r.text[r.at:], "+-.0123456789eE"))
	number := r.text[start:r.at]
	for _, c := range []byte(number) {
		if c < '0' || c > '9' { // rare: a sign, a fraction or an exponent
			if !json.Valid([]byte(number)) {
				r.Fail()
			}
			return number
		}
	}
	if number == "" || number[0] == '0' && number != "0" {
		r.Fail()
	}
	return number
}

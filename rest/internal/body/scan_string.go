package body

import (
	"bytes"
	"encoding/base64"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// literal is a string of the document, without its quotes.
type literal struct {
	raw     []byte
	escaped bool // has escapes
	ascii   bool // has only ASCII
	flaw    flaw
}

// flaw is a defect of a text that JSON allows and programs should not get. encoding/json replaces invalid
// Unicode, so two different texts become equal, and databases refuse NUL.
type flaw uint8

const (
	flawless  flaw = iota
	hasNUL         // the character U+0000
	noUnicode      // bytes that are not UTF-8, or half of a surrogate pair
)

// fault returns the flaw as a fault.
func (f flaw) fault(in string, path []any) fault.Fault {
	if f == hasNUL {
		return fault.NUL(in, path)
	}

	return fault.Unicode(in, path)
}

// quoted reads the string at pos, which is a quote.
func (x *lexer) quoted() (literal, bool) {
	data, start := x.data, x.pos+1
	var or byte
	worst := flawless
	escaped := false

	for i := start; i < len(data); i++ {
		c := data[i]
		switch {
		case c == '"':
			x.pos = i + 1
			if or >= utf8.RuneSelf && !utf8.Valid(data[start:i]) {
				worst = noUnicode
			}

			return literal{raw: data[start:i], escaped: escaped, ascii: or < utf8.RuneSelf, flaw: worst}, true
		case c == '\\':
			escaped = true
			n := escapeLength(data[i:])
			if n == 0 {
				x.pos = i
				return literal{}, x.syntax("invalid escape in a string")
			}
			if n == unitLength {
				length, found := unit(data[i:])
				n, worst = length, max(worst, found)
			}
			i += n - 1
		case c < ' ':
			x.pos = i
			return literal{}, x.syntax("control character in a string")
		}
		or |= c
	}
	x.pos = len(data)

	return literal{}, x.syntax("unexpected end of the text")
}

// escapeLength returns the length of the escape at the start of b, or 0 without one.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}

	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if hex(c) < 0 {
				return 0
			}
		}

		return 6
	}

	return 0
}

// unitLength is the length of an escape such as \u00e9.
const unitLength = 6

// unit returns the length of the character at the start of b, which is one escape of unitLength or two, and
// its flaw.
func unit(b []byte) (int, flaw) {
	switch r := codeUnit(b); {
	case r == 0:
		return unitLength, hasNUL
	case !utf16.IsSurrogate(r):
		return unitLength, flawless
	case escapeLength(b[unitLength:]) == unitLength &&
		utf16.DecodeRune(r, codeUnit(b[unitLength:])) != unicode.ReplacementChar:
		return 2 * unitLength, flawless
	}

	return unitLength, noUnicode
}

// plain returns the text of the literal as encoding/json reads it: invalid UTF-8 becomes U+FFFD. The result
// is valid until the next call.
func (x *lexer) plain(l literal) []byte {
	if !l.escaped && (l.ascii || utf8.Valid(l.raw)) {
		return l.raw
	}

	out, in := x.scratch[:0], l.raw
	for len(in) > 0 {
		switch c := in[0]; {
		case c == '\\':
			var n int
			out, n = unescape(out, in)
			in = in[n:]
		case c < utf8.RuneSelf:
			out = append(out, c)
			in = in[1:]
		default:
			r, n := utf8.DecodeRune(in)
			out = utf8.AppendRune(out, r)
			in = in[n:]
		}
	}
	x.scratch = out

	return out
}

// unescape appends the character of the escape at the start of in, and returns the length of the escape.
func unescape(out, in []byte) ([]byte, int) {
	switch in[1] {
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'u':
		r := codeUnit(in)
		if utf16.IsSurrogate(r) {
			if len(in) >= 12 && in[6] == '\\' && in[7] == 'u' {
				if pair := utf16.DecodeRune(r, codeUnit(in[6:])); pair != unicode.ReplacementChar {
					return utf8.AppendRune(out, pair), 12
				}
			}
			r = unicode.ReplacementChar
		}

		return utf8.AppendRune(out, r), 6
	}

	return append(out, in[1]), 2
}

func codeUnit(in []byte) rune {
	var r rune
	for _, c := range in[2:6] {
		r = r<<4 | hex(c)
	}

	return r
}

func hex(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}

	return -1
}

// text reads a string value.
func (s *scanner) text(n *node, to unsafe.Pointer) bool {
	l, ok := s.quoted()
	if !ok {
		return false
	}
	if s.refused(l.flaw) != flawless {
		return s.report(l.flaw.fault(fault.Body, s.where()))
	}
	if n.text != nil && !s.checkText(n.text, l) {
		return false
	}

	switch {
	case n.kind == kindBytes:
		value, ok := s.base64(l)
		if !ok {
			return s.report(fault.Format(fault.Body, s.where(), "byte"))
		}
		if to != nil {
			*(*[]byte)(to) = bytes.Clone(value)
		}
	case to != nil:
		*(*string)(to) = string(s.plain(l))
	}

	return true
}

// checkText checks a string against its rule.
func (s *scanner) checkText(rule *textRule, l literal) bool {
	content := l.raw
	if l.escaped || !l.ascii && (rule.pattern != nil || rule.format != nil || rule.enum != nil) {
		content = s.plain(l)
	}

	if rule.minLength > 0 || rule.maxLength >= 0 {
		length := len(content)
		if !l.ascii || l.escaped {
			length = utf8.RuneCount(content)
		}
		if length < rule.minLength && !s.refuse(rule.minFault) {
			return false
		}
		if rule.maxLength >= 0 && length > rule.maxLength && !s.refuse(rule.maxFault) {
			return false
		}
	}

	if rule.pattern != nil && !rule.pattern.Match(content) && !s.refuse(rule.patternFault) {
		return false
	}
	if rule.format != nil && !rule.format(view(content)) && !s.refuse(fault.WithText(rule.formatFault, view(content))) {
		return false
	}
	if rule.enum != nil && !slices.Contains(rule.enum, view(content)) {
		return s.refuse(rule.enumFault)
	}

	return true
}

// base64 returns the bytes of the literal as encoding/json reads it into a []byte. They are never nil, and
// valid until the next call.
func (x *lexer) base64(l literal) ([]byte, bool) {
	x.scratch = x.scratch[:0]
	content := x.plain(l)
	size := base64.StdEncoding.DecodedLen(len(content))
	// The buffer follows content, which may itself be in scratch.
	room := slices.Grow(x.scratch, size+1)
	n, err := base64.StdEncoding.Decode(room[len(room):len(room)+size], content)
	value := room[len(room) : len(room)+n]
	x.scratch = room[:0]

	return value, err == nil
}

// fold appends key to out in one case, by the rules of encoding/json: keys with the same fold are the same
// key to it.
func fold(out, key []byte) []byte {
	for i := 0; i < len(key); {
		if c := key[i]; c < utf8.RuneSelf {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			out = append(out, c)
			i++

			continue
		}

		r, n := utf8.DecodeRune(key[i:])
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				r = next
				break
			}
			r = next
		}
		out = utf8.AppendRune(out, r)
		i += n
	}

	return out
}

// Package surrogate joins characters whose halves arrive in two pieces of a text.
//
// A gateway written in JavaScript can divide an emoji between two pieces: "\ud83d" and "\ude00". JSON allows such escapes,
// but a string of Go cannot hold them, so [encoding/json] puts U+FFFD in the place of each. Mark saves the halves before the
// JSON is decoded, and Joiner joins them afterwards.
package surrogate

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The characters that stand for halves are of the last private plane. The first byte of their UTF-8 form is lead.
const (
	highs = 0x10F400
	lows  = highs + halves
	ends  = lows + halves

	halves = 0x400
	lead   = 0xF4

	firstHigh, firstLow = 0xD800, 0xDC00
	escape              = len(`\u0000`)
)

// Mark replaces the escape of each half that stands alone by the escape of a character that stands for it. It reports
// whether the JSON has one.
func Mark(json string) (marked string, found bool) {
	at := strings.Index(json, `\u`)
	if at < 0 {
		return json, false
	}
	var b strings.Builder
	from := 0 // what is before it is in b
	for at = strings.IndexByte(json, '\\'); at >= 0 && at < len(json); {
		half := unit(json[at:])
		switch {
		case half < 0:
			at += 2 // the escape of another character
		case !utf16.IsSurrogate(half):
			at += escape
		case half < firstLow && isLow(unit(json[at+escape:])):
			at += 2 * escape
		default:
			first, second := utf16.EncodeRune(highs + half - firstHigh)
			b.WriteString(json[from:at])
			b.WriteString(`\u` + strconv.FormatInt(int64(first), 16) + `\u` + strconv.FormatInt(int64(second), 16))
			at += escape
			from = at
		}
		if at >= len(json) {
			break
		}
		next := strings.IndexByte(json[at:], '\\')
		if next < 0 {
			break
		}
		at += next
	}
	if from == 0 {
		return json, false
	}
	return b.String() + json[from:], true
}

func isLow(r rune) bool { return r >= firstLow && r < firstLow+halves }

// unit returns the number of the escape at the beginning of a text, or -1 if there is none.
func unit(text string) rune {
	if len(text) < escape || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(text[2:escape], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// Joiner joins the halves in the pieces of one text, which was decoded from what [Mark] returned. The zero value is ready.
type Joiner struct {
	high rune // the first half at the end of the last piece, or zero
}

// Join returns the next piece. It keeps a first half at the end of the piece until the next one.
func (j *Joiner) Join(piece string) string {
	if piece == "" || j.high == 0 && strings.IndexByte(piece, lead) < 0 {
		return piece
	}
	var b strings.Builder
	for _, r := range piece {
		if high := j.high; high != 0 {
			j.high = 0
			if r >= lows && r < ends {
				b.WriteRune(utf16.DecodeRune(high, r-lows+firstLow))
				continue
			}
			b.WriteRune(utf8.RuneError)
		}
		switch {
		case r >= highs && r < lows:
			j.high = r - highs + firstHigh
		case r >= lows && r < ends:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// End returns what stands for a first half without a second one, or "".
func (j *Joiner) End() string {
	if j.high == 0 {
		return ""
	}
	j.high = 0
	return string(utf8.RuneError)
}

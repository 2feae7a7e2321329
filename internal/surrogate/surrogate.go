// Package surrogate joins the halves of characters that a server cut in two.
//
// JSON escapes a character outside of the first 65,536 as a pair of surrogates, such as "\ud83d\ude00". Servers that
// count in UTF-16 send the two halves in two pieces of a stream, and encoding/json replaces each half with U+FFFD.
// Here, an adapter reads its texts as [Text], which keeps a half, and emits its events through [Joined].
package surrogate

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/plainjson"
)

const (
	// escapeSize is the size of an escape such as \ud83d, and halfSize that of a half in a [Text].
	escapeSize, halfSize = 6, 3
	// firstByte is the first byte of each half in a [Text].
	firstByte = 0xED
)

// Text is a text as [Decode] returns it.
type Text string

// UnmarshalJSON accepts any JSON.
func (t *Text) UnmarshalJSON(raw []byte) error {
	*t = Text(Decode(raw))
	return nil
}

// Decode returns the text of a JSON string, "" for null, and any other JSON unchanged. A half without its other half
// becomes three bytes that are not UTF-8. [Valid] and [Joined] make such a text valid.
func Decode(raw []byte) string {
	quoted := string(raw)
	if r := plainjson.New(quoted); len(raw) > 0 && raw[0] == '"' {
		if text := r.Str(); r.End() { // nearly every text
			return text
		}
	}
	var text *string
	switch {
	case json.Unmarshal(raw, &text) != nil:
		return quoted
	case text == nil:
		return ""
	}
	return unquote(strings.Trim(quoted, " \t\r\n"))
}

// unquote returns the text of a JSON string.
func unquote(quoted string) string {
	inner := quoted[1 : len(quoted)-1]
	var b strings.Builder
	for {
		at := lone(inner)
		if at < 0 {
			b.WriteString(plain(inner))
			return b.String()
		}
		b.WriteString(plain(inner[:at]))
		half := unit(inner[at:])
		b.Write([]byte{firstByte, 0x80 | byte(half>>6&0x3F), 0x80 | byte(half&0x3F)})
		inner = inner[at+escapeSize:]
	}
}

// plain returns the text of a part of a JSON string.
func plain(inner string) string {
	var text string
	if json.Unmarshal([]byte(`"`+inner+`"`), &text) != nil {
		return inner // never: the caller has read the whole string
	}
	return text
}

// lone returns the index of the first escape that is a half without its other half, or -1.
func lone(inner string) int {
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			continue
		}
		switch r := unit(inner[i:]); {
		case !utf16.IsSurrogate(r):
			i++ // the next byte may be a backslash too
		case utf16.DecodeRune(r, unit(inner[i+escapeSize:])) == utf8.RuneError:
			return i
		default:
			i += 2*escapeSize - 1
		}
	}
	return -1
}

// unit returns the code unit of the \u escape at the beginning of a text, or -1 if there is none.
func unit(text string) rune {
	if len(text) < escapeSize || text[:2] != `\u` {
		return -1
	}
	n, err := strconv.ParseUint(text[2:escapeSize], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// half returns the half at the beginning of a text, or -1 if there is none.
func half(text string) rune {
	if len(text) < halfSize || text[0] != firstByte || text[1] < 0xA0 || text[1] > 0xBF || text[2]&0xC0 != 0x80 {
		return -1
	}
	return 0xD000 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F)
}

// Valid joins the halves that stand next to each other in a text, and replaces each other half with U+FFFD.
func Valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	b := make([]byte, 0, len(text))
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		if first := half(text); first >= 0 {
			r, size = utf16.DecodeRune(first, half(text[halfSize:])), 2*halfSize
			if r == utf8.RuneError {
				size = halfSize
			}
		}
		b, text = utf8.AppendRune(b, r), text[size:]
	}
	return string(b)
}

// Len returns the size of a text when its halves are joined.
func Len(text string) int {
	n := len(text)
	for {
		at := strings.IndexByte(text, firstByte)
		if at < 0 {
			return n
		}
		if half(text[at:]) >= 0 {
			n-- // a pair has four bytes, and its halves have three each
		}
		text = text[at+1:]
	}
}

// join returns a held half and a piece as a valid text, without the half at its end that a later piece may complete.
func join(held, piece string) (whole, remaining string) {
	if held == "" && strings.IndexByte(piece, firstByte) < 0 {
		return piece, ""
	}
	text := held + piece
	if at := len(text) - halfSize; at >= 0 {
		if r := half(text[at:]); r >= 0 && r < 0xDC00 {
			text, remaining = text[:at], text[at:]
		}
	}
	return Valid(text), remaining
}

// Joined returns a function that emits the events of one answer with valid texts and arguments. It holds a first half
// back until its other half comes.
func Joined(emit func(spool.ModelEvent) error) func(spool.ModelEvent) error {
	return (&joiner{emit: emit}).add
}

type joiner struct {
	emit func(spool.ModelEvent) error
	// held is the half at the end of the open text, or of the open reasoning if inReasoning is true.
	held        string
	inReasoning bool
	// args are the halves at the ends of the arguments of open calls. It is nil while there are none.
	args map[spool.ToolCallID]string
}

func (j *joiner) add(event spool.ModelEvent) error {
	switch e := event.(type) {
	case spool.TextDelta:
		return j.emitText(event, e.Text, false)
	case spool.ReasoningDelta:
		return j.emitText(event, e.Text, true)
	case spool.UsageSeen, spool.ResumePoint, spool.Source: // these may come within a text
		return j.emit(event)
	}
	if err := j.flush(); err != nil {
		return err
	}
	switch e := event.(type) {
	case spool.ToolCallStart:
		e.Name = Valid(e.Name)
		return j.emit(e)
	case spool.ToolCallDelta:
		return j.argue(e)
	case spool.ToolCallEnd:
		return j.endCall(e)
	}
	return j.emit(event)
}

func (j *joiner) emitText(event spool.ModelEvent, piece string, reasoning bool) error {
	if j.inReasoning != reasoning {
		if err := j.flush(); err != nil {
			return err
		}
		j.inReasoning = reasoning
	}
	whole, remaining := join(j.held, piece)
	j.held = remaining
	switch whole {
	case piece:
		return j.emit(event)
	case "":
		return nil
	}
	return j.emit(j.delta(whole))
}

func (j *joiner) delta(text string) spool.ModelEvent {
	if j.inReasoning {
		return spool.ReasoningDelta{Text: text}
	}
	return spool.TextDelta{Text: text}
}

// flush emits the half at the end of a text that has ended.
func (j *joiner) flush() error {
	if j.held == "" {
		return nil
	}
	text := Valid(j.held)
	j.held = ""
	return j.emit(j.delta(text))
}

func (j *joiner) argue(e spool.ToolCallDelta) error {
	whole, remaining := join(j.args[e.ID], e.Args)
	if remaining != "" && j.args == nil {
		j.args = make(map[spool.ToolCallID]string)
	}
	if j.args != nil {
		j.args[e.ID] = remaining
	}
	if whole == "" && e.Args != "" {
		return nil
	}
	e.Args = whole
	return j.emit(e)
}

func (j *joiner) endCall(e spool.ToolCallEnd) error {
	if remaining := j.args[e.ID]; remaining != "" {
		delete(j.args, e.ID)
		if err := j.emit(spool.ToolCallDelta{ID: e.ID, Args: Valid(remaining)}); err != nil {
			return err
		}
	}
	e.Name, e.Args = Valid(e.Name), Valid(e.Args)
	return j.emit(e)
}

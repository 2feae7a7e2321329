package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Most items of a stream are pieces of text. This file writes and reads their JSON without reflection, with
// the result of [encoding/json].

// AppendJSON appends the delta as JSON to b.
func (d Delta) AppendJSON(b []byte) []byte { return append(d.appendFields(append(b, '{')), '}') }

func (d Delta) appendFields(b []byte) []byte {
	b = appendText(append(b, `"messageId":`...), d.MessageID)
	return appendText(append(b, `,"delta":`...), d.Delta)
}

// AppendJSON appends the block as JSON to b.
func (k Block) AppendJSON(b []byte) []byte { return append(k.appendFields(append(b, '{')), '}') }

func (k Block) appendFields(b []byte) []byte {
	b = appendText(append(b, `"messageId":`...), k.MessageID)
	if k.Role != "" {
		b = appendText(append(b, `,"role":`...), string(k.Role))
	}
	return b
}

// AppendJSON appends the fragment as JSON to b.
func (a ToolArgs) AppendJSON(b []byte) []byte { return append(a.appendFields(append(b, '{')), '}') }

func (a ToolArgs) appendFields(b []byte) []byte {
	b = appendText(append(b, `"toolCallId":`...), string(a.ToolCallID))
	return appendText(append(b, `,"delta":`...), a.Delta)
}

func (e SubagentEvent) appendFields(b []byte) []byte {
	if !e.wrapped {
		body := mustJSON(e)
		return append(b, body[1:len(body)-1]...)
	}
	b = appendText(append(b, `"subagentId":`...), string(e.SubagentID))
	return append(append(b, `,"event":`...), e.Event...)
}

// appendItem returns an object with the type and then the fields of payload, without the closing brace. It
// leaves room for the rest.
func appendItem(t ItemType, payload any, room int) []byte {
	if t != ItemTextContent { // the fast path for the most frequent type
		mustBe(itemTypes[t], string(t), payload)
	}
	size, fields := len(`{"type":""`)+len(t)+room, []byte(nil)
	switch p := payload.(type) {
	case Delta:
		size += len(`,"messageId":"","delta":""`) + len(p.MessageID) + len(p.Delta)
	case Block:
		size += len(`,"messageId":"","role":""`) + len(p.MessageID) + len(p.Role)
	case ToolArgs:
		size += len(`,"toolCallId":"","delta":""`) + len(p.ToolCallID) + len(p.Delta)
	case SubagentEvent:
		size += len(`,"subagentId":"","event":`) + len(p.SubagentID) + len(p.Event)
	case nil:
	default:
		body := mustJSON(payload)
		fields = body[1 : len(body)-1]
		size += 1 + len(fields)
	}
	b := make([]byte, 0, size)
	b = append(append(append(b, `{"type":"`...), t...), '"')
	switch p := payload.(type) {
	case Delta:
		return p.appendFields(append(b, ','))
	case Block:
		return p.appendFields(append(b, ','))
	case ToolArgs:
		return p.appendFields(append(b, ','))
	case SubagentEvent:
		return p.appendFields(append(b, ','))
	}
	if len(fields) > 0 {
		b = append(append(b, ','), fields...)
	}
	return b
}

const hexDigits = "0123456789abcdef"

// appendText appends a text as [json.Marshal] writes it.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if escape := asciiEscapes[c]; escape != "" {
				b = append(append(b, s[from:i]...), escape...)
				from = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[from:i]...), `\ufffd`...)
			from = i + size
		case r == '\u2028' || r == '\u2029':
			b = append(append(b, s[from:i]...), `\u202`...)
			b = append(b, hexDigits[r&0xf])
			from = i + size
		}
		i += size
	}
	return append(append(b, s[from:]...), '"')
}

// asciiEscapes are the escapes of ASCII characters in JSON. Empty: the character itself.
var asciiEscapes = func() (all [utf8.RuneSelf]string) {
	for c := range byte(' ') {
		all[c] = `\u00` + string(hexDigits[c>>4]) + string(hexDigits[c&0xf])
	}
	for _, c := range []byte("<>&") {
		all[c] = `\u00` + string(hexDigits[c>>4]) + string(hexDigits[c&0xf])
	}
	all['\b'], all['\f'], all['\n'], all['\r'], all['\t'] = `\b`, `\f`, `\n`, `\r`, `\t`
	all['"'], all['\\'] = `\"`, `\\`
	return all
}()

// itemText reads the JSON of an item that [NewItem] wrote. It fails at the first unexpected text, and stays
// failed.
type itemText struct {
	text []byte
	bad  bool
}

// textOf begins to read an item of one of these types, after its type.
func textOf(i Item) itemText {
	t := itemText{text: i.Data}
	t.skip(`{"type":"`)
	t.skip(string(i.Type))
	t.skip(`"`)
	return t
}

func (t *itemText) skip(text string) {
	if !t.take(text) {
		t.bad = true
	}
}

// take reads a text, if it comes next.
func (t *itemText) take(text string) bool {
	if len(t.text) < len(text) || string(t.text[:len(text)]) != text {
		return false
	}
	t.text = t.text[len(text):]
	return true
}

// readField reads the next field, if it has that name.
func readField[T ~string](t *itemText, name string, into *T) {
	if !t.take(name) {
		return
	}
	end := bytes.IndexByte(t.text, '"')
	if end < 0 {
		t.bad = true
		return
	}
	if raw := t.text[:end]; isPlain(raw) {
		t.text = t.text[end+1:]
		*into = T(raw)
		return
	}
	*into = T(t.escaped())
}

// escaped reads the rest of a string with escapes or invalid text.
func (t *itemText) escaped() string {
	end := 0
	for end < len(t.text) && t.text[end] != '"' {
		if t.text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(t.text) {
		t.bad = true
		return ""
	}
	quoted := make([]byte, 0, end+2)
	quoted = append(append(append(quoted, '"'), t.text[:end]...), '"')
	t.text = t.text[end+1:]
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		t.bad = true
	}
	return text
}

// isPlain reports whether the inside of a string is its text.
func isPlain(raw []byte) bool {
	ascii := true
	for _, c := range raw {
		if c < ' ' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(raw)
}

// end reports whether the whole item was read.
func (t *itemText) end(at Offset) bool {
	t.skip(`,"offset":"`)
	var space [48]byte
	offset := at.append(space[:0])
	t.skip(string(offset))
	return t.take(`"}`) && !t.bad && len(t.text) == 0
}

// decodePlain reads the fields of a text item. It reports false if [json.Unmarshal] must read the item.
func (i Item) decodePlain(v any) bool {
	t := textOf(i)
	var passed string
	switch v := v.(type) {
	case *Delta: // also of a block, as both name a message
		d := *v
		readField(&t, `,"messageId":"`, &d.MessageID)
		readField(&t, `,"role":"`, &passed)
		readField(&t, `,"delta":"`, &d.Delta)
		if !t.end(i.Offset) {
			return false
		}
		*v = d
	case *Block:
		k := *v
		readField(&t, `,"messageId":"`, &k.MessageID)
		readField(&t, `,"role":"`, &k.Role)
		readField(&t, `,"delta":"`, &passed)
		if !t.end(i.Offset) {
			return false
		}
		*v = k
	case *ToolArgs:
		a := *v
		readField(&t, `,"toolCallId":"`, &a.ToolCallID)
		readField(&t, `,"delta":"`, &a.Delta)
		if !t.end(i.Offset) {
			return false
		}
		*v = a
	default:
		return false
	}
	return true
}

func (o Offset) append(b []byte) []byte {
	b = append(strconv.AppendInt(b, o.Fence, 10), '-')
	return strconv.AppendInt(b, o.N, 10)
}

package openai

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// plain reads a chunk that has only the text of one choice, as nearly every chunk of an answer does. It
// makes one pass, without reflection. Its result is the same as that of [encoding/json]. It returns
// false for a chunk with other fields, with a repeated field, or that is not valid JSON.
func (c *chunk) plain(text string) bool {
	r := plainReader{text: text}
	var seen fields
	for r.open('{'); r.more('}'); {
		switch key := r.key(&seen); key {
		case "id", "created", "system_fingerprint", "service_tier", "provider", "obfuscation":
			r.scalar()
		case "object":
			if c.Object = r.str(); c.Object == "error" {
				return false
			}
		case "model":
			c.Model = r.str()
		case "usage", "error":
			r.null()
		case "choices":
			r.choices(c)
		default:
			return false
		}
	}
	return r.end()
}

func (r *plainReader) choices(c *chunk) {
	for r.open('['); r.more(']'); {
		if len(c.Choices) > 0 {
			r.fail()
			return
		}
		c.Choices = append(c.Choices, choice{})
		r.choice(&c.Choices[0])
	}
}

func (r *plainReader) choice(c *choice) {
	var seen fields
	for r.open('{'); r.more('}'); {
		switch r.key(&seen) {
		case "index":
			if r.scalar() != "0" {
				r.fail()
			}
		case "delta":
			c.Delta = &delta{}
			r.delta(c.Delta)
		case "finish_reason":
			if !r.isNull() {
				reason := r.str()
				c.FinishReason = &reason
			}
		case "logprobs", "stop_reason", "native_finish_reason":
			r.scalar()
		default:
			r.fail()
		}
	}
}

func (r *plainReader) delta(d *delta) {
	var seen fields
	for r.open('{'); r.more('}'); {
		switch r.key(&seen) {
		case "role", "function_call":
			r.scalar()
		case "content":
			d.Content = content(r.nullOrStr())
		case "refusal":
			d.Refusal = r.nullOrStr()
		case "reasoning":
			d.Reasoning = r.nullOrStr()
		case "reasoning_content":
			d.ReasoningContent = r.nullOrStr()
		case "tool_calls", "reasoning_details":
			r.none()
		default:
			r.fail()
		}
	}
}

// fields are the keys of an object that were read so far.
type fields struct {
	keys [16]string
	n    int
}

// add adds a key and reports whether it is new.
func (f *fields) add(key string) bool {
	if f.n == len(f.keys) || slices.Contains(f.keys[:f.n], key) {
		return false
	}
	f.keys[f.n] = key
	f.n++
	return true
}

// plainReader reads JSON from a text. After the first unexpected byte, it has failed and moves to the
// end of the text.
type plainReader struct {
	text  string
	at    int
	fresh bool // no element of the innermost object or list was read yet
	bad   bool
}

func (r *plainReader) fail() { r.at, r.bad = len(r.text), true }

// end reports whether the text was read to its end without a failure.
func (r *plainReader) end() bool {
	r.space()
	return !r.bad && r.at == len(r.text)
}

func (r *plainReader) space() {
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
func (r *plainReader) peek() byte {
	r.space()
	if r.at == len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// skip reads the byte c.
func (r *plainReader) skip(c byte) {
	if r.peek() != c {
		r.fail()
		return
	}
	r.at++
}

// open reads the opening byte c of an object or a list.
func (r *plainReader) open(c byte) {
	r.skip(c)
	r.fresh = true
}

// more reports whether the innermost object or list has another element. It reads the comma before the
// element, or the end of the object or list.
func (r *plainReader) more(end byte) bool {
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
		r.fail()
		return false
	}
}

// key reads a key and its colon. It fails for a key that the object already had.
func (r *plainReader) key(seen *fields) string {
	key := r.str()
	if !seen.add(key) {
		r.fail()
	}
	r.skip(':')
	return key
}

// str reads a string.
func (r *plainReader) str() string {
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
				r.fail()
				return ""
			}
			return text
		case c == '\\':
			escaped = true
			r.at++
		case c < ' ':
			r.fail()
			return ""
		case c >= utf8.RuneSelf:
			ascii = false
		}
		r.at++
	}
	r.fail()
	return ""
}

// unquoted returns the text of a string with escapes.
func (r *plainReader) unquoted(quoted string) string {
	if text, ok := unescape(quoted[1 : len(quoted)-1]); ok {
		return text
	}
	var text string
	if json.Unmarshal([]byte(quoted), &text) != nil {
		r.fail()
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

// isNull reads a null if it comes next, and reports whether it did.
func (r *plainReader) isNull() bool {
	if r.peek() != 'n' {
		return false
	}
	r.null()
	return true
}

func (r *plainReader) null() { r.word("null") }

func (r *plainReader) word(word string) {
	r.space()
	if !strings.HasPrefix(r.text[r.at:], word) {
		r.fail()
		return
	}
	r.at += len(word)
}

// nullOrStr reads a string, or a null as an empty string.
func (r *plainReader) nullOrStr() string {
	if r.isNull() {
		return ""
	}
	return r.str()
}

// none reads a null or an empty list.
func (r *plainReader) none() {
	if r.isNull() {
		return
	}
	r.skip('[')
	r.skip(']')
}

// scalar reads a value that is neither an object nor a list. It returns the text of a number.
func (r *plainReader) scalar() string {
	switch r.peek() {
	case '"':
		r.str()
	case 'n':
		r.null()
	case 't':
		r.word("true")
	case 'f':
		r.word("false")
	default:
		return r.number()
	}
	return ""
}

// number reads a number.
func (r *plainReader) number() string {
	start := r.at
	r.at += len(r.text[r.at:]) - len(strings.TrimLeft(r.text[r.at:], "+-.0123456789eE"))
	number := r.text[start:r.at]
	for _, c := range []byte(number) {
		if c < '0' || c > '9' { // rare: a sign, a fraction or an exponent
			if !json.Valid([]byte(number)) {
				r.fail()
			}
			return number
		}
	}
	if number == "" || number[0] == '0' && number != "0" {
		r.fail()
	}
	return number
}

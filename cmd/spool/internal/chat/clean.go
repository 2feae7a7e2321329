// Package chat shows a thread in a terminal and answers its questions: what people see of it as plain text, line by
// line. It knows the client and its view, and no flags. Whatever a model says, it cannot control the terminal.
package chat

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Clean removes what could control a terminal or turn text around: control characters except line ends and tabs, also
// those of C1 and DEL, and the marks of direction. Invalid UTF-8 becomes the replacement character.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r < ' ', r >= 0x7f && r < 0xa0:
			return -1
		case r == 0x200e, r == 0x200f, r == 0x61c, r >= 0x202a && r <= 0x202e, r >= 0x2066 &&
			r <= 0x2069, r == 0x2028, r == 0x2029:
			return -1
		}
		return r
	}, text)
}

// Line returns clean text in one line of at most so many characters.
func Line(text string, most int) string {
	text = strings.Join(strings.Fields(Clean(text)), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// oneLine returns JSON in one line.
func oneLine(text json.RawMessage, most int) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return Line(string(text), most)
	}
	return Line(b.String(), most)
}

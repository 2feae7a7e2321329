package openai

import "strings"

const (
	openTag  = "<think>"
	closeTag = "</think>"
	space    = " \t\r\n"
)

// tags divides a content that begins with <think> into reasoning and text. The tags may be cut in any place. The zero
// value is at the beginning of a content.
type tags struct {
	state tagState
	// held is the text that may be a part of a tag.
	held string
}

type tagState int

const (
	tagBefore tagState = iota // nothing but white space and a part of a tag
	tagInside                 // in the reasoning
	tagAfter                  // behind the reasoning, where white space is dropped
	tagNone                   // in the text
)

// add adds a piece of the content. It returns the reasoning and the text that are certain, in this order.
func (t *tags) add(piece string) (thought, text string) {
	if t.state == tagNone {
		return "", piece
	}
	piece, t.held = t.held+piece, ""
	if t.state == tagBefore {
		start := strings.TrimLeft(piece, space)
		remaining, opened := strings.CutPrefix(start, openTag)
		switch {
		case opened:
			t.state, piece = tagInside, remaining
		case strings.HasPrefix(openTag, start): // the beginning of the tag may be all there is
			t.held = piece
			return "", ""
		default:
			t.state = tagNone
			return "", piece
		}
	}
	if t.state == tagInside {
		before, after, closed := strings.Cut(piece, closeTag)
		if !closed {
			n := partOf(piece, closeTag)
			t.held = piece[len(piece)-n:]
			return piece[:len(piece)-n], ""
		}
		t.state, thought, piece = tagAfter, before, after
	}
	if text = strings.TrimLeft(piece, space); text != "" {
		t.state = tagNone
	}
	return thought, text
}

// end returns what was held back, at the end of the content.
func (t *tags) end() (thought, text string) {
	held := t.held
	t.held = ""
	if t.state == tagInside {
		return held, ""
	}
	return "", held
}

// partOf returns the length of the longest end of a text that is a beginning of the tag.
func partOf(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}

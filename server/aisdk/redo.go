package aisdk

import (
	"strings"

	"github.com/spoolhq/spool"
)

// shownPart is a block, a call or a file that a client of version 6 has of a step that is not saved.
type shownPart struct {
	kind  spool.PartType
	id    string
	text  strings.Builder
	ended bool
	// once is the id of a call, or the URI of a file. Empty: a block.
	once string
}

// redo is the repetition of a step for a client of version 6, which cannot forget what it has. What the redone step
// says is held back while it repeats the shown parts, and goes on where they end. If the redone step says something
// else, the stream is cut: a client that resumes gets the message from its start.
type redo struct {
	shown  []*shownPart
	at     int // in shown
	offset int // bytes of the text there
}

// remember remembers a piece of a block that a client was given.
func (e *encoder) remember(kind spool.PartType, id, text string) {
	if e.version != V6 || !e.fresh {
		return
	}
	if n := len(e.shown); n == 0 || e.shown[n-1].id != id {
		e.shown = append(e.shown, &shownPart{kind: kind, id: id})
	}
	e.shown[len(e.shown)-1].text.WriteString(text)
}

// rememberEnd records that the client has got the end of a block.
func (e *encoder) rememberEnd(id string) {
	if n := len(e.shown); n > 0 && e.shown[n-1].id == id {
		e.shown[n-1].ended = true
	}
}

// rememberOnce remembers a call or a file that a client was given.
func (e *encoder) rememberOnce(id string) {
	if e.version == V6 && e.fresh {
		e.shown = append(e.shown, &shownPart{once: id})
	}
}

// beginRedo begins to hold the step back while it repeats the shown parts.
func (e *encoder) beginRedo() {
	e.redo, e.block, e.pending = &redo{shown: e.shown}, block{}, nil
	e.forget()
}

// endOpenBlock ends the redo, and the block that was open when it began.
func (e *encoder) endOpenBlock() {
	if n := len(e.shown); e.redo != nil && n > 0 && e.shown[n-1].once == "" && !e.shown[n-1].ended {
		e.block = block{id: e.shown[n-1].id, kind: e.shown[n-1].kind, open: true, announced: true}
		e.redo = nil
		e.endBlock()
	}
	e.redo = nil
}

// block reports whether a block of the kind comes next.
func (r *redo) block(kind spool.PartType) bool {
	return r.at < len(r.shown) && r.shown[r.at].once == "" && r.shown[r.at].kind == kind
}

// delta returns the part of a piece that the client does not have. It returns false if the piece is not what was
// shown.
func (r *redo) delta(text string) (remaining string, same bool) {
	part := r.shown[r.at]
	left := part.text.String()[r.offset:]
	if strings.HasPrefix(left, text) {
		r.offset += len(text)
		return "", true
	}
	remaining, same = strings.CutPrefix(text, left)
	r.offset += len(left)
	return remaining, same && r.over() && !part.ended
}

// end reports whether the block may end here.
func (r *redo) end() bool {
	if r.offset < r.shown[r.at].text.Len() {
		return false
	}
	r.at, r.offset = r.at+1, 0
	return true
}

// once reports whether the call or the file comes next.
func (r *redo) once(id string) bool {
	if r.at >= len(r.shown) || r.shown[r.at].once != id {
		return false
	}
	r.at++
	return true
}

// over reports whether all that was shown was said again.
func (r *redo) over() bool {
	if r.at == len(r.shown) {
		return true
	}
	part := r.shown[r.at]
	return r.at == len(r.shown)-1 && part.once == "" && r.offset == part.text.Len()
}

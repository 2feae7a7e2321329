package agui

import (
	"cmp"
	"strconv"

	"github.com/spoolhq/spool"
)

// interruptID names a question: the first one of a call by the call's id, a later one by that
// and its number, as in "call_1#2". No tool call's id has a "#". An answer to an earlier
// question of the call therefore never reaches a later one.
func interruptID(p spool.InputRequired) spool.ToolCallID {
	if p.Occurrence <= 1 {
		return p.ToolCallID
	}
	return p.ToolCallID + "#" + spool.ToolCallID(strconv.Itoa(p.Occurrence))
}

// bind has the answer name the call and, where the engine demands it, the digest. The id of
// the interrupt says which question was answered, so a client need not repeat the digest.
func (i Interrupt) bind(a Answer) Answer {
	a.ToolCallID = cmp.Or(i.ToolCallID, i.ID)
	if i.Digest != "" {
		a.Digest = cmp.Or(a.Digest, i.Digest)
	}
	return a
}

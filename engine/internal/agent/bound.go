package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

const (
	// callWeight is what a call counts besides its arguments, so that there is a bound on the
	// calls of an answer too.
	callWeight = 4 << 10
)

// bound counts what an answer takes.
type bound struct {
	left int // bytes
	// exceeded is true once the answer was cut because of the bound.
	exceeded bool
}

// take returns what of an event has room, nil for nothing, and whether that is all of it.
// Streamed is how much of a call's arguments has come before its end.
func (b *bound) take(event spool.ModelEvent, streamed int) (spool.ModelEvent, bool) {
	size := 1 // also an event that says nothing takes time
	switch ev := event.(type) {
	case spool.TextDelta:
		if size += len(ev.Text); size > b.left {
			event = spool.TextDelta{Text: head(ev.Text, b.left)}
		}
	case spool.ReasoningDelta:
		if size += len(ev.Text); size > b.left {
			event = spool.ReasoningDelta{Text: head(ev.Text, b.left)}
		}
	case spool.ReasoningEnd:
		size += len(ev.Provider)
	case spool.ToolCallStart:
		size += callWeight + len(ev.ID) + len(ev.Name)
	case spool.ToolCallDelta:
		size += len(ev.Args)
	case spool.ToolCallEnd:
		size += max(0, len(ev.Args)-streamed) + len(ev.Provider)
	case spool.Finish:
		return event, true
	}
	if size <= b.left {
		b.left -= size
		return event, true
	}
	b.left, b.exceeded = 0, true
	switch event.(type) {
	case spool.TextDelta, spool.ReasoningDelta:
		return event, false
	default:
		return nil, false
	}
}

// head returns the first n bytes of a text, without half of a character.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:max(n, 0)]
}

// openCall is a call whose arguments are still to come.
type openCall struct {
	id   spool.ToolCallID
	name string
	args []byte
	nth  int // of the answer's calls
}

// cutShort ends an answer that has no more room. Its open calls are closed with what came of
// their arguments, as a text: they do not run.
func (l *loop) cutShort(ctx context.Context, t *turn) {
	t.reason = spool.FinishLength
	for _, c := range slices.SortedFunc(maps.Values(t.ids), func(a, b *openCall) int { return a.nth - b.nth }) {
		part := spool.Part{Type: spool.PartToolCall, ToolCallID: c.id, ToolName: c.name, Args: toolresult.JSON(string(c.args))}
		l.events.Item(ctx, spool.ItemToolEnd, spool.ToolEnded{ToolCallID: part.ToolCallID, ToolName: part.ToolName, Args: part.Args})
		t.came.Add(part)
	}
	clear(t.ids)
	l.s.runner.Concerning(l.s.key, l.run.ID).WarnContext(ctx, "the model's answer is cut: it is too long",
		"step", l.run.Steps+1, "max_answer_bytes", l.s.runner.MaxAnswerBytes)
}

// stepRoom returns how many bytes the results of the calls in hand may have.
func (l *loop) stepRoom() int {
	left := l.s.runner.MaxStepBytes
	if d := l.run.Draft; d != nil {
		for _, p := range d.Message.Content {
			left -= len(p.Text) + len(p.Args) + len(p.Provider)
		}
	}
	for _, p := range l.plan {
		left -= len(p.result)
	}
	return left
}

// fitResult replaces the result of a call for which the step has no room.
func (l *loop) fitResult(p *plannedCall) {
	have := len(p.result)
	if have == 0 {
		return
	}
	if l.resultRoom -= have; l.resultRoom >= 0 || p.spawns {
		return
	}
	l.resultRoom += have
	text := fmt.Sprintf("the tool ran, and its result of %d bytes is longer than the %d bytes that the step has room for", have, max(l.resultRoom, 0))
	if p.answered != nil {
		p.result = p.told(nil, text)
		return
	}
	p.result = toolresult.Error(text)
}

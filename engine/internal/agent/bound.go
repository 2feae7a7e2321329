package agent

import (
	"fmt"

	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// stepRoom returns how many bytes are left for the results of the planned calls.
func (l *calls) stepRoom() int {
	left := l.s.runner.Limits.StepBytes
	if d := l.run.Draft; d != nil {
		for _, p := range d.Message.Content {
			left -= len(p.Text) + len(p.Args) + len(p.SentArgs) + len(p.Provider)
		}
	}
	for _, p := range l.plan {
		left -= len(p.result)
	}
	return left
}

// fitResult replaces a call's result if it exceeds the step's room.
func (l *calls) fitResult(p *plannedCall) {
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
		p.result = p.resultOf(nil, text)
		return
	}
	p.result = toolresult.Error(text)
}

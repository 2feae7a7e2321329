//go:build unix

package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

// plan is what the model does in a run. The prompt of the run says it, so that the model is a function of its
// request and a repeated step is the same.
type plan struct {
	// ID is the run's id. That of a nested run has the call after it: r1.0.2.
	ID    string
	Steps []planStep
}

// planStep is one answer of the model: so many words, and calls of these tools.
type planStep struct {
	Words int
	Calls []string
}

// prompt returns the plan as a prompt, such as "r1 8:once,look 5".
func (p plan) prompt() string {
	var b strings.Builder
	b.WriteString(p.ID)
	for _, s := range p.Steps {
		fmt.Fprintf(&b, " %d", s.Words)
		if len(s.Calls) > 0 {
			b.WriteString(":" + strings.Join(s.Calls, ","))
		}
	}
	return b.String()
}

// parsePlan reads a prompt.
func parsePlan(prompt string) (plan, error) {
	fields := strings.Fields(prompt)
	if len(fields) < 2 {
		return plan{}, fmt.Errorf("%q is no plan", prompt)
	}
	p := plan{ID: fields[0]}
	for _, field := range fields[1:] {
		number, calls, _ := strings.Cut(field, ":")
		words, err := strconv.Atoi(number)
		if err != nil {
			return plan{}, fmt.Errorf("%q is no plan: %w", prompt, err)
		}
		s := planStep{Words: words}
		if calls != "" {
			s.Calls = strings.Split(calls, ",")
		}
		p.Steps = append(p.Steps, s)
	}
	return p, nil
}

// words returns the deltas of an answer. No two answers of a campaign are equal.
func (p plan) words(step int) []string {
	words := []string{p.ID + "/" + strconv.Itoa(step)}
	for i := range p.Steps[step].Words {
		words = append(words, " w"+strconv.Itoa(i))
	}
	return words
}

// text returns the text of an answer.
func (p plan) text(step int) string { return strings.Join(p.words(step), "") }

// callID names a call of an answer. It is different in all runs.
func (p plan) callID(step, i int) spool.ToolCallID {
	return spool.ToolCallID(fmt.Sprintf("%s.%d.%d", p.ID, step, i))
}

// nested returns the plan of the run that a call spawns.
func (p plan) nested(step, i int) plan {
	return plan{ID: string(p.callID(step, i)), Steps: []planStep{{Words: 4, Calls: []string{"once"}}, {Words: 3}}}
}

// rootOf returns the dispatched run that a plan or a call belongs to.
func rootOf(id string) string {
	root, _, _ := strings.Cut(id, ".")
	return root
}

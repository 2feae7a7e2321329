package store

import (
	"slices"
)

// Handover is a change of a run's agent.
type Handover struct {
	// Step is the step whose call handed the thread over.
	Step int    `json:"step"`
	From string `json:"from"`
	To   string `json:"to"`
}

// HandedOverIn reports whether the run has changed its agent after a step.
func (s RunState) HandedOverIn(step int) bool {
	return slices.ContainsFunc(s.Handovers, func(h Handover) bool { return h.Step == step })
}

// HoldsThread reports whether starts that name no agent get the run's agent: somebody has handed it the thread.
func (s RunState) HoldsThread() bool { return s.Held || len(s.Handovers) > 0 }

package spool

import "slices"

// TransferTool is the tool by which a model hands its thread to another agent: see [Agent.Transfers].
const TransferTool = "transfer"

// Transfer is an agent that a run can hand its thread to.
type Transfer struct {
	// Description tells the model what the other agent is good for.
	Description string
	// History is what the other agent sees of the thread. Defaults to [TransferAll].
	History TransferHistory
}

// TransferHistory is what an agent sees of the thread that it takes over.
type TransferHistory string

const (
	// TransferAll shows all messages, as the agent before saw them.
	TransferAll TransferHistory = "all"
	// TransferBrief shows the user's turn and the brief that the model gives with its call, and nothing else of what
	// came before. The messages stay in the thread, and people see them.
	TransferBrief TransferHistory = "brief"
)

// Known reports whether h is one of the constants.
func (h TransferHistory) Known() bool { return h == TransferAll || h == TransferBrief }

// HandedOver is the payload of [EntryHandedOver].
type HandedOver struct {
	// Step is the step whose call handed the thread over.
	Step int    `doc:"The step whose call handed the thread over, from 1." json:"step"`
	From string `doc:"The agent that had the thread."                      json:"from"`
	To   string `doc:"The agent that has it from now on."                  json:"to"`
	// History is what the agent To sees of the thread.
	History TransferHistory `doc:"What the other agent sees of the thread." enum:"all,brief" json:"history"`
}

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

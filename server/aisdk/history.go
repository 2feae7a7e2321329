package aisdk

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// Messages returns the saved messages of a snapshot as a client keeps them. What a run has said since its last saved
// step is not in them: it comes with the stream of the run. Asked may be nil if no run has asked about its budget.
func Messages(v Version, s *wire.Snapshot, asked Questions, address Address) ([]Message, error) {
	out := []Message{}
	var run spool.RunID // of the assistant's message that is being read
	runs := make(map[spool.RunID]bool)
	steers := make(map[spool.RunID]bool)
	for _, r := range s.Runs {
		if r.StopReason == wire.StopSteered {
			steers[r.ID] = true
		}
	}
	for i, m := range s.Messages {
		if _, summary := m.Content.Summary(); summary || m.AgentID != "" {
			continue
		}
		switch {
		case m.Role == spool.RoleUser && (m.RunID == run || steers[m.RunID] || continuesIn(run, s.Messages[i+1:])):
			continue // it was put into the run
		case m.Role == spool.RoleUser:
			run = ""
			out = append(out, Message{ID: turnID(m), Role: spool.RoleUser, Parts: userParts(m.Content, address)})
			if r, ok := projection.RunOf(s, m.RunID); !ok || !askedBudget(r) || continuesIn(m.RunID, s.Messages[i+1:]) {
				continue
			}
			message, err := messageOf(v, m.RunID, s, asked, address) // it has asked before its first step
			if err != nil {
				return nil, err
			}
			out = append(out, message)
		case m.Role == spool.RoleAssistant && !runs[m.RunID]:
			run, runs[m.RunID] = m.RunID, true
			message, err := messageOf(v, run, s, asked, address)
			if err != nil {
				return nil, err
			}
			out = append(out, message)
		default:
		}
	}
	return out, nil
}

// continuesIn reports whether messages contain a message of the run's own agent.
func continuesIn(run spool.RunID, messages []spool.Message) bool {
	return run != "" && slices.ContainsFunc(messages, func(m spool.Message) bool {
		return m.RunID == run && m.AgentID == "" && m.Role != spool.RoleUser
	})
}

// messageOf returns the message of a run, as a client has it that has read the stream to the last saved step.
func messageOf(v Version, run spool.RunID, s *wire.Snapshot, asked Questions, address Address) (_ Message, err error) {
	e := newEncoder(v)
	e.run, e.address = run, address
	if e.budgets, err = budgetsOf(s, run, asked); err != nil {
		return Message{}, err
	}
	a := savedRunOf(run, s.Messages, s.Runs)
	for call, agent := range a.agents {
		e.agents[agent] = call
	}
	e.names = a.names
	e.sendMissing(a)
	e.sendBudgets(allSteps, time.Time{})
	if r, ok := projection.RunOf(s, run); ok {
		switch {
		case r.State == wire.WaitingForInput && s.Thread.RunID == run:
			if err := e.sendQuestions(projection.OpenParks(s)); err != nil {
				return Message{}, err
			}
		case r.State.Terminal():
			e.add(Chunk{Type: typeMetadata, MessageMetadata: about(run, r.StopReason, &r.TokenCount, nil, r.Expired)})
		}
	}
	m := Message{ID: string(run), Role: spool.RoleAssistant, Parts: []Part{}}
	for _, c := range e.out {
		m.Apply(c)
	}
	return m, nil
}

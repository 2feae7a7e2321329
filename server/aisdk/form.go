package aisdk

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// Form is the form of snapshots for streams. A stream shows the message of one run, so the form keeps the
// messages of the latest turns, and encodes none.
var Form wire.SnapshotForm = &latest{}

// latest are the messages since a turn.
type latest struct {
	messages []spool.Message
	// turns are the indexes, in messages, of the user turns that began a run. Messages of steers began no run.
	turns []int
	run   spool.RunID // of the last turn whose run has said something
}

// keptTurns is the number of turns whose messages are kept. The client of a run may still read while the next
// runs of the thread have begun.
const keptTurns = 3

// AppendMessage implements [engine.SnapshotForm].
func (l *latest) AppendMessage(b []byte, m spool.Message) ([]byte, wire.SnapshotForm, error) {
	if _, summary := m.Content.Summary(); summary {
		return b, l, nil
	}
	next := &latest{append(slices.Clip(l.messages), m), l.turns, l.run}
	if m.AgentID == "" && m.Role == spool.RoleAssistant && m.RunID != l.run {
		next.run = m.RunID
		turn := slices.IndexFunc(next.messages, func(m spool.Message) bool { return isTurn(m) && m.RunID == next.run })
		next.turns = append(slices.Clip(l.turns), max(turn, 0))
		next.forget()
	}
	return b, next, nil
}

// forget removes the messages of older turns.
func (l *latest) forget() {
	if len(l.turns) <= keptTurns {
		return
	}
	from := l.turns[1]
	l.messages = slices.Clone(l.messages[from:])
	turns := make([]int, len(l.turns)-1)
	for i, at := range l.turns[1:] {
		turns[i] = max(at-from, 0)
	}
	l.turns = turns
}

// Finish implements [engine.SnapshotForm]. It returns a [*projection.Streamed] whose form is the list of messages.
func (l *latest) Finish(s *wire.Snapshot) (shared any, size int64, err error) {
	f := projection.Fold(s)
	f.Form = l.messages
	for _, m := range l.messages {
		for _, p := range m.Content {
			size += int64(len(p.Text) + len(p.Args) + len(p.Result) + len(p.Image) + len(p.File))
		}
	}
	return f, size + f.Size(), nil
}

func isTurn(m spool.Message) bool { return m.AgentID == "" && m.Role == spool.RoleUser }

// saved returns the messages of a change.
func saved(c projection.Messages) []spool.Message {
	f, _ := c.Thread.Shared.(*projection.Streamed)
	if f == nil {
		return nil
	}
	all, _ := f.Form.([]spool.Message)
	if c.All {
		return all
	}
	out := make([]spool.Message, 0, len(all))
	for _, m := range all {
		if m.AfterSeq <= c.Seq {
			out = append(out, m)
		}
		if m.ID == c.Through {
			break
		}
	}
	return out
}

// savedRun is the saved part of a run, in the order in which a client shows it.
type savedRun struct {
	run spool.RunID
	// main are the messages of the run's own agent, and those that were put into the run.
	main []spool.Message
	// nested are the messages of nested runs.
	nested map[spool.AgentID][]spool.Message
	// agents are the nested runs, by the call that spawned them, and names are their names.
	agents map[spool.ToolCallID]spool.AgentID
	names  map[spool.AgentID]string
}

// savedRunOf returns the saved part of a run. Messages and runs are those of the thread.
func savedRunOf(run spool.RunID, messages []spool.Message, runs []wire.Run) *savedRun {
	a := &savedRun{
		run:    run,
		nested: map[spool.AgentID][]spool.Message{},
		agents: map[spool.ToolCallID]spool.AgentID{},
		names:  map[spool.AgentID]string{},
	}
	steers := make(map[spool.RunID]bool)
	for _, r := range runs {
		if r.StopReason == wire.StopSteered {
			steers[r.ID] = true
		}
		if r.ParentID != "" {
			a.agents[r.CallID], a.names[r.AgentID()] = r.AgentID(), r.Agent
		}
	}
	began := false
	for _, m := range messages {
		switch {
		case m.AgentID != "":
			a.nested[m.AgentID] = append(a.nested[m.AgentID], m)
		case isTurn(m) && m.RunID == run, m.RunID == run:
			began = true
			a.main = append(a.main, m)
		case isTurn(m) && began && (steers[m.RunID] || a.continuesAfter(m, messages)):
			a.main = append(a.main, m)
		case isTurn(m) && began:
			began = false
		}
		for _, p := range m.ToolResults() {
			if s, ok := spawned(p.Result); ok {
				a.agents[p.ToolCallID] = s.AgentID
			}
		}
	}
	return a
}

// continuesAfter reports whether a message of the run's agent follows the turn. Then the turn is the message of a
// steer.
func (a *savedRun) continuesAfter(turn spool.Message, messages []spool.Message) bool {
	at := slices.IndexFunc(messages, func(m spool.Message) bool { return m.ID == turn.ID })
	return slices.ContainsFunc(messages[at+1:], func(m spool.Message) bool {
		return m.RunID == a.run && m.AgentID == "" && m.Role != spool.RoleUser
	})
}

package aisdk

import (
	"maps"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// messages gives the client the saved part of its message: all of it, what its own copy lacks, or, in the middle of
// a stream, the results and the messages of steers that did not come as changes of their own.
func (e *encoder) messages(c projection.Messages) (err error) {
	e.follow(e.of())
	if !e.synced {
		if e.budgets, err = budgetsOf(c.Thread.Snapshot, e.run, e.questions); err != nil {
			return err
		}
	}
	a := savedRunOf(e.run, saved(c), c.Thread.Runs)
	for call, agent := range a.agents {
		e.agents[agent] = call
	}
	maps.Copy(e.names, a.names)
	e.sendMissing(a)
	if e.copied != nil {
		e.endCopied(projection.OpenParks(c.Thread.Snapshot))
		e.copied = nil
	}
	for _, given := range c.Given { // the client has them
		if known := e.calls[given.ToolCallID]; known != nil {
			known.done = true
		}
	}
	if c.Streamed != nil {
		for _, change := range c.Streamed.Unfinished {
			if err := e.encode(change); err != nil {
				return err
			}
		}
		e.sendOrphans(a)
	}
	e.sendBudgets(allSteps, time.Time{})
	return nil
}

// sendMissing sends the saved parts that the client lacks.
func (e *encoder) sendMissing(a *savedRun) {
	first, from := !e.synced, 0
	e.synced = true
	switch {
	case first && e.copied != nil:
		from = e.copiedTo(a)
	case !first:
		from = len(a.main)
	}
	step := 0
	for i, m := range a.main {
		switch {
		case i == 0 && m.Role == spool.RoleUser: // the turn of the run
		case m.Role == spool.RoleUser:
			e.sendBudgets(step, m.CreatedAt)
			e.steered(m, i < from && first)
		case m.Role == spool.RoleAssistant:
			e.sendBudgets(step, time.Time{})
			step++
			if i < from {
				e.adopt(a, m, step, first)
			} else {
				e.sendMessage(a, m, step)
			}
		default:
			for _, p := range m.ToolResults() {
				known := e.calls[p.ToolCallID] != nil && e.calls[p.ToolCallID].done
				e.result(p.ToolCallID, p.ToolName, "", p.Result)
				if !known {
					e.sendSources(m.Content, p.ToolCallID, step)
				}
			}
		}
	}
	e.sendBudgets(step, time.Time{})
	if first && e.step > 0 && e.started {
		e.stepSaved()
	}
}

// endCopied ends the open parts of the client's copy that no result will end. A client that sends answers automatically
// would send the same ones again without end.
func (e *encoder) endCopied(open projection.Parks) {
	for _, id := range slices.Sorted(maps.Keys(e.copied)) {
		part, known := e.copied[id], e.calls[id]
		waits := slices.ContainsFunc(open, func(p wire.InputRequired) bool { return p.ToolCallID == id })
		switch {
		case waits:
		case known != nil && part.over() && part.ProviderExecuted != nil && !*part.ProviderExecuted: // the page's own tool
			c := Chunk{Type: typeOutput, ToolCallID: id, Output: cmpJSON(part.Output), ProviderExecuted: &yes}
			if part.State == stateError {
				c = Chunk{Type: typeOutputError, ToolCallID: id, ErrorText: part.ErrorText, ProviderExecuted: &yes}
			}
			e.add(c)
		case known == nil && part.Type == partBudget: // it belongs to no call
			e.endBudget(part, id)
		}
	}
}

// sendOrphans sends the saved calls of nested runs whose parent's step is not saved.
func (e *encoder) sendOrphans(a *savedRun) {
	for call, agent := range a.agents {
		if c := e.calls[call]; c != nil && c.hidden {
			e.sendNested(a, agent)
		}
	}
}

// copiedTo returns how many of the messages the client's copy has: up to the last one with a call that it knows.
func (e *encoder) copiedTo(a *savedRun) int {
	for i, m := range slices.Backward(a.main) {
		if slices.ContainsFunc(m.ToolCalls(), func(p spool.Part) bool {
			_, has := e.copied[p.ToolCallID]
			return has || isSpawn(p.ToolName) && e.hasNested(a, a.agents[p.ToolCallID])
		}) {
			return i + 1
		}
	}
	return 0
}

// hasNested reports whether the client's copy has a call of a nested run.
func (e *encoder) hasNested(a *savedRun, agent spool.AgentID) bool {
	for _, m := range a.nested[agent] {
		for _, p := range m.ToolCalls() {
			if _, has := e.copied[p.ToolCallID]; has || isSpawn(p.ToolName) && e.hasNested(a, a.agents[p.ToolCallID]) {
				return true
			}
		}
	}
	return false
}

// adopt records what the client has of a message. In the middle of a stream, it also sends the calls of nested runs
// that the client lacks.
func (e *encoder) adopt(a *savedRun, m spool.Message, step int, copied bool) {
	if copied {
		e.step = max(e.step, step)
		e.adoptCalls(a, m, "", step)
		return
	}
	for _, p := range m.ToolCalls() {
		if isSpawn(p.ToolName) {
			e.sendNested(a, a.agents[p.ToolCallID])
		}
	}
}

// adoptCalls records the calls of a message that the client's copy has, and sends the others.
func (e *encoder) adoptCalls(a *savedRun, m spool.Message, agent spool.AgentID, step int) {
	for _, p := range m.ToolCalls() {
		part, has := e.copied[p.ToolCallID]
		c := &call{name: p.ToolName, agent: agent, step: step, hidden: isSpawn(p.ToolName), input: p.Args}
		c.complete = has || c.hidden
		c.done = part.over()
		e.calls[p.ToolCallID] = c
		if !c.hidden {
			if !has {
				delete(e.calls, p.ToolCallID)
				e.sendCall(p, agent, step)
			}
			continue
		}
		s := newSubagent(p.ToolCallID, p.Args)
		s.AgentID = a.agents[p.ToolCallID]
		e.subagents[p.ToolCallID] = s
		if s.AgentID != "" {
			e.names[s.AgentID] = s.Name
		}
		for _, nested := range a.nested[s.AgentID] {
			e.adoptCalls(a, nested, s.AgentID, step)
			for _, r := range nested.ToolResults() {
				e.result(r.ToolCallID, r.ToolName, s.AgentID, r.Result)
			}
		}
	}
}

// sendMessage sends a saved step.
func (e *encoder) sendMessage(a *savedRun, m spool.Message, step int) {
	if e.step > 0 && e.step != step {
		e.stepSaved()
	}
	e.startStep(step)
	texts, reasonings := 0, 0
	for _, p := range m.Content {
		switch p.Type {
		case spool.PartText:
			texts++
			e.addBlock(projection.Text, texts, p.Text)
		case spool.PartReasoning:
			reasonings++
			e.addBlock(projection.Reasoning, reasonings, p.Text)
		case spool.PartToolCall:
			e.sendCall(p, "", step)
		case spool.PartImage, spool.PartFile:
			e.file(p.Image+p.File, p.MIMEType)
		default:
		}
	}
	e.sendSources(m.Content, "", step)
	for _, p := range m.ToolCalls() {
		if isSpawn(p.ToolName) {
			e.sendNested(a, a.agents[p.ToolCallID])
		}
	}
	e.fresh = false
}

func (e *encoder) sendCall(p spool.Part, agent spool.AgentID, step int) {
	e.startCall(p.ToolCallID, p.ToolName, agent, step)
	args := p.Args
	if len(args) == 0 {
		args = []byte("{}")
	}
	e.input(p.ToolCallID, args)
}

// sendNested sends the saved calls of a nested run.
func (e *encoder) sendNested(a *savedRun, agent spool.AgentID) {
	if agent == "" {
		return
	}
	for _, m := range a.nested[agent] {
		e.sendBudgets(e.step, m.CreatedAt)
		for _, p := range m.ToolCalls() {
			e.sendCall(p, agent, e.step)
			if isSpawn(p.ToolName) {
				e.sendNested(a, a.agents[p.ToolCallID])
			}
		}
		for _, p := range m.ToolResults() {
			e.result(p.ToolCallID, p.ToolName, agent, p.Result)
		}
	}
}

// steered sends the message of a steer, unless the client has it.
func (e *encoder) steered(m spool.Message, has bool) {
	if e.steers[m.ID] {
		return
	}
	e.steers[m.ID] = true
	if has {
		return
	}
	parts := turnParts(m.Content, e.address)
	if e.version == V7 {
		e.add(Chunk{Type: typeSteering, ID: turnID(m), Parts: parts})
		return
	}
	e.add(Chunk{Type: typeDataSteering, ID: turnID(m), Data: mustJSON(Steering{turnID(m), parts})})
}

// nested applies something that a nested run does. The result of its call says how it ended.
func (e *encoder) nested(outer wire.Item) error {
	agent, item, err := fold.Inner(outer)
	if err != nil {
		return err
	}
	c, ok, err := fold.ContentOf(item)
	switch {
	case err != nil:
		return err
	case ok && c.Type == spool.PartText && c.Act == fold.Grows:
		data := mustJSON(SubagentDelta{agent, c.Delta})
		e.add(Chunk{Type: typeSubagentDelta, ID: string(e.agents[agent]), Data: data, Transient: true})
	case ok && c.Type == spool.PartToolCall && c.Act == fold.Ends:
		e.startCall(c.Part.ToolCallID, c.Part.ToolName, agent, e.step)
		e.input(c.Part.ToolCallID, c.Part.Args)
	case ok && c.Type == spool.PartToolResult:
		e.result(c.Part.ToolCallID, c.Part.ToolName, agent, c.Part.Result)
	case outer.Type == wire.ItemSubagentStarted:
		_, payload, err := fold.Item(outer)
		if started, ok := payload.(wire.SubagentStarted); ok && err == nil {
			e.nestedStarted(started)
		}
		return err
	}
	return nil
}

// nestedStarted sends which nested run a call has spawned.
func (e *encoder) nestedStarted(started wire.SubagentStarted) {
	agent := started.SubagentID
	e.names[agent] = started.Name
	if started.CallID != "" {
		e.agents[agent] = started.CallID
	}
	if s := e.subagents[e.agents[agent]]; s != nil && s.AgentID == "" {
		s.AgentID = agent
		e.subagent(s)
	}
}

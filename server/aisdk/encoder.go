package aisdk

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// encoder writes changes as chunks of one assistant's message.
type encoder struct {
	version Version
	// copied is what the client's own copy of the message has, if the client continues it. Nil: the client has
	// nothing.
	copied map[spool.ToolCallID]Part
	// of returns the run that the client sees.
	of func() spool.RunID
	// questions reads what the run has asked. Nil: it has asked nothing about budgets.
	questions Questions
	address   Address

	out     []Chunk
	run     spool.RunID
	started bool
	// synced is true after the client has got the saved part of the message.
	synced bool
	// step is the number of the last step whose start the client has got. It is fresh until it is saved, and
	// dirty if it has any content.
	step         int
	fresh, dirty bool
	block        block
	calls        map[spool.ToolCallID]*call
	subagents    map[spool.ToolCallID]*Subagent
	agents       map[spool.AgentID]spool.ToolCallID // the calls that spawned them
	names        map[spool.AgentID]string
	steers       map[spool.MessageID]bool
	sources      map[string]spool.Source // that the client has got, by their ids
	budgets      []budget                // of the run
	// shown are the parts of the fresh step, for a client of version 6.
	shown []*shownPart
	redo  *redo // nil: no step is redone
	// pending is the end of a block. A client of version 6 gets it with the next chunk. If the step is redone,
	// the block goes on.
	pending *Chunk
	// cut ends the stream without an end: the client has to resume.
	cut bool
}

// block is the block that is open in the projection.
type block struct {
	id   string
	kind spool.PartType
	open bool
	// announced is true after the client has got the block's start. A block without text is not announced. closed is
	// true after the client has got the block's end too.
	announced, closed bool
}

// call is a call that the client knows.
type call struct {
	name     string
	agent    spool.AgentID
	step     int
	input    json.RawMessage // of a call that has no result
	complete bool            // the client has the arguments
	done     bool            // the client has the result
	hidden   bool            // it spawns a nested run, which the client sees instead
}

func newEncoder(v Version) *encoder {
	return &encoder{
		version: v, calls: map[spool.ToolCallID]*call{}, subagents: map[spool.ToolCallID]*Subagent{},
		agents: map[spool.AgentID]spool.ToolCallID{}, names: map[spool.AgentID]string{}, steers: map[spool.MessageID]bool{},
		sources: map[string]spool.Source{},
	}
}

func (e *encoder) add(c Chunk) {
	if !e.started && !c.Transient {
		e.started = true
		e.out = append(e.out, Chunk{Type: typeStart, MessageID: string(e.run), MessageMetadata: &Metadata{RunID: e.run}})
	}
	if end := e.pending; end != nil && !c.Transient {
		e.pending = nil
		e.rememberEnd(end.ID)
		e.out = append(e.out, *end)
	}
	e.out = append(e.out, c)
}

// encode adds the chunks of a change.
func (e *encoder) encode(change projection.Change) error {
	if e.cut {
		return nil
	}
	switch c := change.(type) {
	case projection.Delta:
		e.delta(c)
	case projection.RunOpened:
		e.follow(c.Run)
	case projection.Messages:
		return e.messages(c)
	case projection.StepStarted:
		e.startStep(c.Step)
	case projection.BlockStarted:
		e.startBlock(c)
	case projection.BlockEnded:
		e.endBlock()
	case projection.CallStarted:
		e.startCall(c.ID, c.Name, "", c.Step)
	case projection.CallArgs:
		e.args(c)
	case projection.CallEnded:
		if c.Args != nil {
			e.input(c.ID, c.Args)
		}
	case projection.CallResult:
		e.result(c.ID, c.Name, "", c.Result)
	case projection.Cited:
		e.source(c)
	case projection.FileMade:
		e.file(c.Image+c.File, c.MIMEType) // it has one of the two
	case projection.StepSaved:
		e.stepSaved()
	case projection.TakenBack:
		e.retract()
	case projection.Asked:
		return e.sendQuestions(c.Parks)
	case projection.Nested:
		return e.nested(c.Item)
	case projection.Custom:
		e.custom(c)
	case projection.RunEnded:
		e.end(c)
	default: // the rest has no chunk
	}
	return nil
}

// follow makes the message that of a run. The message of a steer becomes a part of the run that reads it, so the
// client may have waited for another run.
func (e *encoder) follow(run spool.RunID) {
	if run != "" && run != e.run {
		e.run, e.synced = run, false
	}
}

// startStep opens a step, unless the client has it: a step that waited, or that is redone, goes on.
func (e *encoder) startStep(step int) {
	if step == e.step {
		return
	}
	e.step, e.fresh, e.dirty, e.shown = step, true, false, nil
	e.add(Chunk{Type: typeStartStep})
}

func blockID(run spool.RunID, c projection.BlockStarted) string {
	kind := "t"
	if c.Kind == projection.Reasoning {
		kind = "r"
	}
	return string(run) + ":s" + strconv.Itoa(c.Step) + ":" + kind + strconv.Itoa(c.N)
}

func (e *encoder) startBlock(c projection.BlockStarted) {
	id := blockID(e.run, c)
	if e.block.open && e.block.id == id { // it was opened with the messages
		return
	}
	e.block = block{id: id, kind: c.Kind, open: true}
	if e.redo != nil {
		if e.cut = !e.redo.block(c.Kind); !e.cut {
			e.block.announced, e.block.closed = true, e.redo.shown[e.redo.at].ended
		}
	}
}

func (e *encoder) delta(c projection.Delta) {
	text := c.Text
	if e.redo != nil {
		var same bool
		if text, same = e.redo.delta(text); !same {
			e.cut = true
			return
		}
		if e.redo.over() && !e.block.closed {
			e.redo = nil
		}
	}
	if text == "" {
		return
	}
	start, more := typeTextStart, typeTextDelta
	if c.Kind == projection.Reasoning {
		start, more = typeReasonStart, typeReasonDelta
	}
	if !e.block.announced {
		e.block.announced = true
		e.add(Chunk{Type: start, ID: e.block.id})
	}
	e.dirty = true
	e.add(Chunk{Type: more, ID: e.block.id, Delta: text})
	e.remember(c.Kind, e.block.id, text)
}

func (e *encoder) endBlock() {
	if e.redo != nil && e.block.open {
		e.cut = !e.redo.end()
		e.block.closed = true
		e.endRedo()
	}
	if e.block.open && e.block.announced && !e.block.closed {
		kind := typeTextEnd
		if e.block.kind == projection.Reasoning {
			kind = typeReasonEnd
		}
		end := Chunk{Type: kind, ID: e.block.id}
		if e.version == V6 {
			e.pending = &end
		} else {
			e.add(end)
		}
	}
	e.block = block{}
}

// endRedo ends the repetition of a step if all was repeated.
func (e *encoder) endRedo() {
	if e.redo != nil && e.redo.over() {
		e.redo = nil
	}
}

// addBlock adds a whole block.
func (e *encoder) addBlock(kind spool.PartType, n int, text string) {
	e.startBlock(projection.BlockStarted{Kind: kind, Run: e.run, Step: e.step, N: n})
	e.delta(projection.Delta{Kind: kind, Text: text})
	e.endBlock()
}

// startCall tells the client of a call, unless it knows the call.
func (e *encoder) startCall(id spool.ToolCallID, name string, agent spool.AgentID, step int) {
	if e.calls[id] != nil {
		return
	}
	if agent == "" {
		if e.redo == nil {
			e.rememberOnce(string(id))
		} else if e.cut = !e.redo.once(string(id)); e.cut {
			return
		}
		e.endRedo()
	}
	c := &call{name: name, agent: agent, step: step, hidden: isSpawn(name)}
	e.calls[id] = c
	e.dirty = true
	if !c.hidden {
		e.add(e.about(id, Chunk{Type: typeInputStart, ToolName: name}))
	}
}

var yes, no = true, false

// about completes a chunk that describes a call. The server executes it, so a page does not have to.
func (e *encoder) about(id spool.ToolCallID, c Chunk) Chunk {
	c.ToolCallID = id
	if c.ProviderExecuted == nil {
		c.ProviderExecuted = &yes
	}
	if agent := e.calls[id].agent; agent != "" {
		c.Dynamic, c.ToolMetadata = true, &Caller{agent, e.names[agent]}
	}
	return c
}

func (e *encoder) args(c projection.CallArgs) {
	known := e.calls[c.ID]
	if known == nil || known.complete || c.Delta == "" {
		return
	}
	if !known.hidden {
		e.add(Chunk{Type: typeInputDelta, ToolCallID: c.ID, InputTextDelta: c.Delta})
	}
}

// input gives the client the complete arguments of a call.
func (e *encoder) input(id spool.ToolCallID, args json.RawMessage) {
	c := e.calls[id]
	if c == nil || c.complete {
		return
	}
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	c.complete, c.input = true, args
	if c.hidden {
		s := newSubagent(id, args)
		e.subagents[id] = s
		for agent, call := range e.agents {
			if call == id {
				s.AgentID = agent
			}
		}
		e.subagent(s)
		return
	}
	e.add(e.about(id, Chunk{Type: typeInput, ToolName: c.name, Input: args}))
}

// result gives the client the result of a call.
func (e *encoder) result(id spool.ToolCallID, name string, agent spool.AgentID, result json.RawMessage) {
	c := e.calls[id]
	if c == nil { // the client continues a copy that does not have it
		e.startCall(id, name, agent, e.step)
		e.input(id, nil)
		if c = e.calls[id]; c == nil {
			return
		}
	}
	if c.done {
		return
	}
	e.input(id, nil)
	c.done, c.input = true, nil
	if c.hidden {
		if s := e.subagents[id]; s != nil {
			s.end(result)
			if s.AgentID != "" {
				e.agents[s.AgentID] = id
			}
			e.subagent(s)
		}
		return
	}
	switch outcome := readResult(result); {
	case outcome.denied:
		e.add(Chunk{Type: typeOutputDenied, ToolCallID: id})
	case outcome.error != "":
		e.add(Chunk{Type: typeOutputError, ToolCallID: id, ErrorText: outcome.error})
	default:
		e.add(Chunk{Type: typeOutput, ToolCallID: id, Output: cmpJSON(result)})
	}
}

func cmpJSON(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	return v
}

func (e *encoder) subagent(s *Subagent) {
	if s.AgentID != "" && s.Name != "" {
		e.names[s.AgentID] = s.Name
	}
	e.add(Chunk{Type: typeSubagent, ID: string(s.ToolCallID), Data: mustJSON(s)})
}

func (e *encoder) stepSaved() {
	if e.redo != nil && !e.redo.over() {
		e.cut = true
		return
	}
	e.endOpenBlock()
	e.fresh, e.dirty, e.shown = false, false, nil
	e.add(Chunk{Type: typeFinishStep})
}

// retract makes the client forget the step that is redone. A step that was saved and goes on has only results
// that do not count, and they come again.
func (e *encoder) retract() {
	for _, c := range e.calls {
		if c.step == e.step && !e.fresh {
			c.done = false
		}
	}
	if !e.fresh || !e.dirty {
		return
	}
	if e.version == V6 {
		e.beginRedo()
		return
	}
	e.add(Chunk{Type: typeResetStep})
	e.block, e.dirty = block{}, false
	e.forget()
	e.forgetSources()
}

// forget removes the calls and the sources of the open step from what the client has.
func (e *encoder) forget() {
	for id, c := range e.calls {
		if c.step == e.step {
			delete(e.calls, id)
			delete(e.subagents, id)
		}
	}
}

// sendQuestions gives the client the questions, and the calls that it has to execute itself.
func (e *encoder) sendQuestions(parks projection.Parks) error {
	for _, p := range parks {
		if e.calls[p.ToolCallID] == nil { // the client has not seen a call that waits: it is a budget, or a spawn
			agent := spool.AgentID("")
			if p.AgentID != nil {
				agent = *p.AgentID
			}
			e.startCall(p.ToolCallID, cmp.Or(p.ToolName, p.Reason), agent, e.step)
		}
		c := e.calls[p.ToolCallID]
		if c == nil {
			continue
		}
		if c.hidden {
			c.hidden = false
			e.add(e.about(p.ToolCallID, Chunk{Type: typeInputStart, ToolName: c.name}))
			c.complete = false
		}
		e.input(p.ToolCallID, p.Arguments)
		if projection.ForClient(p) {
			e.add(e.about(p.ToolCallID, Chunk{Type: typeInput, ToolName: c.name, Input: c.input, ProviderExecuted: &no}))
			continue
		}
		e.add(Chunk{
			Type: typeApproval, ApprovalID: approvalID(p), ToolCallID: p.ToolCallID, Reason: approvalQuestion(p),
			Question: question(p, e.path(p)),
		})
	}
	return nil
}

// path names the nested runs above a call that waits, the outermost first.
func (e *encoder) path(p wire.InputRequired) (names []string) {
	for _, f := range p.Frames {
		if f.AgentID != nil {
			names = append([]string{cmp.Or(e.names[*f.AgentID], string(*f.AgentID))}, names...)
		}
	}
	if p.Nested != nil {
		names = append(names, p.Nested.Name)
	}
	return names
}

// end ends the stream of the run.
func (e *encoder) end(c projection.RunEnded) {
	about := about(c.Run, c.State.StopReason, c.Usage, c.Output, c.Expired)
	if e.redo != nil && (c.Outcome == projection.Finished || c.Outcome == projection.Waits) {
		e.cut = true // what the client has of the step is not in its message
		return
	}
	e.endOpenBlock()
	switch c.Outcome {
	case projection.Left:
		e.cut = true
	case projection.Failed:
		e.describe(about)
		e.add(Chunk{Type: typeError, ErrorText: cmp.Or(c.State.Error, "The run failed.")})
	case projection.Cancelled:
		e.describe(about)
		e.add(Chunk{Type: typeAbort, Reason: "stopped"})
	case projection.Waits:
		e.add(Chunk{Type: typeFinish, FinishReason: "tool-calls", MessageMetadata: about})
	default:
		e.add(Chunk{Type: typeFinish, FinishReason: finishReason(c.State.StopReason), MessageMetadata: about})
	}
}

// about returns what is known of the message of a run.
func about(
	run spool.RunID, reason wire.StopReason, usage *spool.TokenCount, output json.RawMessage, expired wire.Expired,
) *Metadata {
	m := &Metadata{RunID: run, StopReason: reason, Output: output, Expired: expired}
	if reason == wire.StopCompleted {
		m.StopReason = ""
	}
	if usage != nil && *usage != (spool.TokenCount{}) {
		m.Usage = usage
	}
	return m
}

// describe adds what is known of the message, if there is one.
func (e *encoder) describe(about *Metadata) {
	if e.started {
		e.add(Chunk{Type: typeMetadata, MessageMetadata: about})
		return
	}
	e.started = true // a run that said nothing has no message
}

// finishReason returns the AI SDK's word for a stop reason.
func finishReason(r wire.StopReason) string {
	switch r {
	case "", wire.StopCompleted:
		return "stop"
	case wire.StopLength:
		return "length"
	case wire.StopFilter:
		return "content-filter"
	default:
		return "other"
	}
}

// custom passes an event on. No message has it, so it does not become a part of one either.
func (e *encoder) custom(c projection.Custom) {
	e.add(Chunk{Type: dataType(c.Name), Data: cmpJSON(c.Value), Transient: true})
}

// dataType returns the type of the data part of an event. A name may have any characters, and must not be one of
// the types that this package uses itself.
func dataType(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name)
	switch t := "data-" + clean; t {
	case typeSubagent, typeSubagentDelta, typeDataSteering:
		return t + "-event"
	default:
		return t
	}
}

func mustJSON(v any) json.RawMessage {
	text, _ := json.Marshal(v) //nolint:errchkjson // texts, and JSON that was checked
	return text
}

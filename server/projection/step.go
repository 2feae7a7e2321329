package projection

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// step is the present step of a segment, with its open blocks and calls. If only run and last are set, the
// segment is between two steps.
type step struct {
	run spool.RunID
	// last is the number of the step that finished last.
	last int
	// number of the open step. If none is open, open is false.
	number int
	open   bool
	// block is the stream's id of the open block, and kind its kind. Empty: no block is open.
	block string
	kind  BlockKind
	// texts and reasonings count the step's blocks, and sources the sources of its answer.
	texts, reasonings, sources int
	calls                      []openCall
}

// openCall is a call whose arguments are not complete.
type openCall struct {
	CallStarted

	begun bool // whether it has arguments
}

// content adds the changes of an item that becomes a part of a message.
func (s *step) content(to *changes, item wire.Item) error {
	switch item.Type {
	case wire.ItemToolStart, wire.ItemToolArgs, wire.ItemToolEnd, wire.ItemToolResult:
		return s.callItem(to, item)
	case wire.ItemSource:
		return s.source(to, item)
	case wire.ItemFile:
		return s.file(to, item)
	}
	var block wire.Delta // also has the fields of a [wire.Block]
	if err := item.Decode(&block); err != nil {
		return unreadable(item, err)
	}
	switch id := block.MessageID; item.Type {
	case wire.ItemTextStart:
		s.openBlock(to, Text, id)
	case wire.ItemTextContent:
		s.openBlock(to, Text, id)
		to.add(Delta{Text, block.Delta})
	case wire.ItemTextEnd:
		s.endBlock(to, Text, id)
	case wire.ItemReasoningStart:
		s.openBlock(to, Reasoning, id)
	case wire.ItemReasoningContent:
		s.openBlock(to, Reasoning, id)
		to.add(Delta{Reasoning, block.Delta})
	default:
		s.endBlock(to, Reasoning, id)
	}
	return nil
}

func (s *step) callItem(to *changes, item wire.Item) error {
	if item.Type == wire.ItemToolArgs {
		var in wire.ToolArgs
		if err := item.Decode(&in); err != nil {
			return unreadable(item, err)
		}
		if c := s.call(in.ToolCallID); c != nil {
			c.begun = true
			to.add(CallArgs{in.ToolCallID, in.Delta})
		}
		return nil
	}
	var in struct { // the fields of the other kinds
		ToolCallID spool.ToolCallID `json:"toolCallId"`
		ToolName   string           `json:"toolName"`
		Args       json.RawMessage  `json:"args"`
		Result     json.RawMessage  `json:"result"`
		Sources    []spool.Source   `json:"sources"`
	}
	if err := item.Decode(&in); err != nil {
		return unreadable(item, err)
	}
	switch item.Type {
	case wire.ItemToolStart:
		s.openCall(to, in.ToolCallID, in.ToolName)
	case wire.ItemToolEnd:
		s.openCall(to, in.ToolCallID, in.ToolName)
		s.endCall(to, in.ToolCallID, in.Args, !s.call(in.ToolCallID).begun)
	default:
		s.result(to, in.ToolCallID, in.ToolName, in.Result)
		for i, source := range in.Sources {
			to.add(Cited{Source: source, Call: in.ToolCallID, Run: s.run, Step: s.number, N: i + 1})
		}
	}
	return nil
}

// source adds a source of the answer.
func (s *step) source(to *changes, item wire.Item) error {
	var source spool.Source
	if err := item.Decode(&source); err != nil {
		return unreadable(item, err)
	}
	s.endOpenBlock(to)
	s.begin(to)
	s.sources++
	to.add(Cited{Source: source, Run: s.run, Step: s.number, N: s.sources})
	return nil
}

// file adds a file of the answer.
func (s *step) file(to *changes, item wire.Item) error {
	var file wire.FileShown
	if err := item.Decode(&file); err != nil {
		return unreadable(item, err)
	}
	s.endOpenBlock(to)
	s.begin(to)
	to.add(FileMade{file, s.run, s.number})
	return nil
}

func unreadable(item wire.Item, err error) error {
	return &spool.Error{Code: spool.Internal, Message: "a " + string(item.Type) + " item cannot be read", Err: err}
}

// begin opens the next step, unless one is open.
func (s *step) begin(to *changes) { s.beginAs(to, s.last+1) }

func (s *step) beginAs(to *changes, number int) {
	if s.open {
		return
	}
	s.open, s.number, s.texts, s.reasonings, s.sources = true, number, 0, 0, 0
	to.add(StepStarted{s.run, number})
}

// openBlock opens a block, unless it is open.
func (s *step) openBlock(to *changes, kind BlockKind, id string) {
	if s.block == id && s.kind == kind {
		return
	}
	s.endOpenBlock(to)
	s.begin(to)
	s.block, s.kind = id, kind
	n := &s.texts
	if kind == Reasoning {
		n = &s.reasonings
	}
	*n++
	to.add(BlockStarted{kind, s.run, s.number, *n})
}

func (s *step) endBlock(to *changes, kind BlockKind, id string) {
	if s.block == id && s.kind == kind {
		s.endOpenBlock(to)
	}
}

func (s *step) endOpenBlock(to *changes) {
	if s.block != "" {
		s.block = ""
		to.add(BlockEnded{s.kind})
	}
}

// openCall opens a call, unless it is open.
func (s *step) openCall(to *changes, id spool.ToolCallID, name string) {
	if s.call(id) != nil {
		return
	}
	s.endOpenBlock(to)
	s.begin(to)
	start := CallStarted{ID: id, Name: name, Run: s.run, Step: s.number}
	s.calls = append(s.calls, openCall{CallStarted: start})
	to.add(start)
}

func (s *step) call(id spool.ToolCallID) *openCall {
	at := slices.IndexFunc(s.calls, func(c openCall) bool { return c.ID == id })
	if at < 0 {
		return nil
	}
	return &s.calls[at]
}

func (s *step) endCall(to *changes, id spool.ToolCallID, args json.RawMessage, whole bool) {
	if s.call(id) == nil {
		return
	}
	s.calls = slices.DeleteFunc(s.calls, func(c openCall) bool { return c.ID == id })
	to.add(CallEnded{id, args, whole})
}

// result adds the result, and ends the call first if it is open. If the call is unknown, it belongs to the
// step that has parked and continues.
func (s *step) result(to *changes, id spool.ToolCallID, name string, result json.RawMessage) {
	s.endOpenBlock(to)
	s.beginAs(to, s.last)
	s.endCall(to, id, nil, false)
	to.add(CallResult{ID: id, Name: name, Result: result, Run: s.run, Step: s.number})
}

// finish closes the step and everything that is open in it.
func (s *step) finish(to *changes, f wire.StepFinished) {
	s.beginAs(to, f.Step)
	s.endOpen(to)
	to.add(StepSaved{s.run, s.number, f})
	*s = step{run: s.run, last: f.Step}
}

// abort closes everything that is open in a step that does not finish.
func (s *step) abort(to *changes) {
	s.endOpen(to)
	if s.open {
		to.add(StepLeft{s.run, s.number})
	}
	*s = step{run: s.run, last: s.last}
}

func (s *step) endOpen(to *changes) {
	s.endOpenBlock(to)
	for _, c := range s.calls {
		to.add(CallEnded{ID: c.ID})
	}
	s.calls = nil
}

// reopen adds the starts of everything that is open, for a client that has the messages.
func (s *step) reopen(to *changes) {
	if s.open {
		to.add(StepStarted{s.run, s.number})
	}
	if s.block != "" {
		n := s.texts
		if s.kind == Reasoning {
			n = s.reasonings
		}
		to.add(BlockStarted{s.kind, s.run, s.number, n})
	}
	for _, c := range s.calls {
		to.add(c.CallStarted)
	}
}

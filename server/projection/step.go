package projection

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
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
	kind  spool.PartType
	// texts and reasonings count the step's blocks, and sources the sources of its answer.
	texts, reasonings, sources int
	calls                      []openCall
}

// openCall is a call whose arguments are not complete.
type openCall struct {
	CallStarted

	begun bool // whether it has arguments
}

// content adds the changes of something that becomes a part of a message.
func (s *step) content(to *changes, c fold.Content) {
	switch c.Type {
	case spool.PartText, spool.PartReasoning:
		s.text(to, c)
	case spool.PartToolCall:
		s.callPart(to, c)
	case spool.PartToolResult:
		s.result(to, c.Part)
		for i, source := range c.Sources {
			to.add(Cited{Source: source, Call: c.Part.ToolCallID, Run: s.run, Step: s.number, N: i + 1})
		}
	case spool.PartSource:
		s.between(to)
		s.sources++
		source := spool.Source{URL: c.Part.URL, Title: c.Part.Title, Spans: c.Part.Spans}
		to.add(Cited{Source: source, Run: s.run, Step: s.number, N: s.sources})
	default:
		s.between(to)
		f := c.Part
		file := wire.FileShown{Image: f.Image, File: f.File, MIMEType: f.MIMEType, FileName: f.FileName}
		to.add(FileMade{file, s.run, s.number})
	}
}

// between ends the open block in the step, which is opened first.
func (s *step) between(to *changes) {
	s.endOpenBlock(to)
	s.begin(to)
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

// text opens the block of a text, unless it is open, and adds to it or ends it.
func (s *step) text(to *changes, c fold.Content) {
	is := s.block == c.ID && s.kind == c.Type
	if c.Act == fold.Ends {
		if is {
			s.endOpenBlock(to)
		}
		return
	}
	if !is {
		s.between(to)
		s.block, s.kind = c.ID, c.Type
		*s.blocks()++
		to.add(BlockStarted{s.kind, s.run, s.number, *s.blocks()})
	}
	if c.Act == fold.Grows {
		to.add(Delta{s.kind, c.Delta})
	}
}

// blocks is the number of the step's blocks of the kind of the last one.
func (s *step) blocks() *int {
	if s.kind == Reasoning {
		return &s.reasonings
	}
	return &s.texts
}

func (s *step) endOpenBlock(to *changes) {
	if s.block != "" {
		s.block = ""
		to.add(BlockEnded{s.kind})
	}
}

// callPart opens a call, unless it is open, and adds to its arguments or ends it.
func (s *step) callPart(to *changes, c fold.Content) {
	id := spool.ToolCallID(c.ID)
	call := s.call(id)
	if c.Act == fold.Grows {
		if call != nil {
			call.begun = true
			to.add(CallArgs{id, c.Delta})
		}
		return
	}
	if call == nil {
		s.between(to)
		start := CallStarted{ID: id, Name: c.Part.ToolName, Run: s.run, Step: s.number}
		s.calls = append(s.calls, openCall{CallStarted: start})
		to.add(start)
	}
	if c.Act == fold.Ends {
		s.endCall(to, id, c.Part.Args, !s.call(id).begun)
	}
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
func (s *step) result(to *changes, r *spool.Part) {
	s.endOpenBlock(to)
	s.beginAs(to, s.last)
	s.endCall(to, r.ToolCallID, nil, false)
	to.add(CallResult{ID: r.ToolCallID, Name: r.ToolName, Result: r.Result, Run: s.run, Step: s.number})
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
		to.add(BlockStarted{s.kind, s.run, s.number, *s.blocks()})
	}
	for _, c := range s.calls {
		to.add(c.CallStarted)
	}
}

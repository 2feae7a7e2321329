package agui

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/spoolhq/spool"
)

// step is the present step of a segment, with its open blocks and calls. If only run and last are set, the
// segment is between two steps.
//
// Message ids come from the run and the step, and not from the stream's ids of blocks. So a message keeps its
// id when it is saved. A client that gets all messages keeps the known ones at their positions, and appends
// the others.
type step struct {
	run spool.RunID
	// last is the number of the step that finished last.
	last int
	// name and number of the open step. Empty: no step is open.
	name   string
	number int
	id     string // of the open step's message, after the first use
	// text and reasoning are the stream's ids of the open blocks. Empty: no block is open.
	text, reasoning string
	// reasonings counts the step's blocks of reasoning.
	reasonings int
	calls      []openCall
}

// openCall is a call whose arguments are not complete.
type openCall struct {
	ToolStart

	begun bool // whether it has arguments
}

// messageID returns the id of a step's message, which has its text and its calls.
func messageID(run spool.RunID, step int) string {
	return string(run) + ":s" + strconv.Itoa(step)
}

// reasoningID returns the id of the n-th block of reasoning of a step, from 1.
func reasoningID(run spool.RunID, step, n int) string {
	return messageID(run, step) + ":r" + strconv.Itoa(n)
}

// resultID returns the id of the result of a step's call.
func resultID(run spool.RunID, step int, id spool.ToolCallID) string {
	return messageID(run, step) + ":" + string(id)
}

// messageID returns the id of the open step's message. It keeps the id, because each piece of text needs it.
func (s *step) messageID() string {
	if s.id == "" {
		s.id = messageID(s.run, s.number)
	}
	return s.id
}

func (s *step) reasoningID() string { return reasoningID(s.run, s.number, s.reasonings) }

// content returns the events of an item that becomes a part of a message.
func (s *step) content(item spool.Item) ([]Event, error) {
	switch item.Type {
	case spool.ItemToolStart, spool.ItemToolArgs, spool.ItemToolEnd, spool.ItemToolResult:
		return s.callItem(item)
	}
	var block spool.Delta // also has the fields of a [spool.Block]
	if err := item.Decode(&block); err != nil {
		return nil, unreadable(item, err)
	}
	id := block.MessageID
	switch item.Type {
	case spool.ItemTextStart:
		return s.openText(id), nil
	case spool.ItemTextContent:
		events := s.openText(id)
		return append(events, Delta{TypeTextContent, s.messageID(), block.Delta}), nil
	case spool.ItemTextEnd:
		return s.endText(id), nil
	case spool.ItemReasoningStart:
		return s.openReasoning(id), nil
	case spool.ItemReasoningContent:
		events := s.openReasoning(id)
		return append(events, Delta{TypeReasoningContent, s.reasoningID(), block.Delta}), nil
	default:
		return s.endReasoning(id), nil
	}
}

func (s *step) callItem(item spool.Item) ([]Event, error) {
	if item.Type == spool.ItemToolArgs {
		var in spool.ToolArgs
		if err := item.Decode(&in); err != nil {
			return nil, unreadable(item, err)
		}
		return s.args(in.ToolCallID, in.Delta), nil
	}
	var in struct { // the fields of the other kinds
		ToolCallID spool.ToolCallID `json:"toolCallId"`
		ToolName   string           `json:"toolName"`
		Args       json.RawMessage  `json:"args"`
		Result     json.RawMessage  `json:"result"`
	}
	if err := item.Decode(&in); err != nil {
		return nil, unreadable(item, err)
	}
	switch item.Type {
	case spool.ItemToolStart:
		return s.openCall(in.ToolCallID, in.ToolName), nil
	case spool.ItemToolEnd:
		events := s.openCall(in.ToolCallID, in.ToolName)
		if c := s.call(in.ToolCallID); !c.begun {
			events = append(events, ToolArgs{in.ToolCallID, argsText(in.Args)})
		}
		return append(events, s.endCall(in.ToolCallID)...), nil
	default:
		return s.result(in.ToolCallID, in.Result), nil
	}
}

func unreadable(item spool.Item, err error) error {
	return &spool.Error{Code: spool.Internal, Message: "a " + string(item.Type) + " item cannot be read", Err: err}
}

// begin opens the next step, unless one is open.
func (s *step) begin() []Event { return s.beginAs(s.last + 1) }

func (s *step) beginAs(number int) []Event {
	if s.name != "" {
		return nil
	}
	s.name, s.number, s.id, s.reasonings = "step "+strconv.Itoa(number), number, "", 0
	return []Event{StepStarted{s.name}}
}

func (s *step) openText(id string) []Event {
	if s.text == id {
		return nil
	}
	events := append(s.endBlocks(), s.begin()...)
	s.text = id
	return append(events, TextStart{s.messageID(), spool.RoleAssistant})
}

func (s *step) endText(id string) []Event {
	if s.text != id || id == "" {
		return nil
	}
	s.text = ""
	return []Event{Mark{TypeTextEnd, s.messageID()}}
}

func (s *step) openReasoning(id string) []Event {
	if s.reasoning == id {
		return nil
	}
	events := append(s.endBlocks(), s.begin()...)
	s.reasoning = id
	s.reasonings++
	return append(events, s.reasoningStarts()...)
}

func (s *step) endReasoning(id string) []Event {
	if s.reasoning != id || id == "" {
		return nil
	}
	s.reasoning = ""
	return []Event{Mark{TypeReasoningMessageEnd, s.reasoningID()}, Mark{TypeReasoningEnd, s.reasoningID()}}
}

func (s *step) reasoningStarts() []Event {
	return []Event{Mark{TypeReasoningStart, s.reasoningID()}, ReasoningMessageStart{s.reasoningID(), string(roleReasoning)}}
}

func (s *step) endBlocks() []Event { return append(s.endText(s.text), s.endReasoning(s.reasoning)...) }

// openCall opens a call, unless it is open.
func (s *step) openCall(id spool.ToolCallID, name string) []Event {
	if s.call(id) != nil {
		return nil
	}
	events := append(s.endBlocks(), s.begin()...)
	start := ToolStart{ToolCallID: id, ToolCallName: name, ParentMessageID: s.messageID()}
	s.calls = append(s.calls, openCall{ToolStart: start})
	return append(events, start)
}

func (s *step) call(id spool.ToolCallID) *openCall {
	at := slices.IndexFunc(s.calls, func(c openCall) bool { return c.ToolCallID == id })
	if at < 0 {
		return nil
	}
	return &s.calls[at]
}

func (s *step) args(id spool.ToolCallID, delta string) []Event {
	c := s.call(id)
	if c == nil {
		return nil
	}
	c.begun = true
	return []Event{ToolArgs{id, delta}}
}

func (s *step) endCall(id spool.ToolCallID) []Event {
	if s.call(id) == nil {
		return nil
	}
	s.calls = slices.DeleteFunc(s.calls, func(c openCall) bool { return c.ToolCallID == id })
	return []Event{ToolEnd{id}}
}

// result returns the result, and ends the call first if it is open. If the call is unknown, it belongs to the
// step that has parked and continues.
func (s *step) result(id spool.ToolCallID, result json.RawMessage) []Event {
	events := append(s.endBlocks(), s.beginAs(s.last)...)
	events = append(events, s.endCall(id)...)
	return append(events, ToolResult{resultID(s.run, s.number, id), id, resultText(result), spool.RoleTool})
}

// finish closes the step and everything that is open in it.
func (s *step) finish(f spool.StepFinished) []Event {
	events := s.beginAs(f.Step)
	events = append(events, s.endOpen()...)
	events = append(events, StepFinished{StepName: s.name, Metadata: &Metadata[spool.StepFinished]{f}})
	*s = step{run: s.run, last: f.Step}
	return events
}

// abort closes everything that is open in a step that does not finish.
func (s *step) abort() []Event {
	events := s.endOpen()
	if s.name != "" {
		events = append(events, StepFinished{StepName: s.name})
	}
	*s = step{run: s.run, last: s.last}
	return events
}

func (s *step) endOpen() []Event {
	events := s.endBlocks()
	for _, c := range s.calls {
		events = append(events, ToolEnd{c.ToolCallID})
	}
	s.calls = nil
	return events
}

// reopen returns the starts of everything that is open, for a client that has the messages.
func (s *step) reopen() []Event {
	var events []Event
	if s.name != "" {
		events = append(events, StepStarted{s.name})
	}
	if s.text != "" {
		events = append(events, TextStart{s.messageID(), spool.RoleAssistant})
	}
	if s.reasoning != "" {
		events = append(events, s.reasoningStarts()...)
	}
	for _, c := range s.calls {
		events = append(events, c.ToolStart)
	}
	return events
}

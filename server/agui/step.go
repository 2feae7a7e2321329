package agui

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/spoolhq/spool"
)

// step is the step that a segment is in, with the blocks and calls that are open in it. With only run and
// last set, the segment is between two steps.
//
// Messages are named by run and step, and not as the stream names its blocks: only so do
// they have the same ids when they have been saved. A client that is sent all messages
// keeps those it knows in their places, and puts the others behind them.
type step struct {
	run spool.RunID
	// last is the number of the step that finished last.
	last int
	// name and number of the open step. Empty: none is.
	name   string
	number int
	id     string // of the message of the open step, once it was asked for
	// text and reasoning are the stream's ids of the open blocks. Empty: none is.
	text, reasoning string
	// reasonings counts the step's blocks of reasoning.
	reasonings int
	calls      []openCall
}

// openCall is a call whose arguments are being written.
type openCall struct {
	ToolStart

	begun bool // whether there were arguments
}

// messageID names what a step says, and its calls.
func messageID(run spool.RunID, step int) string {
	return string(run) + ":s" + strconv.Itoa(step)
}

// reasoningID names the n-th block of reasoning of a step, from 1.
func reasoningID(run spool.RunID, step, n int) string {
	return messageID(run, step) + ":r" + strconv.Itoa(n)
}

// resultID names the result of a call of a step.
func resultID(run spool.RunID, step int, id spool.ToolCallID) string {
	return messageID(run, step) + ":" + string(id)
}

// messageID names what the open step says. Each piece of text asks for it.
func (s *step) messageID() string {
	if s.id == "" {
		s.id = messageID(s.run, s.number)
	}
	return s.id
}

func (s *step) reasoningID() string { return reasoningID(s.run, s.number, s.reasonings) }

// content returns the events of an item of the kinds that become a part of a message.
func (s *step) content(item spool.Item) ([]Event, error) {
	switch item.Type {
	case spool.ItemToolStart, spool.ItemToolArgs, spool.ItemToolEnd, spool.ItemToolResult:
		return s.callItem(item)
	}
	var block spool.Delta // has the fields of a [spool.Block] too
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

// result ends the call if that is to be done. A result without a call before it is one of
// the step that has parked, which goes on.
func (s *step) result(id spool.ToolCallID, result json.RawMessage) []Event {
	events := append(s.endBlocks(), s.beginAs(s.last)...)
	events = append(events, s.endCall(id)...)
	return append(events, ToolResult{resultID(s.run, s.number, id), id, resultText(result), spool.RoleTool})
}

// finish closes the step with all that is open in it.
func (s *step) finish(f spool.StepFinished) []Event {
	events := s.beginAs(f.Step)
	events = append(events, s.endOpen()...)
	events = append(events, StepFinished{StepName: s.name, Metadata: &Metadata[spool.StepFinished]{f}})
	*s = step{run: s.run, last: f.Step}
	return events
}

// abort closes all that is open, of a step that does not come to its end.
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

// reopen returns the starts of all that is open, for a client that has its messages.
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

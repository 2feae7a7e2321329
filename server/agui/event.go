package agui

import (
	"bytes"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Version is the version of the protocol.
const Version = "1.0"

// Type names a kind of event.
type Type string

// The kinds of event that the package emits.
const (
	TypeRunStarted  Type = "RUN_STARTED"
	TypeRunFinished Type = "RUN_FINISHED"
	TypeRunError    Type = "RUN_ERROR"

	TypeStepStarted  Type = "STEP_STARTED"
	TypeStepFinished Type = "STEP_FINISHED"

	TypeTextStart   Type = "TEXT_MESSAGE_START"
	TypeTextContent Type = "TEXT_MESSAGE_CONTENT"
	TypeTextEnd     Type = "TEXT_MESSAGE_END"

	TypeReasoningStart        Type = "REASONING_START"
	TypeReasoningMessageStart Type = "REASONING_MESSAGE_START"
	TypeReasoningContent      Type = "REASONING_MESSAGE_CONTENT"
	TypeReasoningMessageEnd   Type = "REASONING_MESSAGE_END"
	TypeReasoningEnd          Type = "REASONING_END"

	TypeToolStart  Type = "TOOL_CALL_START"
	TypeToolArgs   Type = "TOOL_CALL_ARGS"
	TypeToolEnd    Type = "TOOL_CALL_END"
	TypeToolResult Type = "TOOL_CALL_RESULT"

	TypeMessages      Type = "MESSAGES_SNAPSHOT"
	TypeStateSnapshot Type = "STATE_SNAPSHOT"
	TypeStateDelta    Type = "STATE_DELTA"
	TypeCustom        Type = "CUSTOM"
)

// Event is one event: a value of one of the types of [Kinds]. It encodes as a JSON object with its type
// first. At the top level, it has only fields that the protocol knows.
type Event interface{ event() }

// Encode returns the JSON form of an event, on one line.
func Encode(e Event) ([]byte, error) { return appendEvent(nil, e) }

// plainEvent is an event with text fields only, which encodes without reflection.
type plainEvent interface {
	// appendFields appends the JSON of the event without its type.
	appendFields(b []byte) []byte
}

// appendEvent appends the JSON form of an event, on one line.
func appendEvent(b []byte, e Event) ([]byte, error) {
	head := len(b)
	b = append(append(append(b, `{"type":"`...), TypeOf(e)...), '"')
	at := len(b)
	if plain, ok := e.(plainEvent); ok {
		b = plain.appendFields(b)
	} else {
		fields, err := json.Marshal(e)
		if err != nil {
			return b[:head], &spool.Error{Code: spool.Internal, Message: "an event cannot be encoded", Err: err}
		}
		b = append(b, fields...)
	}
	if b[at] = ','; len(b) == at+2 { // the event has no fields
		b = append(b[:at], '}')
	}
	return b, nil
}

// RunStarted opens a run.
type RunStarted struct {
	ThreadID        spool.ThreadID `json:"threadId"`        // The thread.
	RunID           string         `json:"runId"`           // The run, by the client's own id.
	ProtocolVersion string         `json:"protocolVersion"` // The version of AG-UI.
	// More from this server.
	//
	// Metadata is nil if the client has no run id of its own.
	Metadata *Metadata[OwnRun] `json:"metadata,omitempty"`
}

// RunFinished closes a run that did not fail.
type RunFinished struct {
	ThreadID spool.ThreadID     `json:"threadId"`         // The thread.
	RunID    string             `json:"runId"`            // The run, by the client's own id.
	Result   *Result            `json:"result,omitempty"` // Why the run ended, if the outcome does not say it.
	Outcome  Outcome            `json:"outcome"`          // How the run ended.
	Usage    []spool.TokenCount `json:"usage,omitempty"`  // The tokens that it used.
	// More from this server.
	//
	// Metadata is nil if there is nothing more to say.
	Metadata *Metadata[RunMark] `json:"metadata,omitempty"`
}

// RunError closes a run that failed.
type RunError struct {
	Message string             `json:"message"`         // The error, for a person.
	Code    string             `json:"code,omitempty"`  // The error's code, for a program.
	Usage   []spool.TokenCount `json:"usage,omitempty"` // The tokens that the run used.
	// More from this server.
	//
	// Metadata is nil if there is nothing more to say.
	Metadata *Metadata[RunMark] `json:"metadata,omitempty"`
}

// StepStarted opens a step.
type StepStarted struct {
	StepName string `json:"stepName"` // The step's name.
}

// StepFinished closes a step.
type StepFinished struct {
	StepName string                       `json:"stepName"`           // The step's name.
	Metadata *Metadata[wire.StepFinished] `json:"metadata,omitempty"` // More from this server.
}

// TextStart opens a message of text.
type TextStart struct {
	MessageID string     `json:"messageId"` // The message.
	Role      spool.Role `json:"role"`      // Who speaks.
}

// Delta appends to a message of text or of reasoning.
type Delta struct {
	kind Type

	MessageID string `json:"messageId"` // The message.
	Delta     string `json:"delta"`     // The text to append.
}

func (e Delta) appendFields(b []byte) []byte {
	return wire.Delta{MessageID: e.MessageID, Delta: e.Delta}.AppendJSON(b)
}

// Mark opens or closes a span of reasoning, or closes a message.
type Mark struct {
	kind Type

	MessageID string `json:"messageId"` // The message.
}

func (e Mark) appendFields(b []byte) []byte {
	return wire.Block{MessageID: e.MessageID}.AppendJSON(b)
}

// ReasoningMessageStart opens a message of reasoning.
type ReasoningMessageStart struct {
	MessageID string `json:"messageId"` // The message.
	Role      string `json:"role"`      // Always reasoning.
}

// ToolStart opens a tool call. All calls of a step have the same parent message.
type ToolStart struct {
	ToolCallID      spool.ToolCallID `json:"toolCallId"`      // The call.
	ToolCallName    string           `json:"toolCallName"`    // The tool.
	ParentMessageID string           `json:"parentMessageId"` // The message that the call is part of.
}

// ToolArgs appends to the arguments of a tool call.
type ToolArgs struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call.
	Delta      string           `json:"delta"`      // The text to append to the arguments.
}

func (e ToolArgs) appendFields(b []byte) []byte { return wire.ToolArgs(e).AppendJSON(b) }

// ToolEnd says that the arguments of a tool call are complete.
type ToolEnd struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call.
}

// ToolResult is the result of a tool: its text, or JSON as text.
type ToolResult struct {
	MessageID  string           `json:"messageId"`  // The message of the result.
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call.
	Content    string           `json:"content"`    // The result of the tool: its text, or JSON as text.
	Role       spool.Role       `json:"role"`       // Always tool.
}

// Custom is an event of an application, or an event of this server that the protocol does not know.
type Custom struct {
	Name  string          `json:"name"`  // The name of the event.
	Value json.RawMessage `json:"value"` // The event's content: any JSON.
	// More from this server.
	//
	// Metadata marks an application's event, and names its publisher. Nil: it is not an application's event.
	Metadata *Metadata[Publisher] `json:"metadata,omitempty"`
}

// publishedBy returns the event of an application, with its publisher: a subject or a tool.
func (e Custom) publishedBy(subject, tool string) Custom {
	e.Metadata = &Metadata[Publisher]{Publisher{true, subject, tool}}
	return e
}

// custom returns a custom event. Its value is always present and valid.
func custom(name string, value json.RawMessage) Custom {
	if value = bytes.TrimSpace(value); !json.Valid(value) {
		value = json.RawMessage("null")
	}
	return Custom{Name: name, Value: value}
}

package agui

import (
	"bytes"
	"encoding/json"

	"github.com/spoolhq/spool"
)

// Version is the version of the protocol that the package speaks.
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

// Event is one event. It encodes as a JSON object with its type first, and has at the top
// no field that the protocol does not know.
type Event interface{ Type() Type }

// Encode returns the JSON form of an event, on one line.
func Encode(e Event) ([]byte, error) { return appendEvent(nil, e) }

// plainEvent is an event of text, which is written without reflection.
type plainEvent interface {
	// appendFields appends the JSON of the event without its type.
	appendFields(b []byte) []byte
}

// appendEvent appends the JSON form of an event, on one line.
func appendEvent(b []byte, e Event) ([]byte, error) {
	head := len(b)
	b = append(append(append(b, `{"type":"`...), e.Type()...), '"')
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
	if b[at] = ','; len(b) == at+2 { // there are no fields
		b = append(b[:at], '}')
	}
	return b, nil
}

// RunStarted opens a run.
type RunStarted struct {
	ThreadID        spool.ThreadID `json:"threadId"`
	RunID           string         `json:"runId"`
	ProtocolVersion string         `json:"protocolVersion"`
	Metadata        Metadata       `json:"metadata,omitempty"`
}

// RunFinished closes a run that did not fail.
type RunFinished struct {
	ThreadID spool.ThreadID     `json:"threadId"`
	RunID    string             `json:"runId"`
	Result   *Result            `json:"result,omitempty"`
	Outcome  Outcome            `json:"outcome"`
	Usage    []spool.TokenCount `json:"usage,omitempty"`
}

// Result is what there is to say of a run that came to its own end.
type Result struct {
	// FinishReason is the run's stop reason, or "client_tool" for one that waits for the client to
	// run its tools.
	FinishReason spool.StopReason `json:"finishReason"`
}

// Outcome says how a run ended that did not fail.
type Outcome struct {
	Type OutcomeType `json:"type"`
	// Interrupts are what the run waits for; there are some exactly with [OutcomeInterrupt].
	Interrupts []Interrupt `json:"interrupts,omitempty"`
}

// OutcomeType names an outcome.
type OutcomeType string

// The outcomes.
const (
	OutcomeSuccess   OutcomeType = "success"
	OutcomeInterrupt OutcomeType = "interrupt"
	OutcomeCancelled OutcomeType = "cancelled"
)

// RunError closes a run that failed.
type RunError struct {
	Message string             `json:"message"`
	Code    string             `json:"code,omitempty"`
	Usage   []spool.TokenCount `json:"usage,omitempty"`
}

// StepStarted opens a step.
type StepStarted struct {
	StepName string `json:"stepName"`
}

// StepFinished closes a step.
type StepFinished struct {
	StepName string   `json:"stepName"`
	Metadata Metadata `json:"metadata,omitempty"`
}

// Metadata is what an event says beyond the protocol, by who says it.
type Metadata map[string]any

// ours returns metadata of this server.
func ours(v any) Metadata { return Metadata{stateKey: v} }

// TextStart opens a message of text.
type TextStart struct {
	MessageID string     `json:"messageId"`
	Role      spool.Role `json:"role"`
}

// Delta adds to a message of text or of reasoning.
type Delta struct {
	kind Type

	MessageID string `json:"messageId"`
	Delta     string `json:"delta"`
}

func (e Delta) appendFields(b []byte) []byte {
	return spool.Delta{MessageID: e.MessageID, Delta: e.Delta}.AppendJSON(b)
}

// Mark opens or closes a span of reasoning, or closes a message.
type Mark struct {
	kind Type

	MessageID string `json:"messageId"`
}

func (e Mark) appendFields(b []byte) []byte {
	return spool.Block{MessageID: e.MessageID}.AppendJSON(b)
}

// ReasoningMessageStart opens a message of reasoning.
type ReasoningMessageStart struct {
	MessageID string `json:"messageId"`
	Role      string `json:"role"` // always "reasoning"
}

// ToolStart opens a tool call. All calls of a step have the same parent message.
type ToolStart struct {
	ToolCallID      spool.ToolCallID `json:"toolCallId"`
	ToolCallName    string           `json:"toolCallName"`
	ParentMessageID string           `json:"parentMessageId"`
}

// ToolArgs adds to the arguments of a tool call.
type ToolArgs struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"`
	Delta      string           `json:"delta"`
}

func (e ToolArgs) appendFields(b []byte) []byte { return spool.ToolArgs(e).AppendJSON(b) }

// ToolEnd says that the arguments of a tool call are complete.
type ToolEnd struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"`
}

// ToolResult is what a tool returned: its text, or JSON as text.
type ToolResult struct {
	MessageID  string           `json:"messageId"`
	ToolCallID spool.ToolCallID `json:"toolCallId"`
	Content    string           `json:"content"`
	Role       spool.Role       `json:"role"`
}

// StateSnapshot replaces the state that the client has.
type StateSnapshot struct {
	Snapshot map[string]ThreadState `json:"snapshot"`
}

// StateDelta changes the state that the client has, by RFC 6902.
type StateDelta struct {
	Delta []Operation `json:"delta"`
}

// Operation is one change of a [StateDelta].
type Operation struct {
	Op    string      `json:"op"`
	Path  string      `json:"path"`
	Value ThreadState `json:"value"`
}

// Custom is an event of an application, or one of this server for which the protocol has
// no word.
type Custom struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
	// Metadata says who has published an application's event. Nil: nobody is known.
	Metadata Metadata `json:"metadata,omitempty"`
}

// Type implements [Event].
func (RunStarted) Type() Type { return TypeRunStarted }

// Type implements [Event].
func (RunFinished) Type() Type { return TypeRunFinished }

// Type implements [Event].
func (RunError) Type() Type { return TypeRunError }

// Type implements [Event].
func (StepStarted) Type() Type { return TypeStepStarted }

// Type implements [Event].
func (StepFinished) Type() Type { return TypeStepFinished }

// Type implements [Event].
func (TextStart) Type() Type { return TypeTextStart }

// Type implements [Event].
func (e Delta) Type() Type { return e.kind }

// Type implements [Event].
func (e Mark) Type() Type { return e.kind }

// Type implements [Event].
func (ReasoningMessageStart) Type() Type { return TypeReasoningMessageStart }

// Type implements [Event].
func (ToolStart) Type() Type { return TypeToolStart }

// Type implements [Event].
func (ToolArgs) Type() Type { return TypeToolArgs }

// Type implements [Event].
func (ToolEnd) Type() Type { return TypeToolEnd }

// Type implements [Event].
func (ToolResult) Type() Type { return TypeToolResult }

// Type implements [Event].
func (Messages) Type() Type { return TypeMessages }

// Type implements [Event].
func (StateSnapshot) Type() Type { return TypeStateSnapshot }

// Type implements [Event].
func (StateDelta) Type() Type { return TypeStateDelta }

// Type implements [Event].
func (Custom) Type() Type { return TypeCustom }

// publishedBy returns the event with who has published it, a subject or a tool.
func (e Custom) publishedBy(subject, tool string) Custom {
	if subject != "" || tool != "" {
		e.Metadata = ours(struct {
			PublishedBy     string `json:"publishedBy,omitempty"`
			PublishedByTool string `json:"publishedByTool,omitempty"`
		}{subject, tool})
	}
	return e
}

// custom returns a custom event. Its value is never absent, and never invalid.
func custom(name string, value json.RawMessage) Custom {
	if value = bytes.TrimSpace(value); !json.Valid(value) {
		value = json.RawMessage("null")
	}
	return Custom{Name: name, Value: value}
}

package wire

import (
	"encoding/json"
	"reflect"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/agui"
)

// AgentEvent is an event of AG-UI. It is for the document alone: the package agui writes events,
// from the types that are embedded here.
type AgentEvent struct {
	_ struct{} `doc:"An event of AG-UI 1.0, by its type. Ignore a type that you do not know."`

	RunStarted              *agentRunStarted
	RunFinished             *agentRunFinished
	RunError                *agentRunError
	StepStarted             *agentStepStarted
	StepFinished            *agentStepFinished
	TextMessageStart        *agentTextMessageStart
	TextMessageContent      *agentTextMessageContent
	TextMessageEnd          *agentTextMessageEnd
	ReasoningStart          *agentReasoningStart
	ReasoningMessageStart   *agentReasoningMessageStart
	ReasoningMessageContent *agentReasoningMessageContent
	ReasoningMessageEnd     *agentReasoningMessageEnd
	ReasoningEnd            *agentReasoningEnd
	ToolCallStart           *agentToolCallStart
	ToolCallArgs            *agentToolCallArgs
	ToolCallEnd             *agentToolCallEnd
	ToolCallResult          *agentToolCallResult
	MessagesSnapshot        *agentMessagesSnapshot
	StateSnapshot           *agentStateSnapshot
	StateDelta              *agentStateDelta
	Custom                  *agentCustom
}

type (
	agentRunStarted struct {
		Type agui.Type `const:"RUN_STARTED" json:"type"`
		agui.RunStarted
		Metadata *agentMetadata[agentRun] `doc:"More from this server." json:"metadata,omitempty"`
	}
	agentRunFinished struct {
		Type agui.Type `const:"RUN_FINISHED" json:"type"`
		agui.RunFinished
	}
	agentRunError struct {
		Type agui.Type `const:"RUN_ERROR" json:"type"`
		agui.RunError
	}
	agentStepStarted struct {
		Type agui.Type `const:"STEP_STARTED" json:"type"`
		agui.StepStarted
	}
	agentStepFinished struct {
		Type agui.Type `const:"STEP_FINISHED" json:"type"`
		agui.StepFinished
		Metadata *agentMetadata[agentStep] `doc:"More from this server." json:"metadata,omitempty"`
	}
	agentTextMessageStart struct {
		Type agui.Type `const:"TEXT_MESSAGE_START" json:"type"`
		agui.TextStart
	}
	agentTextMessageContent struct {
		Type agui.Type `const:"TEXT_MESSAGE_CONTENT" json:"type"`
		agui.Delta
	}
	agentTextMessageEnd struct {
		Type agui.Type `const:"TEXT_MESSAGE_END" json:"type"`
		agui.Mark
	}
	agentReasoningStart struct {
		Type agui.Type `const:"REASONING_START" json:"type"`
		agui.Mark
	}
	agentReasoningMessageStart struct {
		Type agui.Type `const:"REASONING_MESSAGE_START" json:"type"`
		agui.ReasoningMessageStart
	}
	agentReasoningMessageContent struct {
		Type agui.Type `const:"REASONING_MESSAGE_CONTENT" json:"type"`
		agui.Delta
	}
	agentReasoningMessageEnd struct {
		Type agui.Type `const:"REASONING_MESSAGE_END" json:"type"`
		agui.Mark
	}
	agentReasoningEnd struct {
		Type agui.Type `const:"REASONING_END" json:"type"`
		agui.Mark
	}
	agentToolCallStart struct {
		Type agui.Type `const:"TOOL_CALL_START" json:"type"`
		agui.ToolStart
	}
	agentToolCallArgs struct {
		Type agui.Type `const:"TOOL_CALL_ARGS" json:"type"`
		agui.ToolArgs
	}
	agentToolCallEnd struct {
		Type agui.Type `const:"TOOL_CALL_END" json:"type"`
		agui.ToolEnd
	}
	agentToolCallResult struct {
		Type agui.Type `const:"TOOL_CALL_RESULT" json:"type"`
		agui.ToolResult
	}
	agentMessagesSnapshot struct {
		Type     agui.Type      `const:"MESSAGES_SNAPSHOT"                                  json:"type"`
		Messages []agentMessage `doc:"All messages, in place of those that the client has." json:"messages"`
	}
	agentStateSnapshot struct {
		Type agui.Type `const:"STATE_SNAPSHOT" json:"type"`
		agui.StateSnapshot
	}
	agentStateDelta struct {
		Type agui.Type `const:"STATE_DELTA" json:"type"`
		agui.StateDelta
	}
	agentCustom struct {
		Type agui.Type `const:"CUSTOM" json:"type"`
		agui.Custom
		Metadata *agentMetadata[agentPublisher] `doc:"More from this server." json:"metadata,omitempty"`
	}
	agentMessage struct {
		agui.Message
		Content *agentContent `doc:"What it says. Left out: nothing but calls." json:"content,omitempty"`
	}
)

// Their names in the document, where that of the type says too little beside all the others.
type (
	agentResult      agui.Result
	agentOutcome     agui.Outcome
	agentOperation   agui.Operation
	agentThreadState agui.ThreadState
	agentToolCall    agui.ToolCall
	agentFunction    agui.Function
	agentPart        agui.Part
	agentSource      agui.Source
)

// agentInterrupt is what a run waits for.
type agentInterrupt struct {
	agui.Interrupt
	ResponseSchema json.RawMessage              `doc:"The JSON Schema of an answer's payload." json:"responseSchema"`
	Metadata       agentMetadata[agentQuestion] `doc:"More from this server."                  json:"metadata"`
}

// agentMetadata is what this server says beyond the protocol. Its types are those that the package
// agui writes there.
type agentMetadata[T any] struct {
	Spool T `doc:"What AG-UI has no field for." json:"spool"`
}

type (
	agentRun struct {
		RunID spool.RunID `doc:"The run's own id, where the client has another name for it." json:"runId"`
	}
	agentStep      struct{ spool.StepFinished }
	agentPublisher struct {
		PublishedBy     string `doc:"The subject who has published the event." json:"publishedBy,omitempty"`
		PublishedByTool string `doc:"The tool that has."                       json:"publishedByTool,omitempty"`
	}
	agentQuestion struct {
		ToolName         string          `doc:"The tool."                                                          json:"toolName"`
		AgentID          *spool.AgentID  `doc:"The nested run that asks, if one does."                             json:"agentId,omitempty"`
		Arguments        json.RawMessage `doc:"The arguments that are asked about."                                json:"arguments"`
		Digest           string          `doc:"Names what is asked. An answer that has it holds for nothing else." json:"digest,omitempty"`
		Occurrence       int             `doc:"Which question of the call it is, from 2. Left out: its first."     json:"occurrence,omitempty"`
		DistinctApprover bool            `doc:"Whoever started the run may not answer."                            json:"distinctApprover,omitempty"`
	}
)

// agentContent is what a message says: a text, or the parts of a user's turn with images.
type agentContent struct{ rest.Alternatives }

// AnyOf implements [rest.Alternatives].
func (agentContent) AnyOf() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[[]agui.Part]()}
}

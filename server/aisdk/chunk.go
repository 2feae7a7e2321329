package aisdk

import (
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Version is a major version of the AI SDK. A client refuses a whole stream for one chunk that it does not know,
// so the version decides which chunks it gets.
type Version int

// The versions. V6 is safe for both.
const (
	V6 Version = 6
	V7 Version = 7
)

// ParseVersion reads a version as a client names it, such as "7" or "7.0.173". Empty: [V6]. It returns an
// [spool.Invalid] error for another version.
func ParseVersion(field, text string) (Version, error) {
	switch major, _, _ := strings.Cut(text, "."); major {
	case "", "6":
		return V6, nil
	case "7":
		return V7, nil
	default:
		return 0, spool.Errorf(spool.Invalid, "%s must be 6 or 7, the major version of the AI SDK", field)
	}
}

// Chunk is one event of a stream. Its type decides which fields it has.
type Chunk struct {
	// Type is the kind: start, start-step, text-delta, tool-input-available, finish and so on, or data- and a name.
	Type string `json:"type"`
	// MessageID is the assistant's message. Only in start.
	MessageID string `json:"messageId,omitempty"`
	// ID is the block, the part or the message that the chunk is about.
	ID string `json:"id,omitempty"`
	// Delta is the text to append.
	Delta string `json:"delta,omitempty"`
	// ToolCallID is the call.
	ToolCallID spool.ToolCallID `json:"toolCallId,omitempty"`
	// ToolName is the tool.
	ToolName string `json:"toolName,omitempty"`
	// Dynamic is whether the call becomes a part of the type dynamic-tool: it is a call of a nested run.
	Dynamic bool `json:"dynamic,omitempty"`
	// ProviderExecuted is whether the server executes the call. False: the page does.
	ProviderExecuted *bool `json:"providerExecuted,omitempty" nullable:"false"`
	// ToolMetadata is the nested run that made the call.
	ToolMetadata *Caller `json:"toolMetadata,omitempty" nullable:"false"`
	// InputTextDelta is the text to append to the arguments.
	InputTextDelta string `json:"inputTextDelta,omitempty"`
	// Input is the arguments.
	Input json.RawMessage `json:"input,omitempty"`
	// Output is the result.
	Output json.RawMessage `json:"output,omitempty"`
	// ErrorText is why the call or the run failed.
	ErrorText string `json:"errorText,omitempty"`
	// ApprovalID is the question that waits for an answer.
	ApprovalID string `json:"approvalId,omitempty"`
	// Question is the question.
	Question *Question `json:"approvalDescriptor,omitempty" nullable:"false"`
	// Reason is why it waits, or why the run was stopped.
	Reason string `json:"reason,omitempty"`
	// Parts are the message of a steer.
	Parts []TurnPart `json:"parts,omitempty"`
	// URL is the address of a file.
	URL string `json:"url,omitempty"`
	// MediaType is the type of a file.
	MediaType string `json:"mediaType,omitempty"`
	// SourceID is the id of a source.
	SourceID string `json:"sourceId,omitempty"`
	// Title is the title of a source.
	Title string `json:"title,omitempty"`
	// ProviderMetadata is what else is known of a source.
	ProviderMetadata *Cited `json:"providerMetadata,omitempty" nullable:"false"`
	// Data is the content of a data part.
	Data json.RawMessage `json:"data,omitempty"`
	// Transient is whether the data part is an event: it does not become a part of the message.
	Transient bool `json:"transient,omitempty"`
	// FinishReason is how the run ended.
	FinishReason string `enum:"stop,length,content-filter,tool-calls,error,other" json:"finishReason,omitempty"`
	// MessageMetadata is what else is known of the message.
	MessageMetadata *Metadata `json:"messageMetadata,omitempty" nullable:"false"`
}

// Caller is the nested run that made a call.
type Caller struct {
	AgentID spool.AgentID `json:"agentId"`         // The nested run.
	Agent   string        `json:"agent,omitempty"` // Its name.
}

// Metadata is what is known of an assistant's message, beyond its parts.
type Metadata struct {
	RunID      spool.RunID       `json:"runId,omitempty"`                       // The run that wrote the message.
	Usage      *spool.TokenCount `json:"usage,omitempty"      nullable:"false"` // The tokens that the run used.
	StopReason wire.StopReason   `json:"stopReason,omitempty"`                  // Why the run ended before it was done.
	// Output is the JSON value that the run was asked for.
	Output json.RawMessage `json:"output,omitempty"`
	// Expired is the questions that nobody answered in time.
	Expired wire.Expired `json:"expired,omitzero"`
}

// The types of chunks.
const (
	typeStart         = "start"
	typeStartStep     = "start-step"
	typeFinishStep    = "finish-step"
	typeResetStep     = "reset-step"
	typeTextStart     = "text-start"
	typeTextDelta     = "text-delta"
	typeTextEnd       = "text-end"
	typeReasonStart   = "reasoning-start"
	typeReasonDelta   = "reasoning-delta"
	typeReasonEnd     = "reasoning-end"
	typeInputStart    = "tool-input-start"
	typeInputDelta    = "tool-input-delta"
	typeInput         = "tool-input-available"
	typeOutput        = "tool-output-available"
	typeOutputError   = "tool-output-error"
	typeOutputDenied  = "tool-output-denied"
	typeApproval      = "tool-approval-request"
	typeSteering      = "steering-message"
	typeFile          = "file"
	typeSourceURL     = "source-url"
	typeSourceDoc     = "source-document"
	typeMetadata      = "message-metadata"
	typeError         = "error"
	typeAbort         = "abort"
	typeFinish        = "finish"
	typeSubagent      = "data-subagent"
	typeSubagentDelta = "data-subagent-delta"
	typeDataSteering  = "data-steering-message"
)

// AppendChunk appends a chunk as a server-sent event.
func AppendChunk(b []byte, c Chunk) ([]byte, error) {
	b = append(b, "data: "...)
	var v any = c
	if c.Type == typeTextDelta || c.Type == typeReasonDelta { // most chunks are deltas
		v = delta{c.Type, c.ID, c.Delta}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return b, &spool.Error{Code: spool.Internal, Message: "a chunk cannot be encoded", Err: err}
	}
	return append(append(b, text...), "\n\n"...), nil
}

// delta has the fields of a chunk that appends a text.
type delta struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Delta string `json:"delta"`
}

// Done is the last event of a stream.
const Done = "data: [DONE]\n\n"

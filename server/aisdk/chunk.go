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
	Type             string           `doc:"The kind: start, start-step, text-delta, tool-input-available, finish and so on, or data- and a name." json:"type"`
	MessageID        string           `doc:"The assistant's message. Only in start."                                                               json:"messageId,omitempty"`
	ID               string           `doc:"The block, the part or the message that the chunk is about."                                           json:"id,omitempty"`
	Delta            string           `doc:"The text to append."                                                                                   json:"delta,omitempty"`
	ToolCallID       spool.ToolCallID `doc:"The call."                                                                                             json:"toolCallId,omitempty"`
	ToolName         string           `doc:"The tool."                                                                                             json:"toolName,omitempty"`
	Dynamic          bool             `doc:"Whether the call becomes a part of the type dynamic-tool: it is a call of a nested run."               json:"dynamic,omitempty"`
	ProviderExecuted *bool            `doc:"Whether the server executes the call. False: the page does."                                           json:"providerExecuted,omitempty"                        nullable:"false"`
	ToolMetadata     *Caller          `doc:"The nested run that made the call."                                                                    json:"toolMetadata,omitempty"                            nullable:"false"`
	InputTextDelta   string           `doc:"The text to append to the arguments."                                                                  json:"inputTextDelta,omitempty"`
	Input            json.RawMessage  `doc:"The arguments."                                                                                        json:"input,omitempty"`
	Output           json.RawMessage  `doc:"The result."                                                                                           json:"output,omitempty"`
	ErrorText        string           `doc:"Why the call or the run failed."                                                                       json:"errorText,omitempty"`
	ApprovalID       string           `doc:"The question that waits for an answer."                                                                json:"approvalId,omitempty"`
	Question         *Question        `doc:"The question."                                                                                         json:"approvalDescriptor,omitempty"                      nullable:"false"`
	Reason           string           `doc:"Why it waits, or why the run was stopped."                                                             json:"reason,omitempty"`
	Parts            []TurnPart       `doc:"The message of a steer."                                                                               json:"parts,omitempty"`
	URL              string           `doc:"The address of a file."                                                                                json:"url,omitempty"`
	MediaType        string           `doc:"The type of a file."                                                                                   json:"mediaType,omitempty"`
	SourceID         string           `doc:"The id of a source."                                                                                   json:"sourceId,omitempty"`
	Title            string           `doc:"The title of a source."                                                                                json:"title,omitempty"`
	ProviderMetadata *Cited           `doc:"What else is known of a source."                                                                       json:"providerMetadata,omitempty"                        nullable:"false"`
	Data             json.RawMessage  `doc:"The content of a data part."                                                                           json:"data,omitempty"`
	Transient        bool             `doc:"Whether the data part is an event: it does not become a part of the message."                          json:"transient,omitempty"`
	FinishReason     string           `doc:"How the run ended."                                                                                    enum:"stop,length,content-filter,tool-calls,error,other" json:"finishReason,omitempty"`
	MessageMetadata  *Metadata        `doc:"What else is known of the message."                                                                    json:"messageMetadata,omitempty"                         nullable:"false"`
}

// Caller is the nested run that made a call.
type Caller struct {
	AgentID spool.AgentID `doc:"The nested run." json:"agentId"`
	Agent   string        `doc:"Its name."       json:"agent,omitempty"`
}

// Metadata is what is known of an assistant's message, beyond its parts.
type Metadata struct {
	RunID      spool.RunID       `doc:"The run that wrote the message."             json:"runId,omitempty"`
	Usage      *spool.TokenCount `doc:"The tokens that the run used."               json:"usage,omitempty"      nullable:"false"`
	StopReason wire.StopReason   `doc:"Why the run ended before it was done."       json:"stopReason,omitempty"`
	Output     json.RawMessage   `doc:"The JSON value that the run was asked for."  json:"output,omitempty"`
	Expired    wire.Expired      `doc:"The questions that nobody answered in time." json:"expired,omitzero"`
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

package wire

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

// Offset is a position in a run stream, "<fence>-<n>" on the wire. The offsets of a stream
// grow. The zero offset is the position before the first item.
type Offset struct {
	// Fence is the fence of the claim that wrote the item. N is the item's number, from 1.
	Fence, N int64
}

// IsZero reports whether the offset is the position before the first item.
func (o Offset) IsZero() bool { return o == Offset{} }

// Compare returns -1 if o is before other, 0 if they are equal, and +1 if o is after other.
func (o Offset) Compare(other Offset) int {
	switch {
	case o == other:
		return 0
	case o.Fence < other.Fence, o.Fence == other.Fence && o.N < other.N:
		return -1
	default:
		return 1
	}
}

// String returns the wire form.
func (o Offset) String() string {
	var space [42]byte
	return string(o.append(space[:0]))
}

// ParseOffset reads the wire form. It reports false for a text that [Offset.String] cannot
// return.
func ParseOffset(s string) (Offset, bool) {
	a, b, ok := strings.Cut(s, "-")
	if !ok {
		return Offset{}, false
	}
	fence, ok1 := parseCount(a)
	n, ok2 := parseCount(b)
	return Offset{Fence: fence, N: n}, ok1 && ok2
}

// MarshalText writes the wire form.
func (o Offset) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the wire form.
func (o *Offset) UnmarshalText(b []byte) error {
	parsed, ok := ParseOffset(string(b))
	if !ok {
		return spool.Errorf(spool.Invalid, "malformed offset %q", b)
	}
	*o = parsed
	return nil
}

// parseCount reads a decimal number without a sign, a space or a leading zero.
func parseCount(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0 && strconv.FormatInt(n, 10) == s
}

// ItemType names a kind of run stream item. Readers must ignore kinds that they do not know.
type ItemType string

// The kinds of run stream item.
const (
	// ItemRunStarted is the first item: [StreamStarted].
	ItemRunStarted ItemType = "RUN_STARTED"
	// The items of a block of text: [Block], [Delta], [Block].
	ItemTextStart   ItemType = "TEXT_MESSAGE_START"
	ItemTextContent ItemType = "TEXT_MESSAGE_CONTENT"
	ItemTextEnd     ItemType = "TEXT_MESSAGE_END"
	// The items of a block of reasoning: [Block], [Delta], [Block].
	ItemReasoningStart   ItemType = "REASONING_START"
	ItemReasoningContent ItemType = "REASONING_CONTENT"
	ItemReasoningEnd     ItemType = "REASONING_END"
	// The items of a tool call: [ToolStarted], [ToolArgs], [ToolEnded], [ToolResulted].
	ItemToolStart  ItemType = "TOOL_CALL_START"
	ItemToolArgs   ItemType = "TOOL_CALL_ARGS"
	ItemToolEnd    ItemType = "TOOL_CALL_END"
	ItemToolResult ItemType = "TOOL_CALL_RESULT"
	// ItemFile is an image or another file of the answer: [FileShown].
	ItemFile ItemType = "FILE"
	// ItemSource is a source of an agent's answer: [spool.Source]. Sources come at the end of the answer, each once.
	ItemSource ItemType = "SOURCE"
	// ItemStepFinished says that everything before it is in the thread's messages:
	// [StepFinished].
	ItemStepFinished ItemType = "STEP_FINISHED"
	// ItemInputRequired announces a park: [InputRequired].
	ItemInputRequired ItemType = "INPUT_REQUIRED"
	// ItemSubagentStarted says that a nested run begins or continues: [SubagentStarted].
	ItemSubagentStarted ItemType = "SUBAGENT_STARTED"
	// ItemSubagentEvent wraps an item of a nested run's content: [SubagentEvent].
	ItemSubagentEvent ItemType = "SUBAGENT_EVENT"
	// ItemSubagentFinished says that a nested run has ended: [SubagentFinished]. A client
	// drops what the nested run said after its last STEP_FINISHED.
	ItemSubagentFinished ItemType = "SUBAGENT_FINISHED"
	// ItemProviderWait says that the next answer of the model has to wait for a limit of its provider:
	// [ProviderWait]. The wait is over with the next item of the same agent.
	ItemProviderWait ItemType = "WAITING_FOR_PROVIDER"
	// ItemCustom is an application's own item: [Custom].
	ItemCustom ItemType = "CUSTOM"
	// ItemRunFinished is the last item of a segment that finished, parked or was stopped:
	// [StreamFinished].
	ItemRunFinished ItemType = "RUN_FINISHED"
	// ItemRunError is the last item of a segment that failed or was lost: [StreamFailed]. A
	// client drops what came after the last STEP_FINISHED.
	ItemRunError ItemType = "RUN_ERROR"
)

// Content reports whether items of this type become a part of a message when their step is
// finished.
func (t ItemType) Content() bool {
	switch t {
	case ItemTextStart, ItemTextContent, ItemTextEnd,
		ItemReasoningStart, ItemReasoningContent, ItemReasoningEnd,
		ItemToolStart, ItemToolArgs, ItemToolEnd, ItemToolResult,
		ItemFile, ItemSource, ItemSubagentEvent:
		return true
	default:
		return false
	}
}

// End reports whether an item of this type is the last one of its stream.
func (t ItemType) End() bool { return t == ItemRunFinished || t == ItemRunError }

// Item is one item of a run stream. It is encoded once, when it is written.
type Item struct {
	Offset Offset
	Type   ItemType
	// Seq is the seq of the last record entry that the segment wrote before the item. It gives
	// the record and the stream one order.
	Seq int64
	// Data is the flat JSON object that clients get: first the type, then the fields of the
	// type, then the offset.
	Data json.RawMessage
}

// NewItem returns the item at offset with the fields of payload, which must encode as a JSON
// object. A nil payload has no fields. NewItem panics if [ItemKinds] has another type of payload
// for t.
func NewItem(t ItemType, offset Offset, seq int64, payload any) Item {
	var space [42]byte
	at := offset.append(space[:0])
	data := appendItem(t, payload, len(`,"offset":""}`)+len(at))
	data = append(append(data, `,"offset":"`...), at...)
	return Item{Offset: offset, Type: t, Seq: seq, Data: append(data, `"}`...)}
}

// WrapItem returns the fields of the [ItemSubagentEvent] that wraps an item of a nested run.
// The item's type and payload are as for [NewItem].
func WrapItem(agent spool.AgentID, t ItemType, payload any) SubagentEvent {
	return SubagentEvent{SubagentID: agent, Event: append(appendItem(t, payload, 1), '}'), wrapped: true}
}

// Decode reads the item's fields into v.
func (i Item) Decode(v any) error {
	if i.decodePlain(v) {
		return nil
	}
	return json.Unmarshal(i.Data, v)
}

// MarshalJSON returns the flat object.
func (i Item) MarshalJSON() ([]byte, error) { return i.Data, nil }

// UnmarshalJSON reads the flat object. Seq is not on the wire.
func (i *Item) UnmarshalJSON(b []byte) error {
	var head struct {
		Type   ItemType `json:"type"`
		Offset Offset   `json:"offset"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return err
	}
	*i = Item{Offset: head.Offset, Type: head.Type, Data: append(json.RawMessage(nil), b...)}
	return nil
}

// StreamStarted are the fields of [ItemRunStarted].
type StreamStarted struct {
	ThreadID spool.ThreadID `json:"threadId"` // The thread.
	RunID    spool.RunID    `json:"runId"`    // The run.
	StreamID StreamID       `json:"streamId"` // The segment's stream.
	Segment  int            `json:"segment"`  // The segment, from 1.
}

// Block are the fields of an item that opens or closes a block. Only the start of a text has
// Role.
type Block struct {
	// MessageID is the block's id in its stream. It is not the id of a saved message.
	MessageID string     `json:"messageId"`
	Role      spool.Role `json:"role,omitempty"` // Who speaks. Only the start of a text has it.
}

// Delta are the fields of a piece of a block.
type Delta struct {
	MessageID string `json:"messageId"` // The block's id in its stream. It is not the id of a saved message.
	Delta     string `json:"delta"`     // The text to append.
}

// ToolStarted are the fields of [ItemToolStart].
type ToolStarted struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call.
	ToolName   string           `json:"toolName"`   // Its tool.
}

// ToolArgs are the fields of [ItemToolArgs]. Delta is a fragment of JSON text.
type ToolArgs struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call.
	Delta      string           `json:"delta"`      // The text to append to the arguments.
}

// ToolEnded are the fields of [ItemToolEnd].
type ToolEnded struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call.
	ToolName   string           `json:"toolName"`   // Its tool.
	Args       json.RawMessage  `json:"args"`       // The arguments.
	// SentArgs are the arguments as the model wrote them, if they were repaired. Left out: they are args.
	SentArgs json.RawMessage `json:"sentArgs,omitempty"`
}

// ToolResulted are the fields of [ItemToolResult].
type ToolResulted struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call.
	ToolName   string           `json:"toolName"`   // Its tool.
	Result     json.RawMessage  `json:"result"`     // Any JSON.
	// Sources are the sources that the result names. Left out: none.
	Sources []spool.Source `json:"sources,omitempty"`
}

// FileShown are the fields of [ItemFile]: those of the message's part.
type FileShown struct {
	Image string `json:"image,omitempty"` // The URI of an image, artifact:art_... Left out: it is no image.
	// File is the URI of another file, artifact:art_... Left out: it is an image.
	File     string `json:"file,omitempty"`
	MIMEType string `json:"mimeType"`           // The type of the file.
	FileName string `json:"fileName,omitempty"` // The name of the file. Left out: it has none.
}

// StepFinished are the fields of [ItemStepFinished].
type StepFinished struct {
	// Step counts from 1.
	Step         int              `json:"step"`
	AgentID      *spool.AgentID   `json:"agentId"`      // The nested run. Null: the run itself.
	FinishReason string           `json:"finishReason"` // Why the model stopped.
	Usage        spool.TokenCount `json:"usage"`        // The tokens of the step.
}

// SubagentStarted are the fields of [ItemSubagentStarted].
type SubagentStarted struct {
	// SubagentID is the nested run's id, and the agentId of its messages.
	SubagentID spool.AgentID `json:"subagentId"`
	Name       string        `json:"name"` // The agent.
	// Depth is 1 for a run that the main agent spawned.
	Depth int `json:"depth"`
	// ParentID is the run that spawned it.
	//
	// Both are empty in streams of older versions.
	ParentID spool.RunID      `json:"parentRunId,omitempty"`
	CallID   spool.ToolCallID `json:"parentToolCallId,omitempty"` // The tool call that spawned it.
}

// SubagentEvent are the fields of [ItemSubagentEvent].
type SubagentEvent struct {
	SubagentID spool.AgentID `json:"subagentId"` // The nested run.
	// Event is the nested run's item, without an offset.
	Event json.RawMessage `json:"event"`

	wrapped bool // WrapItem wrote Event, in the form that [json.Marshal] would give it
}

// SubagentFinished are the fields of [ItemSubagentFinished].
type SubagentFinished struct {
	SubagentID spool.AgentID  `json:"subagentId"`                               // The nested run.
	Status     SubagentStatus `enum:"completed,failed,cancelled" json:"status"` // How it ended.
	// Error is why it failed. Left out: it did not.
	Error string `json:"error,omitempty"`
}

// SubagentStatus says how a nested run ended.
type SubagentStatus string

// The ways a nested run ends.
const (
	SubagentCompleted SubagentStatus = "completed"
	SubagentFailed    SubagentStatus = "failed"
	SubagentCancelled SubagentStatus = "cancelled"
)

// ProviderWait are the fields of [ItemProviderWait].
type ProviderWait struct {
	// AgentID is the nested run that waits, or null for the run's own agent.
	AgentID *spool.AgentID `json:"agentId"`
	// Limit is what it waits for.
	//
	// Requests or tokens a minute, concurrent requests, or a provider that has refused requests for a time.
	Limit string `enum:"requests,tokens,concurrent,refused" json:"limit"`
}

// Custom are the fields of [ItemCustom].
type Custom struct {
	Name            string          `json:"name"`                      // The application's name for it.
	Value           json.RawMessage `json:"value"`                     // Any JSON.
	PublishedBy     string          `json:"publishedBy,omitempty"`     // The subject who published it.
	PublishedByTool string          `json:"publishedByTool,omitempty"` // The tool whose call published it.
}

// StreamFinished are the fields of [ItemRunFinished]. Usage is the whole run's.
type StreamFinished struct {
	Status SegmentStatus     `enum:"finished,parked,stopped" json:"status"`    // How it ended.
	Usage  *spool.TokenCount `json:"usage,omitempty"         nullable:"false"` // The tokens of the whole run.
	// Costs are the cost of the whole run. Left out: no price is known.
	Costs []Money `json:"costs,omitempty"`
	// FinishReason is the run's stop reason. Left out: nothing cut the run short.
	FinishReason StopReason `json:"finishReason,omitempty"`
	// Output is the JSON value that the run was asked for, of up to 64 KiB. Left out: it has none, or a larger one,
	// which the outcome of the run has.
	//
	// At most [MaxOutputEvent] bytes.
	Output json.RawMessage `json:"output,omitempty"`
	// Expired is the questions of the run that nobody answered in time. Left out: none, or the run goes on.
	//
	// See [Run.Expired].
	Expired Expired `json:"expired,omitzero"`
}

// StreamFailed are the fields of [ItemRunError].
type StreamFailed struct {
	Status SegmentStatus `enum:"error,lost" json:"status"` // How it ended.
	Error  string        `json:"error"`                    // Why, for a person.
	// RetryAfterMS is the time until the next attempt, in milliseconds. Left out: it follows at once, or never.
	RetryAfterMS int64 `json:"retryAfterMs,omitempty"`
}

package spool

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// Model is a language model, or something that answers in its place.
//
// A model is safe for concurrent use. It does not retry a request: the engine retries the run,
// as a new segment.
type Model interface {
	// Stream asks for one answer and yields it as it arrives. The sequence ends after a
	// [Finish], or with an error: a [ModelError] if the provider is at fault, or ctx's error if
	// ctx ended. An answer that ends without a [Finish] is an error too. The model cancels the
	// request when the caller stops iterating.
	Stream(ctx context.Context, r ModelRequest) iter.Seq2[ModelEvent, error]
}

// ModelRequest is a request to a model. Its messages are a valid prompt: a result follows each
// tool call.
type ModelRequest struct {
	// Instructions is the system prompt. Empty: none.
	Instructions string
	// Messages is the prompt. Later requests of the same run may share its memory, so a model
	// that keeps a request must not change its messages.
	Messages []Message
	Tools    []ToolSpec
	// MaxOutputTokens bounds the answer. Zero: the provider's default.
	MaxOutputTokens int
	// Kind is the purpose of the answer. Empty: [UsageStep].
	Kind UsageKind
	// CacheKey is the same in all requests of one agent on one thread, so that a provider can
	// route them to the same cache. It reveals neither the agent nor the thread. Empty: none.
	CacheKey string
	// CacheMarks are the prefixes of the request that later requests are likely to share, in
	// rising order: n means the instructions, the tools and the first n messages. An adapter
	// can pass them to a provider whose cache needs marks. They do not change the answer.
	CacheMarks []int
	// Extra is merged into the provider's request without changes. It has the fields that the
	// agent sets, and the provider options of the run's start, which win over the agent's. Numbers
	// of the latter have the type [json.Number].
	Extra map[string]any
}

// ModelEvent is a piece of an answer: [TextDelta], [ReasoningDelta], [ReasoningEnd],
// [ToolCallStart], [ToolCallDelta], [ToolCallEnd], [UsageSeen] or [Finish].
type ModelEvent interface{ modelEvent() }

type (
	// TextDelta is a piece of text.
	TextDelta struct{ Text string }
	// ReasoningDelta is a piece of reasoning.
	ReasoningDelta struct{ Text string }
	// ReasoningEnd closes a block of reasoning. Provider is the data that the provider wants back
	// with the block, nil for none. A ReasoningEnd without a delta before it is a block of its
	// own, and may come after the tool calls.
	ReasoningEnd struct{ Provider json.RawMessage }
	// ToolCallStart opens a tool call. If the provider gave no id, the model generates one.
	ToolCallStart struct {
		ID   ToolCallID
		Name string
	}
	// ToolCallDelta is a fragment of a call's arguments. It may never occur.
	ToolCallDelta struct {
		ID   ToolCallID
		Args string
	}
	// ToolCallEnd closes a tool call. Args is the whole text of the arguments, equal to the
	// deltas joined if there were any. It may be malformed JSON; "{}" stands for no arguments.
	// Provider is the data that the provider wants back with the call, nil for none.
	ToolCallEnd struct {
		ID       ToolCallID
		Name     string
		Args     string
		Provider json.RawMessage
	}
	// UsageSeen has the usage so far, so that the engine knows it if the answer is cut off. A
	// later one replaces it.
	UsageSeen struct {
		Usage Usage
		// Cost is the cost so far, if the provider reports one. Nil: it does not.
		Cost *Cost
	}
	// Finish ends an answer.
	Finish struct {
		Reason FinishReason
		Usage  Usage
		// Cost is the cost of the answer, if the provider reports one. Nil: it does not.
		Cost *Cost
		// ModelID is the provider's name of the model that answered.
		ModelID string
	}
)

func (TextDelta) modelEvent()      {}
func (ReasoningDelta) modelEvent() {}
func (ReasoningEnd) modelEvent()   {}
func (ToolCallStart) modelEvent()  {}
func (ToolCallDelta) modelEvent()  {}
func (ToolCallEnd) modelEvent()    {}
func (UsageSeen) modelEvent()      {}
func (Finish) modelEvent()         {}

// FinishReason says why a model stopped. A run continues only after [FinishToolCalls].
type FinishReason string

// The finish reasons. Other words of a provider are passed on unchanged.
const (
	FinishStop      FinishReason = "stop"
	FinishToolCalls FinishReason = "tool-calls"
	FinishLength    FinishReason = "length"
	FinishFilter    FinishReason = "content-filter"
)

// ModelError is an error of a model's provider, or of the connection to it.
type ModelError struct {
	// Status is the HTTP status, or the status that the provider reports inside a stream that
	// began with 200. Zero: there was none.
	Status int
	// Type is the provider's own word for the error, such as "insufficient_quota". If there are
	// several, it is the most specific one.
	Type string
	// Message is the provider's text, without secrets.
	Message string
	// ContextOverflow says that the prompt is too long for the model's window. The provider may
	// accept a shorter prompt, and never this one. The engine then summarises older messages and
	// asks once more.
	ContextOverflow bool
	// NoRetry says that the same request will fail again, whatever Status says. A used-up quota is
	// an example.
	NoRetry bool
	// After is how long the provider asks clients to wait. Zero: it did not say.
	After time.Duration
	Err   error
}

// Error returns the provider's text, with the status if there is one.
func (e *ModelError) Error() string {
	if e.Status == 0 {
		return "model: " + e.Message
	}
	return fmt.Sprintf("model: %s (status %d)", e.Message, e.Status)
}

// Unwrap returns Err.
func (e *ModelError) Unwrap() error { return e.Err }

// Permanent reports whether the same request will fail again. Rate limits, server errors, network
// errors and cut streams are not permanent. A context overflow and an error with NoRetry are.
func (e *ModelError) Permanent() bool {
	if e.ContextOverflow || e.NoRetry {
		return true
	}
	switch e.Status {
	case 408, 409, 425, 429:
		return false
	default:
		// The client does not follow redirects, and a provider that refused a request refuses it again.
		return 300 <= e.Status && e.Status < 500 || CodeOf(e.Err) == Forbidden
	}
}

// Described is a [Model] that names its provider, for telemetry.
type Described interface {
	// Describe returns OpenTelemetry's name for the provider, such as "openai", and the provider's
	// name of the model. It returns the same at each call.
	Describe() (provider, model string)
}

// Windowed is a [Model] that knows the size of its window.
type Windowed interface {
	// ContextWindow returns how many tokens a prompt and its answer may have together.
	// Zero: not known.
	ContextWindow() int
}

// WindowLookup is a [Model] whose adapter knows the windows of well-known models by their names.
type WindowLookup interface {
	// LookupWindow returns how many tokens a prompt and its answer may have together. It looks for
	// the provider's name of the model first, and then for name, the engine's name of the model.
	// The engine calls it if neither [Windowed] nor the configuration knows the window. Zero: not
	// known.
	LookupWindow(name string) int
}

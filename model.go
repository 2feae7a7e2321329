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
// A model is safe for concurrent use. It does not retry: the engine does, as a new
// segment.
type Model interface {
	// Stream asks for one answer and yields it as it comes. The sequence ends after a
	// [Finish], or with an error: a [ModelError] where the provider is at fault, ctx's
	// error when ctx ended. An answer that ends in any other way, cleanly or not, is an
	// error. When the caller stops iterating, the request is cancelled.
	Stream(ctx context.Context, r ModelRequest) iter.Seq2[ModelEvent, error]
}

// ModelRequest is what a model is asked. Messages are valid as they stand: each tool
// call has its result behind it.
type ModelRequest struct {
	// Instructions is the system prompt. Empty: none.
	Instructions string
	// Messages is the prompt. Later requests of the same run may share its memory, so a model
	// that keeps a request must not change its messages.
	Messages []Message
	Tools    []ToolSpec
	// MaxOutputTokens bounds the answer. Zero: the provider's default.
	MaxOutputTokens int
	// Kind is what the answer is for. Empty: [UsageStep].
	Kind UsageKind
	// CacheKey is the same in all requests of one agent on one thread, so that a provider can
	// keep them together. It tells nothing of either. Empty: none.
	CacheKey string
	// CacheMarks are where the request is likely to go on from in later ones: n stands for
	// the instructions, the tools and the first n messages. They rise. A provider that caches
	// what it is told to can be told these; the request means the same without.
	CacheMarks []int
	// Extra is merged into the provider's request as it is. It has what the agent says, and over
	// it the provider options of the run's start, whose numbers are of type [json.Number].
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
	// ReasoningEnd closes a block of reasoning. Provider is what the provider wants back
	// with it, nil for nothing. One without a delta before it is a block of its own, and
	// may come behind the tool calls.
	ReasoningEnd struct{ Provider json.RawMessage }
	// ToolCallStart opens a tool call. An id that the provider left out is made up.
	ToolCallStart struct {
		ID   ToolCallID
		Name string
	}
	// ToolCallDelta is a fragment of a call's arguments. It may never occur.
	ToolCallDelta struct {
		ID   ToolCallID
		Args string
	}
	// ToolCallEnd closes a tool call. Args is the whole text of the arguments, which may
	// be no JSON at all, and is what the deltas add up to, if there were any; "{}" stands
	// for no arguments. Provider is what the provider wants back, nil for nothing.
	ToolCallEnd struct {
		ID       ToolCallID
		Name     string
		Args     string
		Provider json.RawMessage
	}
	// UsageSeen tells the usage so far, so that it is known if the answer is cut off. A
	// later one replaces it.
	UsageSeen struct {
		Usage Usage
		// Cost is what the provider says that the answer has cost. Nil: it does not say.
		Cost *Cost
	}
	// Finish ends an answer.
	Finish struct {
		Reason FinishReason
		Usage  Usage
		// Cost is what the provider says that the answer cost. Nil: it does not say.
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

// FinishReason says why a model stopped. Only [FinishToolCalls] lets a run go on.
type FinishReason string

// The finish reasons. A provider's own words are passed on as they are.
const (
	FinishStop      FinishReason = "stop"
	FinishToolCalls FinishReason = "tool-calls"
	FinishLength    FinishReason = "length"
	FinishFilter    FinishReason = "content-filter"
)

// ModelError is an error of a model's provider or of the way to it.
type ModelError struct {
	// Status is the HTTP status, or the one that a provider reports within a stream whose
	// own was 200. Zero: there was none.
	Status int
	// Type is the provider's own word for the error, such as "insufficient_quota": of
	// several, the most particular.
	Type string
	// Message is what the provider said, without secrets.
	Message string
	// ContextOverflow says that the prompt has no room in the model's window. A shorter prompt may
	// be accepted; the same one never is. The engine then summarises older messages and asks once more.
	ContextOverflow bool
	// NoRetry says that the same request will fail again whatever Status says, as with a quota that
	// is used up.
	NoRetry bool
	// After is how long the provider asks to wait. Zero: it did not say.
	After time.Duration
	Err   error
}

// Error returns the provider's words, with the status where there is one.
func (e *ModelError) Error() string {
	if e.Status == 0 {
		return "model: " + e.Message
	}
	return fmt.Sprintf("model: %s (status %d)", e.Message, e.Status)
}

// Unwrap returns the error behind this one.
func (e *ModelError) Unwrap() error { return e.Err }

// Permanent reports whether the same request will fail again. Rate limits, server
// errors, network errors and cut streams are not permanent. A context overflow is, and so is an error
// with NoRetry.
func (e *ModelError) Permanent() bool {
	if e.ContextOverflow || e.NoRetry {
		return true
	}
	switch e.Status {
	case 408, 409, 425, 429:
		return false
	default:
		// A redirect is not followed, and a request that was not understood will not be.
		return 300 <= e.Status && e.Status < 500 || CodeOf(e.Err) == Forbidden
	}
}

// Described is a [Model] that says whose it is, for telemetry.
type Described interface {
	// Describe returns who provides the model, by the name that OpenTelemetry has for it,
	// such as "openai", and the provider's name of the model. Both stay the same.
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
	// LookupWindow returns how many tokens a prompt and its answer may have together, by the
	// provider's name of the model, or else by name, which is what the engine calls the model. The
	// engine asks where neither [Windowed] nor its configuration says. Zero: not known.
	LookupWindow(name string) int
}

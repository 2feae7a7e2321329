package spool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Model is a language model, or something that answers in its place.
//
// A model is safe for concurrent use. It does not retry a request: the engine retries the run,
// as a new segment. It may send a request in another form if the provider has refused a field of it.
//
// The messages of a request may have provider data of any model that the thread has had: see [Part.Provider]. A
// model sends data back only if the same provider and model made it. It drops the reasoning and the
// [PartProvider] parts of others, and sends their texts and calls without the data. If its provider refuses a
// call without data, the model marks the call in the provider's own way.
type Model interface {
	// Stream asks for one answer and yields it as it arrives. The sequence ends after a
	// [Finish], or with an error: a [ModelError] if the provider is at fault, or ctx's error if
	// ctx ended. An answer that ends without a [Finish] is an error too. The model cancels the
	// request when the caller stops iterating. If the cause of ctx's end is [ErrStopped], nobody
	// wants the answer any more.
	Stream(ctx context.Context, r ModelRequest) iter.Seq2[ModelEvent, error]
}

// ErrStopped is a cause with which the context of a call of [Model] ends: nobody wants the answer any more, now or
// later. A model whose provider goes on with an answer by itself then cancels it. With any other cause, such as a
// shutdown, another process may come back to the answer.
var ErrStopped = errors.New("the answer is not wanted any more")

// ModelRequest is a request to a model. Its messages are a valid prompt: a result follows each
// tool call.
type ModelRequest struct {
	// Instructions is the system prompt. Empty: none.
	Instructions string
	// Messages is the prompt. Later requests of the same run may share its memory, so a model
	// that keeps a request must not change its messages.
	Messages []Message
	Tools    []ToolSpec
	// NoCalls asks for an answer that calls none of Tools. The tools stay in the request, because some providers
	// refuse a prompt with calls without them, and because the prompt's cache begins with them. The engine does
	// not execute a call of such an answer.
	NoCalls bool
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
	// Output asks for an answer that is one JSON value. The model may call tools before it. A provider that
	// takes schemas gets this one. For other providers the model makes up a tool with the schema, and yields
	// the arguments of its call as text. The engine checks the value. Nil: any text.
	Output *OutputSchema
	// Resume is the data of the last [ResumePoint] of an interrupted answer to the same request. The model
	// yields that answer again from its beginning, without another request for it. If the provider no longer
	// has the answer, the error is a [ModelError] with Gone. Nil: the answer is a new one. Only models
	// that yield a ResumePoint get it.
	Resume json.RawMessage
	// Extra is merged into the provider's request without changes. It has the fields that the
	// agent sets, and the provider options of the run's start, which win over the agent's. Numbers
	// of the latter have the type [json.Number].
	Extra map[string]any
}

// OutputSchema describes a JSON value that a model has to answer with.
type OutputSchema struct {
	// Name is the name of the value. The model may see it.
	//
	// It matches [A-Za-z0-9_-]{1,64}. Some providers show it to the model.
	Name string `example:"weather_report" json:"name" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$"`
	// Description is what the value is for, for the model.
	Description string `json:"description,omitempty"`
	// Schema is the JSON Schema of the value, which is an object.
	//
	// Required.
	Schema json.RawMessage `json:"schema"`
}

// ModelEvent is a piece of an answer: [TextDelta], [TextEnd], [ReasoningDelta], [ReasoningEnd],
// [ToolCallStart], [ToolCallDelta], [ToolCallEnd], [ProviderPart], [FileMade], [Source],
// [ResumePoint], [UsageSeen] or [Finish].
//
// The provider data of an event is a JSON object with one key, the name of the adapter's format. Its
// value names the provider's model, so that an adapter sends data back only to the model that made it.
type ModelEvent interface{ modelEvent() }

type (
	// TextDelta is a piece of text.
	TextDelta struct{ Text string }
	// TextEnd closes a block of text. Provider is the data that the provider wants back with the
	// block, nil for none. A TextEnd without a delta before it is an empty block that only has the data. A
	// block that needs no data is closed by the next event of another kind.
	TextEnd struct{ Provider json.RawMessage }
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
	// ProviderPart is a part of the answer that only its provider understands, such as a search that the
	// provider made by itself. It is kept in its place as a [PartProvider], and sent back.
	ProviderPart struct{ Provider json.RawMessage }
	// FileMade is an image or another file that the model made. The engine saves it as an artifact of the thread, and
	// adds a part with its URI to the message. A model yields only data that it has, and a text for a file that is
	// elsewhere: nothing fetches the URL of an answer. Provider is the data that the provider wants back with the part,
	// nil for none.
	FileMade struct {
		// Name is the name of the file. Empty: it has none.
		Name string
		// MediaType is the type that the provider says. Empty: it does not say.
		MediaType string
		Data      []byte
		Provider  json.RawMessage
	}
	// FilesWithheld says that the request has no images and files of tool results, because the model's server refuses
	// them. A model yields it before the first piece of the answer. Text is what the model reads in place of each.
	FilesWithheld struct{ Text string }
	// ResumePoint has the data with which another process can come back to this answer: see
	// [ModelRequest.Resume]. The engine saves it before it handles the next event. A model yields it
	// before the first piece of the answer, at most once per answer.
	ResumePoint struct{ Data json.RawMessage }
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

func (TextDelta) modelEvent() {}

func (TextEnd) modelEvent() {}

func (ReasoningDelta) modelEvent() {}

func (ReasoningEnd) modelEvent() {}

func (ToolCallStart) modelEvent() {}

func (ToolCallDelta) modelEvent() {}

func (ToolCallEnd) modelEvent() {}

func (ProviderPart) modelEvent() {}

func (FileMade) modelEvent() {}

func (FilesWithheld) modelEvent() {}

func (Source) modelEvent() {}

func (ResumePoint) modelEvent() {}

func (UsageSeen) modelEvent() {}

func (Finish) modelEvent() {}

// FinishReason says why a model stopped. A run continues only after [FinishToolCalls] and [FinishPause].
type FinishReason string

// The finish reasons. Other words of a provider are passed on unchanged.
const (
	FinishStop      FinishReason = "stop"
	FinishToolCalls FinishReason = "tool-calls"
	FinishLength    FinishReason = "length"
	// FinishFilter is an answer that the provider withheld or that the model refused to give.
	FinishFilter FinishReason = "content-filter"
	// FinishPause is an answer that the provider interrupted. It goes on when it gets what it said so far back.
	FinishPause FinishReason = "pause"
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
	// Gone says that the provider no longer has the answer of [ModelRequest.Resume]. The same request
	// without Resume may succeed.
	Gone bool
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
	if e.Gone {
		return false
	}
	switch e.Status {
	case 408, 409, 425, 429:
		return false
	default:
		// The client does not follow redirects, and a provider that refused a request refuses it again.
		return 300 <= e.Status && e.Status < 500 || CodeOf(e.Err) == Forbidden
	}
}

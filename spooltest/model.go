package spooltest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/spoolhq/spool"
)

// Turn is one answer of a [Model]. Its pieces are yielded in the order of the fields.
type Turn struct {
	// Background is true for an answer with a resume point, which comes first. A request with the point gets
	// the same turn again: see [Model.Forget].
	Background bool
	// Before is called before the first piece, for example to wait. If it returns an error, the answer
	// ends with it. Nil: nothing is called.
	Before func(ctx context.Context) error
	// Reasoning has the deltas of a reasoning block, and Provider the data that closes the block. If
	// both are empty, the answer has no such block.
	Reasoning []string
	Provider  []byte
	// Text has the deltas of the text, and TextProvider the data that closes the block. Nil: no event closes it.
	Text         []string
	TextProvider []byte
	// Parts have the data of parts that only the provider understands. They come after the text.
	Parts [][]byte
	// Files are those that the model made. They come after the text.
	Files []spool.FileMade
	// Sources are the sources of the text. They come after it.
	Sources []spool.Source
	// Midway is called after the text. If it returns an error, the answer ends with it. Nil: nothing is called.
	Midway func(ctx context.Context) error
	// Early is usage that is reported right after the text. Zero: none.
	Early spool.Usage
	// Gate delays the answer after the text until the channel is closed or sends. Nil: no delay.
	Gate <-chan struct{}
	// Calls are the tool calls.
	Calls []Call
	// Usage is reported before the end, and again with the end.
	Usage spool.Usage
	// Cost is the cost that the provider reports, or nil.
	Cost *spool.Cost
	// Err ends the answer instead of a finish. Nil: the answer finishes.
	Err error
	// Cut ends the answer with neither a finish nor an error, which no model should do.
	Cut bool
	// FinishReason defaults to [spool.FinishToolCalls] if the turn has calls, and to [spool.FinishStop]
	// otherwise.
	FinishReason spool.FinishReason
	// ModelID is the provider's name of the model. Defaults to "scripted-1".
	ModelID string
}

// Call is a tool call of a [Turn].
type Call struct {
	ID   spool.ToolCallID
	Name string
	// Args is the text of the arguments. Defaults to "{}".
	Args string
	// Provider is the data of the call. Nil: none.
	Provider []byte
}

// Say returns a turn that streams the text in the given pieces.
func Say(deltas ...string) Turn { return Turn{Text: deltas} }

// Use returns a turn that calls tools.
func Use(calls ...Call) Turn { return Turn{Calls: calls} }

// Tokens returns the usage of a prompt and an answer with these numbers of tokens.
func Tokens(input, output int64) spool.Usage { return spool.Usage{Input: &input, Output: &output} }

// StepOf returns the index, from 0, of the requested step in its run: the number of answers after the
// last user turn of the request. A repeated step has the same index.
func StepOf(r spool.ModelRequest) int {
	n, messages := 0, r.Messages
	// it asks for the answer behind the last step
	if last := len(messages) - 1; r.NoCalls && last >= 0 && messages[last].Role == spool.RoleUser {
		messages = messages[:last]
	}
	for _, m := range slices.Backward(messages) {
		switch m.Role {
		case spool.RoleUser:
			return n
		case spool.RoleAssistant:
			n++
		default:
		}
	}
	return n
}

// Model is a [spool.Model] that answers what the test says, and records its requests.
type Model struct {
	// Window is the result of ContextWindow. It must not be changed while the model is in use. Zero:
	// unknown.
	Window int

	answer func(ctx context.Context, r spool.ModelRequest, asked int) Turn

	mu       sync.Mutex
	requests []spool.ModelRequest
	kept     map[string]Turn // the answers in the background, by the data of their resume points
}

var _ spool.Model = (*Model)(nil)

// NewModel returns a model that gives one turn after another, whatever the request is. A request after
// the last turn fails with a permanent error.
func NewModel(turns ...Turn) *Model {
	return &Model{answer: func(_ context.Context, _ spool.ModelRequest, asked int) Turn {
		return pick(turns, asked)
	}}
}

// NewReplayModel returns a model that gives each run the same turns: [StepOf] selects the turn for a
// request. A step that is repeated after a crash gets the same answer again.
func NewReplayModel(turns ...Turn) *Model {
	return NewModelFunc(func(_ context.Context, r spool.ModelRequest) Turn { return pick(turns, StepOf(r)) })
}

// NewModelFunc returns a model that gives the turn that fn returns. Several goroutines may call fn at
// once.
func NewModelFunc(fn func(ctx context.Context, r spool.ModelRequest) Turn) *Model {
	return &Model{answer: func(ctx context.Context, r spool.ModelRequest, _ int) Turn { return fn(ctx, r) }}
}

func pick(turns []Turn, at int) Turn {
	if at >= len(turns) {
		return Turn{Err: &spool.ModelError{Status: 400, Message: "the script has no turn left"}}
	}
	return turns[at]
}

// Stream yields the next turn, or that of the request's resume point. It checks ctx before each event and while it
// waits at a gate.
func (m *Model) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		turn, point := m.turn(ctx, r)
		if point != nil && !yield(spool.ResumePoint{Data: point}, nil) {
			return
		}
		if turn.Before != nil {
			if err := turn.Before(ctx); err != nil {
				yield(nil, err)
				return
			}
		}
		for event, err := range turn.events(ctx) {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// turn returns the turn for a request, and its resume point if it is a new one.
func (m *Model) turn(ctx context.Context, r spool.ModelRequest) (turn Turn, point []byte) {
	asked := m.remember(r)
	if r.Resume != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if turn, ok := m.kept[string(r.Resume)]; ok {
			return turn, nil
		}
		return Turn{Err: &spool.ModelError{Status: 404, Message: "there is no such answer", Gone: true}}, nil
	}
	if turn = m.answer(ctx, r, asked); !turn.Background {
		return turn, nil
	}
	point = fmt.Appendf(nil, `{"scripted":{"answer":%d,"of":"<model>"}}`, asked)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = make(map[string]Turn)
	}
	m.kept[string(point)] = turn
	return turn, point
}

// Forget makes the model lose its answers in the background. A request for one of them is then an error with
// [spool.ModelError.Gone].
func (m *Model) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.kept)
}

// Fresh returns the number of requests so far that did not ask for an earlier answer again.
func (m *Model) Fresh() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.requests {
		if r.Resume == nil {
			n++
		}
	}
	return n
}

// Describe implements [spool.Described]. It says only the model's Window.
func (m *Model) Describe() spool.ModelInfo { return spool.ModelInfo{ContextWindow: m.Window} }

// Requests returns the requests so far.
func (m *Model) Requests() []spool.ModelRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Asked returns the number of requests so far.
func (m *Model) Asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

// remember records a request and returns how many requests came before it.
func (m *Model) remember(r spool.ModelRequest) int {
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i] = cloneMessage(r.Messages[i])
	}
	r.Tools = slices.Clone(r.Tools)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
	return len(m.requests) - 1
}

// events yields the turn's pieces. An error comes last.
func (t Turn) events(ctx context.Context) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		for _, event := range t.spoken() {
			if !yield(event, nil) {
				return
			}
		}
		if t.Midway != nil {
			if err := t.Midway(ctx); err != nil {
				yield(nil, err)
				return
			}
		}
		if t.Gate != nil {
			select {
			case <-t.Gate:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
		for _, event := range t.called() {
			if !yield(event, nil) {
				return
			}
		}
		switch {
		case t.Err != nil:
			yield(nil, t.Err)
		case !t.Cut:
			yield(t.finish(), nil)
		}
	}
}

func (t Turn) spoken() []spool.ModelEvent {
	var all []spool.ModelEvent
	for _, delta := range t.Reasoning {
		all = append(all, spool.ReasoningDelta{Text: delta})
	}
	if len(t.Reasoning) > 0 || t.Provider != nil {
		all = append(all, spool.ReasoningEnd{Provider: t.Provider})
	}
	for _, delta := range t.Text {
		all = append(all, spool.TextDelta{Text: delta})
	}
	if t.TextProvider != nil {
		all = append(all, spool.TextEnd{Provider: t.TextProvider})
	}
	for _, data := range t.Parts {
		all = append(all, spool.ProviderPart{Provider: data})
	}
	for _, file := range t.Files {
		all = append(all, file)
	}
	for _, s := range t.Sources {
		all = append(all, s)
	}
	if t.Early != (spool.Usage{}) {
		all = append(all, spool.UsageSeen{Usage: t.Early})
	}
	return all
}

// called returns the events of the calls. It cuts the arguments of each call in two, because providers
// may cut them anywhere.
func (t Turn) called() []spool.ModelEvent {
	var all []spool.ModelEvent
	for _, call := range t.Calls {
		args := call.Args
		if args == "" {
			args = "{}"
		}
		half := len(args) / 2
		all = append(all,
			spool.ToolCallStart{ID: call.ID, Name: call.Name},
			spool.ToolCallDelta{ID: call.ID, Args: args[:half]},
			spool.ToolCallDelta{ID: call.ID, Args: args[half:]},
			spool.ToolCallEnd{ID: call.ID, Name: call.Name, Args: args, Provider: call.Provider},
		)
	}
	if t.Usage != (spool.Usage{}) {
		all = append(all, spool.UsageSeen{Usage: t.Usage, Cost: t.Cost})
	}
	return all
}

func (t Turn) finish() spool.Finish {
	end := spool.Finish{Reason: t.FinishReason, Usage: t.Usage, Cost: t.Cost, ModelID: t.ModelID}
	if end.Reason == "" {
		end.Reason = spool.FinishStop
		if len(t.Calls) > 0 {
			end.Reason = spool.FinishToolCalls
		}
	}
	if end.ModelID == "" {
		end.ModelID = "scripted-1"
	}
	return end
}

// cloneMessage returns a message that shares no memory with m.
func cloneMessage(m spool.Message) spool.Message {
	m.Content = slices.Clone(m.Content)
	for i, p := range m.Content {
		p.Args, p.Result, p.Provider = slices.Clone(p.Args), slices.Clone(p.Result), slices.Clone(p.Provider)
		m.Content[i] = p
	}
	return m
}

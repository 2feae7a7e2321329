package spooltest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// paper is a provider that speaks to its models without a wire. It has all features of the suite.
type paper struct {
	scenario spooltest.ModelScenario
	gone     chan struct{}

	mu       sync.Mutex
	requests []string
}

var paperFeatures = spooltest.ModelFeatures{
	CachedUsage: true, Files: true, Images: true, Pause: true, ProviderParts: true, RetryAfterDate: true,
	SealedReasoning: true, SignedCalls: true, SignedReasoning: true, SignedText: true, TextArguments: true,
}

// newPaper returns a provider whose models pass through wrap.
func newPaper(scenario spooltest.ModelScenario, wrap func(spool.Model) spool.Model) spooltest.ModelPeer {
	p := &paper{scenario: scenario, gone: make(chan struct{})}
	return spooltest.ModelPeer{
		Model:    wrap(&paperModel{p, "paper-1"}),
		Other:    wrap(&paperModel{p, "paper-2"}),
		Requests: p.received,
		Gone:     p.gone,
	}
}

func (p *paper) received() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

type paperModel struct {
	paper *paper
	name  string
}

// paperRequest is what the provider gets.
type paperRequest struct {
	Model   string
	Request spool.ModelRequest
}

// body returns the request with the data of all parts, which the form for clients lacks.
func (r paperRequest) body() (string, error) {
	body, err := json.Marshal(r)
	for _, m := range r.Request.Messages {
		content, failed := m.Content.MarshalStored()
		body, err = append(body, content...), cmp.Or(err, failed)
	}
	return string(body), err
}

// Stream asks the provider.
func (m *paperModel) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		if ctx.Err() != nil {
			yield(nil, ctx.Err())
			return
		}
		request := paperRequest{m.name, m.own(r)}
		body, err := request.body()
		if err != nil {
			yield(nil, err)
			return
		}
		m.paper.mu.Lock()
		m.paper.requests = append(m.paper.requests, body)
		m.paper.mu.Unlock()
		for _, event := range m.paper.answer(request, body) {
			if event, failed := event.(failure); failed {
				yield(nil, event.err)
				return
			}
			if event, hangs := event.(hang); hangs {
				if !event.wait(ctx) {
					yield(nil, ctx.Err())
					return
				}
				continue
			}
			if !yield(event, nil) {
				m.paper.leave()
				return
			}
		}
	}
}

func (p *paper) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gone:
	default:
		close(p.gone)
	}
}

// own returns the request without the data of others, and without parts that have nothing else.
func (m *paperModel) own(r spool.ModelRequest) spool.ModelRequest {
	r.Messages = slices.Clone(r.Messages)
	ids, calls := make(map[spool.ToolCallID]spool.ToolCallID), 0
	for i, message := range r.Messages {
		var content spool.Content
		for _, part := range message.Content {
			var data struct{ Paper struct{ Model, Data string } }
			if json.Unmarshal(part.Provider, &data) != nil || data.Paper.Model != m.name {
				part.Provider = nil
			}
			if part.Provider == nil && (part.Type == spool.PartProvider || part.Type == spool.PartReasoning) {
				continue
			}
			if part.Type == spool.PartToolCall {
				calls++
				ids[part.ToolCallID] = spool.ToolCallID("call_" + string(rune('`'+calls)))
			}
			if own := ids[part.ToolCallID]; own != "" {
				part.ToolCallID = own
			}
			content = append(content, part)
		}
		r.Messages[i].Content = content
	}
	return r
}

// paired reports whether each call has an id of its own, and its result directly after it.
func (r paperRequest) paired() bool {
	var calls, results []spool.ToolCallID
	for _, m := range r.Request.Messages {
		for _, part := range m.Content {
			switch {
			case part.Type == spool.PartToolCall && slices.Contains(calls, part.ToolCallID):
				return false
			case part.Type == spool.PartToolCall:
				calls = append(calls, part.ToolCallID)
			case part.Type == spool.PartToolResult:
				results = append(results, part.ToolCallID)
			}
		}
	}
	return slices.Equal(calls, results)
}

// failure ends an answer with an error.
type failure struct {
	spool.ModelEvent

	err error
}

// hang delays an answer until the caller goes away.
type hang struct {
	spool.ModelEvent

	paper *paper
	// limit ends the wait. Zero: nothing does.
	limit time.Duration
}

func (h hang) wait(ctx context.Context) bool {
	var limit <-chan time.Time
	if h.limit > 0 {
		timer := time.NewTimer(h.limit)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case <-ctx.Done():
		h.paper.leave()
		return false
	case <-limit:
		return true
	}
}

func refused(status int, change func(*spool.ModelError)) []spool.ModelEvent {
	err := &spool.ModelError{Status: status, Message: http.StatusText(status)}
	if change != nil {
		change(err)
	}
	return []spool.ModelEvent{failure{err: err}}
}

func said(reason spool.FinishReason, text ...string) []spool.ModelEvent {
	var events []spool.ModelEvent
	for _, piece := range text {
		events = append(events, spool.TextDelta{Text: piece})
	}
	return append(events, finished(reason))
}

func finished(reason spool.FinishReason) spool.Finish {
	return spool.Finish{Reason: reason, ModelID: "paper-1"}
}

func half(more ...spool.ModelEvent) []spool.ModelEvent {
	return append([]spool.ModelEvent{spool.TextDelta{Text: "Ha"}, spool.TextDelta{Text: "lf"}}, more...)
}

func paperData(data string) json.RawMessage {
	return json.RawMessage(`{"paper":{"data":"` + data + `","model":"paper-1"}}`)
}

func calledWith(id, name, args string, provider json.RawMessage) []spool.ModelEvent {
	events := []spool.ModelEvent{spool.ToolCallStart{ID: spool.ToolCallID(id), Name: name}}
	for _, piece := range []string{args[:len(args)/2], args[len(args)/2:]} {
		events = append(events, spool.ToolCallDelta{ID: spool.ToolCallID(id), Args: piece})
	}
	return append(events, spool.ToolCallEnd{ID: spool.ToolCallID(id), Name: name, Args: args, Provider: provider})
}

func (r paperRequest) has(role spool.Role) bool {
	return slices.ContainsFunc(r.Request.Messages, func(m spool.Message) bool { return m.Role == role })
}

// answer returns the events of an answer.
func (p *paper) answer(r paperRequest, body string) []spool.ModelEvent {
	n := func(n int64) *int64 { return &n }
	switch p.scenario {
	case spooltest.ModelText:
		end := finished(spool.FinishStop)
		end.Usage = spooltest.Tokens(12, 4)
		return []spool.ModelEvent{spool.TextDelta{Text: "Hello"}, spool.TextDelta{Text: ", world."}, end}
	case spooltest.ModelParallelTools, spooltest.ModelBrokenArguments, spooltest.ModelWholeCalls:
		return p.calls(r)
	case spooltest.ModelNoCalls:
		switch {
		case !r.Request.NoCalls:
			return append(calledWith("a", "weather", `{"city":"Oslo"}`, nil), finished(spool.FinishToolCalls))
		case len(r.Request.Tools) == 0:
			return refused(http.StatusBadRequest, nil)
		}
		return said(spool.FinishStop, "Do", "ne.")
	case spooltest.ModelReasoning:
		return append([]spool.ModelEvent{
			spool.ReasoningDelta{Text: "Thinking "},
			spool.ReasoningDelta{Text: "hard."},
			spool.ReasoningEnd{Provider: paperData("sig-4711")},
		}, said(spool.FinishStop, "Forty", "-two.")...)
	case spooltest.ModelSigned:
		return p.signed(r, body)
	case spooltest.ModelCallIDs:
		if !r.paired() {
			return refused(http.StatusBadRequest, nil)
		}
		return said(spool.FinishStop, "Fi", "ne.")
	case spooltest.ModelForeign:
		if strings.Contains(body, "foreign+") {
			return refused(http.StatusBadRequest, nil)
		}
		return said(spool.FinishStop, "Fi", "ne.")
	case spooltest.ModelImage:
		return said(spool.FinishStop, "A ", "cat.")
	case spooltest.ModelFile:
		return said(spool.FinishStop, "A ", "report.")
	case spooltest.ModelOutput:
		if len(r.Request.Tools) > 0 && !r.has(spool.RoleTool) {
			return append(calledWith("a", "weather", `{"city":"Oslo"}`, nil), finished(spool.FinishToolCalls))
		}
		return said(spool.FinishStop, `{"city":"Oslo",`, `"degrees":21}`)
	case spooltest.ModelCachedUsage:
		end := finished(spool.FinishStop)
		end.Usage = spool.Usage{Input: n(100), CacheRead: n(60), Output: n(20), Reasoning: n(8)}
		return []spool.ModelEvent{spool.TextDelta{Text: "Hi."}, end}
	case spooltest.ModelNoUsage:
		return said(spool.FinishStop, "H", "i.")
	case spooltest.ModelLength:
		return said(spool.FinishLength, "Too ", "lo")
	case spooltest.ModelFilter:
		return said(spool.FinishFilter, "I ", "can")
	case spooltest.ModelPause:
		if len(r.Request.Messages) > 1 {
			return said(spool.FinishStop, " do", "ne.")
		}
		return half(finished(spool.FinishPause))
	case spooltest.ModelUnknownReason:
		return said("spooltest_odd", "O", "dd.")
	case spooltest.ModelUnknownEvents:
		return said(spool.FinishStop, "Hello", ", world.")
	default:
		return p.fail()
	}
}

func (p *paper) calls(r paperRequest) []spool.ModelEvent {
	if r.has(spool.RoleTool) {
		return said(spool.FinishStop, "Do", "ne.")
	}
	var events []spool.ModelEvent
	switch p.scenario {
	case spooltest.ModelBrokenArguments:
		events = calledWith("a", "weather", `{"city":"Os`, nil)
	case spooltest.ModelWholeCalls:
		events = []spool.ModelEvent{
			spool.ToolCallStart{ID: "a", Name: "weather"},
			spool.ToolCallEnd{ID: "a", Name: "weather", Args: `{"city":"Oslo"}`},
			spool.ToolCallStart{ID: "b", Name: "coin"},
			spool.ToolCallEnd{ID: "b", Name: "coin", Args: `{}`},
		}
	default:
		events = slices.Concat([]spool.ModelEvent{spool.TextDelta{Text: "Looking."}},
			calledWith("call_a", "weather", `{"city":"Oslo"}`, nil), calledWith("call_b", "clock", `{"zone":"UTC"}`, nil))
	}
	return append(events, finished(spool.FinishToolCalls))
}

// signed compares the answer that a request repeats with the one that the provider has given.
func (p *paper) signed(r paperRequest, body string) []spool.ModelEvent {
	answer := slices.Concat([]spool.ModelEvent{
		spool.ReasoningDelta{Text: "First thought."},
		spool.ReasoningEnd{Provider: paperData("sigR1/+A")},
		spool.ReasoningEnd{Provider: paperData("sealed/A")},
		spool.TextDelta{Text: "Looking."},
		spool.TextEnd{Provider: paperData("sigT1/+A")},
		spool.ProviderPart{Provider: paperData("part/++A")},
		spool.ReasoningDelta{Text: "Second thought."},
		spool.ReasoningEnd{Provider: paperData("sigR2/+A")},
	}, calledWith("call_a", "weather", `{"city":"Oslo"}`,
		paperData("sigC1/+A")), calledWith("call_b", "clock", `{"zone":"UTC"}`, nil),
		[]spool.ModelEvent{finished(spool.FinishToolCalls)})
	if !r.has(spool.RoleTool) {
		return answer
	}
	want := spool.Content{
		{Type: spool.PartReasoning, Text: "First thought.", Provider: paperData("sigR1/+A")},
		{Type: spool.PartReasoning, Provider: paperData("sealed/A")},
		{Type: spool.PartText, Text: "Looking.", Provider: paperData("sigT1/+A")},
		{Type: spool.PartProvider, Provider: paperData("part/++A")},
		{Type: spool.PartReasoning, Text: "Second thought.", Provider: paperData("sigR2/+A")},
		{
			Type: spool.PartToolCall, ToolCallID: "call_a", ToolName: "weather", Args: json.RawMessage(`{"city":"Oslo"}`),
			Provider: paperData("sigC1/+A"),
		},
		{Type: spool.PartToolCall, ToolCallID: "call_b", ToolName: "clock", Args: json.RawMessage(`{"zone":"UTC"}`)},
	}
	if r.Model == "paper-1" && !reflect.DeepEqual(r.Request.Messages[1].Content, want) ||
		r.Model != "paper-1" && strings.Contains(body, "/+A") {
		return refused(http.StatusBadRequest, nil)
	}
	return said(spool.FinishStop, "Do", "ne.")
}

func (p *paper) fail() []spool.ModelEvent {
	broken := half(failure{err: &spool.ModelError{Message: "broken", Err: errors.New("broken")}})
	switch p.scenario {
	case spooltest.ModelRateLimited:
		return refused(http.StatusTooManyRequests, func(e *spool.ModelError) { e.After = 7 * time.Second })
	case spooltest.ModelRateLimitedDate:
		return refused(http.StatusTooManyRequests, func(e *spool.ModelError) { e.After = 29 * time.Second })
	case spooltest.ModelRateLimitedBare:
		return refused(http.StatusTooManyRequests, nil)
	case spooltest.ModelUnavailable:
		return refused(http.StatusServiceUnavailable, nil)
	case spooltest.ModelUnauthorized:
		return refused(http.StatusUnauthorized, nil)
	case spooltest.ModelContextOverflow:
		return refused(http.StatusBadRequest, func(e *spool.ModelError) { e.ContextOverflow = true })
	case spooltest.ModelHang:
		return half(hang{paper: p}, finished(spool.FinishStop))
	case spooltest.ModelHangAtOnce:
		return []spool.ModelEvent{hang{paper: p}, finished(spool.FinishStop)}
	case spooltest.ModelHugeEvent:
		p.leave()
		return broken
	case spooltest.ModelEndlessArguments:
		p.leave()
		return append(calledWith("a", "weather", `{"xxxxx`, nil), finished(spool.FinishLength))
	case spooltest.ModelIdle:
		return half(hang{paper: p, limit: time.Millisecond}, failure{err: &spool.ModelError{Message: "silent"}})
	default:
		return broken
	}
}

func TestModelSuite(t *testing.T) { //nolint:paralleltest // the suite is
	spooltest.TestModel(t, func(_ *testing.T, scenario spooltest.ModelScenario) spooltest.ModelPeer {
		return newPaper(scenario, func(m spool.Model) spool.Model { return m })
	}, paperFeatures)
}

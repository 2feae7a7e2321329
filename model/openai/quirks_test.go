package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
)

// stream returns everything that a model answers.
func stream(t *testing.T, m spool.Model, r spool.ModelRequest) ([]spool.ModelEvent, error) {
	t.Helper()

	var events []spool.ModelEvent
	for event, err := range m.Stream(t.Context(), r) {
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
	return events, nil
}

// say returns what a model makes of the chunks of an answer.
func say(t *testing.T, chunks ...string) ([]spool.ModelEvent, error) {
	t.Helper()

	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) { send(w, chunks...) })
	return stream(t, p.model(t, openai.Config{}), spool.ModelRequest{})
}

func only[E spool.ModelEvent](events []spool.ModelEvent) []E {
	var out []E
	for _, event := range events {
		if e, ok := event.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

func finishOf(t *testing.T, events []spool.ModelEvent) spool.Finish {
	t.Helper()

	all := only[spool.Finish](events)
	if len(all) != 1 {
		t.Fatalf("%d finishes in %v", len(all), events)
	}
	return all[0]
}

// How servers tell parallel tool calls, each case as some server does it.
func TestToolCallShapes(t *testing.T) {
	t.Parallel()

	calls := func(list string) string { return deltaChunk(`{"tool_calls":[` + list + `]}`) }
	for name, c := range map[string]struct {
		chunks []string
		want   []string
	}{
		"whole calls in one chunk": {[]string{
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"y","arguments":"{\"n\":1}"}}`),
		}, []string{"a x {}", `b y {"n":1}`}},
		"index zero for all, by id": {[]string{
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"n\":"}}`),
			calls(`{"index":0,"function":{"arguments":"1}"}}`),
			calls(`{"index":0,"id":"b","function":{"name":"x","arguments":"{\"n\":"}}`),
			calls(`{"index":0,"function":{"arguments":"2}"}}`),
		}, []string{`a x {"n":1}`, `b x {"n":2}`}},
		"index zero for all, no ids": {[]string{
			calls(`{"index":0,"function":{"name":"x","arguments":"{}"}}`),
			calls(`{"index":0,"function":{"name":"x","arguments":"{}"}}`),
		}, []string{"call_1_* x {}", "call_2_* x {}"}},
		"index zero and no ids in one chunk": {[]string{
			calls(`{"index":0,"function":{"name":"x","arguments":""}},{"index":0,"function":{"name":"y","arguments":""}}`),
		}, []string{"call_1_* x {}", "call_2_* y {}"}},
		"no index and no ids": {[]string{
			calls(`{"function":{"name":"x","arguments":"{\"n\":"}}`), calls(`{"function":{"arguments":"1}"}}`),
			calls(`{"function":{"name":"y","arguments":"{}"}}`),
		}, []string{`call_1_* x {"n":1}`, "call_2_* y {}"}},
		"no index, by id": {[]string{
			calls(`{"id":"a","function":{"name":"x","arguments":"{\"n\":"}}`), calls(`{"id":"a","function":{"arguments":"1}"}}`),
		}, []string{`a x {"n":1}`}},
		"id and name in every chunk": {[]string{
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"n\":"}}`),
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"1}"}}`),
		}, []string{`a x {"n":1}`}},
		"one id for two calls": {[]string{
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`),
			calls(`{"index":1,"id":"a","function":{"name":"y","arguments":"{}"}}`),
		}, []string{"a x {}", "call_2_* y {}"}},
		"arguments as an object": {[]string{
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":{"n":1}}}`),
		}, []string{`a x {"n":1}`}},
		"arguments before the name": {[]string{
			calls(`{"index":0,"id":"a","function":{"arguments":"{\"n\""}}`),
			calls(`{"index":0,"function":{"name":"x","arguments":":1}"}}`),
		}, []string{`a x {"n":1}`}},
		"arguments null": {
			[]string{calls(`{"index":0,"id":"a","function":{"name":"x","arguments":null}}`)},
			[]string{"a x {}"},
		},
		"broken JSON": {
			[]string{calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{oops"}}`)},
			[]string{"a x {oops"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			// "stop" although there are calls, as some servers say.
			events, err := say(t, append(c.chunks, finishChunk("stop"), "[DONE]")...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range only[spool.ToolCallEnd](events) {
				id := string(e.ID)
				if parts := strings.SplitN(id, "_", 3); len(parts) == 3 {
					id = parts[0] + "_" + parts[1] + "_*"
				}
				got = append(got, id+" "+e.Name+" "+e.Args)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if reason := finishOf(t, events).Reason; reason != spool.FinishToolCalls {
				t.Errorf("finish reason %q", reason)
			}
		})
	}
}

func TestFinishReasons(t *testing.T) {
	t.Parallel()

	for word, want := range map[string]spool.FinishReason{
		"stop": spool.FinishStop, "length": spool.FinishLength, "content_filter": spool.FinishFilter,
		"tool_calls": spool.FinishStop, "recitation": "recitation",
	} {
		events, err := say(t, textChunk("a"), finishChunk(word))
		if err != nil {
			t.Fatalf("%s: %v", word, err)
		}
		if got := finishOf(t, events).Reason; got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
}

func TestReasoningShapes(t *testing.T) {
	t.Parallel()

	for name, first := range map[string]string{
		"reasoning_content": `{"reasoning_content":"Hm."}`,
		"reasoning":         `{"reasoning":"Hm."}`,
		"details only":      `{"reasoning_details":[{"type":"reasoning.summary","summary":"Hm.","index":0}]}`,
	} {
		events, err := say(t, deltaChunk(first), textChunk("So."), finishChunk("stop"), "[DONE]")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := only[spool.ReasoningDelta](events); len(got) != 1 || got[0].Text != "Hm." {
			t.Errorf("%s: %v", name, got)
		}
		if got := only[spool.ReasoningEnd](events); len(got) != 1 {
			t.Errorf("%s: %d ends", name, len(got))
		}
		if text := only[spool.TextDelta](events); len(text) != 1 || text[0].Text != "So." {
			t.Errorf("%s: text %v", name, text)
		}
	}
}

// An encrypted thought comes after the tool calls that it led to.
func TestEncryptedReasoningIsKept(t *testing.T) {
	t.Parallel()

	events, err := say(t,
		deltaChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s1"}}}]}`),
		deltaChunk(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"e1","id":"a"}]}`),
		finishChunk("tool_calls"), "[DONE]")
	if err != nil {
		t.Fatal(err)
	}
	ends, calls := only[spool.ReasoningEnd](events), only[spool.ToolCallEnd](events)
	if len(ends) != 1 || len(calls) != 1 {
		t.Fatalf("got %v", events)
	}
	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		send(w, textChunk("ok"), finishChunk("stop"))
	})
	message := spool.Message{Role: spool.RoleAssistant, Content: spool.Content{
		{Type: spool.PartToolCall, ToolCallID: "a", ToolName: "x", Args: json.RawMessage(`{}`), Provider: calls[0].Provider},
		{Type: spool.PartReasoning, Provider: ends[0].Provider},
		{Type: spool.PartReasoning, Text: "another provider's", Provider: json.RawMessage(`{"signature":"theirs"}`)},
	}}
	if _, err := stream(
		t, p.model(t, openai.Config{}), spool.ModelRequest{Messages: []spool.Message{message}},
	); err != nil {
		t.Fatal(err)
	}
	body := p.requests()[0]
	for _, want := range []string{
		`"reasoning_details":[{"data":"e1","id":"a","type":"reasoning.encrypted"}]`,
		`"extra_content":{"google":{"thought_signature":"s1"}}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	if strings.Contains(body, "theirs") {
		t.Errorf("sent what belongs to another provider: %s", body)
	}
}

func TestUsageShapes(t *testing.T) {
	t.Parallel()

	n := func(v int64) *int64 { return &v }
	withUsage := func(usage string) string {
		return `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":` + usage + `}`
	}
	for name, c := range map[string]struct {
		chunk string
		want  spool.Usage
	}{
		"with the finish": {withUsage(`{"prompt_tokens":3,"completion_tokens":0}`), spool.Usage{Input: n(3), Output: n(0)}},
		"null":            {withUsage(`null`), spool.Usage{}},
		"empty":           {withUsage(`{}`), spool.Usage{}},
		"null details":    {withUsage(`{"prompt_tokens":3,"prompt_tokens_details":null}`), spool.Usage{Input: n(3)}},
		"cache write":     {withUsage(`{"prompt_tokens_details":{"cache_write_tokens":2}}`), spool.Usage{CacheWrite: n(2)}},
		"in DeepSeek's way": {
			withUsage(`{"prompt_tokens":9,"prompt_cache_hit_tokens":4}`), spool.Usage{Input: n(9), CacheRead: n(4)},
		},
	} {
		events, err := say(t, textChunk("a"), c.chunk)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, finishOf(t, events).Usage); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A server that does not know "stream" answers with one JSON object.
func TestWholeAnswer(t *testing.T) {
	t.Parallel()

	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w,
			`{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi.","tool_calls":[`+
				`{"id":"a","function":{"name":"x","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1}}`)
	})
	events, err := stream(t, p.model(t, openai.Config{}), spool.ModelRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if f := finishOf(t, events); f.Reason != spool.FinishToolCalls || f.ModelID != "m" || *f.Usage.Input != 1 {
		t.Errorf("finish %+v", f)
	}
}

func TestContentAsParts(t *testing.T) {
	t.Parallel()

	events, err := say(t, deltaChunk(`{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"Hi."}]}`),
		deltaChunk(`{"content":null,"refusal":" No."}`), finishChunk("stop"))
	if err != nil {
		t.Fatal(err)
	}
	if got := only[spool.TextDelta](events); len(got) != 2 || got[0].Text != "Hi." || got[1].Text != " No." {
		t.Errorf("got %v", got)
	}
}

// Everything has arrived but the end of the stream itself.
func TestCutBehindTheFinish(t *testing.T) {
	t.Parallel()

	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		send(w, textChunk("Hi."), finishChunk("stop"))
		panic(http.ErrAbortHandler)
	})
	events, err := stream(t, p.model(t, openai.Config{}), spool.ModelRequest{})
	if err != nil || finishOf(t, events).Reason != spool.FinishStop {
		t.Errorf("got %v, %v", events, err)
	}
}

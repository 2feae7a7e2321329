package gemini_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/gemini"
	"github.com/spoolhq/spool/model/gemini"
)

// Calls are whole under any word but those of a limit and of a filter.
func TestFinishReasons(t *testing.T) {
	t.Parallel()

	for word, want := range map[string]spool.FinishReason{
		"STOP": spool.FinishStop, "FUNCTION_CALL": spool.FinishStop, "MAX_TOKENS": spool.FinishLength,
		"SAFETY": spool.FinishFilter, "RECITATION": spool.FinishFilter, "MODEL_ARMOR": spool.FinishFilter,
		"stop": spool.FinishStop, "length": spool.FinishLength, "content_filter": spool.FinishFilter,
		"tool_calls": spool.FinishStop, "BLOCKLIST": spool.FinishFilter, "PROHIBITED_CONTENT": spool.FinishFilter,
		"SPII": spool.FinishFilter, "IMAGE_SAFETY": spool.FinishFilter, "IMAGE_PROHIBITED_CONTENT": spool.FinishFilter,
		"IMAGE_RECITATION": spool.FinishFilter, "LANGUAGE": "LANGUAGE", "TOO_MANY_TOOL_CALLS": "TOO_MANY_TOOL_CALLS",
		"SOMETHING_NEW": "SOMETHING_NEW",
	} {
		p := newPeer(t, answerWith(fake.Answer{Parts: []fake.Part{fake.Text("Hi.")}, Finish: word}))
		if got := mustAsk(t, p.model(t, gemini.Config{}), hello()); got.finish.Reason != want || got.message.Text() != "Hi." {
			t.Errorf("%s: got %+v", word, got)
		}
		if want != spool.FinishLength && want != spool.FinishFilter {
			want = spool.FinishToolCalls
		}
		p = newPeer(t, answerWith(fake.Answer{Parts: []fake.Part{clock()}, Finish: word}))
		if got := mustAsk(t, p.model(t, gemini.Config{}), hello()); got.finish.Reason != want {
			t.Errorf("%s with a call: got %+v", word, got)
		}
	}
	for word, permanent := range map[string]bool{
		"MALFORMED_FUNCTION_CALL": false, "UNEXPECTED_TOOL_CALL": false, "MALFORMED_RESPONSE": false, "OTHER": false,
		"IMAGE_OTHER": false, "NO_IMAGE": false, "CONTINUATION": false, "error": false, "network_error": false,
		"MISSING_THOUGHT_SIGNATURE": true,
	} {
		p := newPeer(t, answerWith(fake.Answer{
			Parts: []fake.Part{fake.Text("Hi.")}, Finish: word, FinishMessage: "for a reason",
		}))
		got := mustFail(t, p.model(t, gemini.Config{}), hello())
		if got.Type != word || got.Permanent() != permanent || got.Message != "the answer ended with "+word+": for a reason" {
			t.Errorf("%s: got %+v", word, got)
		}
	}
}

// A blocked prompt has no candidates, and so no finish reason.
func TestBlockedPrompt(t *testing.T) {
	t.Parallel()

	p := newPeer(t, answerWith(fake.Answer{Block: "PROHIBITED_CONTENT", Usage: &fake.Usage{Prompt: 5}}))
	got := mustAsk(t, p.model(t, gemini.Config{}), hello())
	if got.finish.Reason != spool.FinishFilter || *got.finish.Usage.Input != 5 || got.finish.Usage.Output != nil {
		t.Errorf("got %+v", got)
	}
}

// Usage is known before the end, in case that the answer has none.
func TestUsageSeen(t *testing.T) {
	t.Parallel()

	p := newPeer(t, answerWith(fake.Answer{
		Parts: []fake.Part{fake.Text("Hi there.")},
		Usage: &fake.Usage{Prompt: 10, ToolUse: 2, Cached: 4, Candidates: 6, Thoughts: 3}, End: fake.EndCut,
	}))
	got := ask(t.Context(), p.model(t, gemini.Config{}), hello())
	if got.err == nil || len(got.usages) == 0 || *got.usages[0].Input != 12 || *got.usages[0].CacheRead != 4 {
		t.Errorf("got %+v", got)
	}
}

// An interrupted answer goes on with its token, after the same prompt.
func TestPause(t *testing.T) {
	t.Parallel()

	p := newPeer(t, fake.Config{Answer: func(r *fake.Request) fake.Answer {
		switch r.Continuation {
		case "":
			return fake.Answer{Parts: []fake.Part{fake.Text("One, ")}, Finish: "CONTINUATION", Continuation: "dG9rZW4x"}
		case "dG9rZW4x":
			return fake.Answer{Parts: []fake.Part{fake.Text("two, ")}, Finish: "CONTINUATION", Continuation: "dG9rZW4y"}
		default:
			return fake.Answer{Parts: []fake.Part{fake.Text("three.")}}
		}
	}})
	m := p.model(t, gemini.Config{})
	var text strings.Builder
	messages := hello().Messages
	for _, want := range []spool.FinishReason{spool.FinishPause, spool.FinishPause, spool.FinishStop} {
		got := mustAsk(t, m, spool.ModelRequest{Messages: messages})
		if got.finish.Reason != want {
			t.Fatalf("got %+v, want %s", got, want)
		}
		text.WriteString(got.message.Text())
		messages = append(messages, got.message)
	}
	first := p.Requests()[0]
	for i, token := range []string{"dG9rZW4x", "dG9rZW4y"} {
		want := strings.Replace(first, `,"generationConfig"`, `,"continuationToken":"`+token+`","generationConfig"`, 1)
		if got := p.Requests()[i+1]; got != want {
			t.Errorf("request %s, want %s", got, want)
		}
	}
	if text.String() != "One, two, three." {
		t.Errorf("text %q", text.String())
	}
	// The next turn has the whole answer, and no token.
	mustAsk(t, m, spool.ModelRequest{Messages: append(slices.Clone(messages), user("Thanks."))})
	if last := p.Requests()[3]; strings.Contains(last, "continuationToken") || strings.Contains(last, "dG9rZW4") {
		t.Errorf("request %s", last)
	}
	// Another model cannot go on. It gets what was said.
	mustAsk(t, p.model(t, gemini.Config{Model: "gemini-2.5-x"}), spool.ModelRequest{Messages: messages[:2]})
	wantIn(t, p.Requests()[4], `"Continue."`)
}

// A server that does not stream answers with a chunk, or with a list of them.
func TestWholeAnswer(t *testing.T) {
	t.Parallel()

	const one = `{"candidates":[{"content":{"parts":[{"text":"Hi."}]},"finishReason":"STOP"}]}`
	for _, body := range []string{
		one, "[" + one + "]",
		`[{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]},` + strings.Replace(one, "Hi.", ".", 1) + "]",
	} {
		p := newPeer(t, answerWith(fake.Answer{Handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			bodyAnswer(200, body).Handler(w, r)
		}}))
		if got := mustAsk(t, p.model(t, gemini.Config{}), hello()); got.message.Text() != "Hi." {
			t.Errorf("%s: got %+v", body, got)
		}
	}
}

// An answer that goes on without anything to see has an end.
func TestEndlessNothing(t *testing.T) {
	t.Parallel()

	piece := []byte(`data: {"candidates":[{"content":{"parts":[{"text":""}]},"safetyRatings":"` +
		strings.Repeat("x", 64<<10) + "\"}]}\n\n")
	p := newPeer(t, answerWith(fake.Answer{Handler: func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}}))
	if got := mustAsk(t, p.model(t, gemini.Config{}), hello()); got.finish.Reason != spool.FinishLength {
		t.Errorf("got %+v", got)
	}
}

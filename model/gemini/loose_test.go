package gemini_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/gemini"
	"github.com/spoolhq/spool/internal/testing/modelread"
	"github.com/spoolhq/spool/model/gemini"
)

// read returns the answer of a server that sends a body.
func read(t *testing.T, kind, body string, r spool.ModelRequest) answer {
	t.Helper()

	m, err := gemini.New(gemini.Config{
		Model: testModel, BaseURL: "http://gemini.test", Transport: modelread.Body{Text: body, Type: kind},
	})
	if err != nil {
		t.Fatal(err)
	}
	return ask(t.Context(), m, r)
}

// sse returns the body of a stream with chunks.
func sse(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

// says returns a chunk with parts.
func says(parts string) string { return `{"candidates":[{"content":{"parts":[` + parts + `]}}]}` }

const ended = `{"candidates":[{"finishReason":"STOP"}]}`

// The first bytes tell a stream from a whole answer, whatever the type says.
func TestMixedUpTypes(t *testing.T) {
	t.Parallel()

	whole := `{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}`
	for name, c := range map[string]struct{ kind, body string }{
		"events as JSON": {"application/json", sse(says(`{"text":"Hi"}`), ended)},
		"JSON as events": {"text/event-stream", whole},
		"list as events": {"text/event-stream", "\n[" + whole + "]"},
	} {
		if got := read(t, c.kind, c.body, hello()); got.err != nil || got.message.Text() != "Hi" ||
			got.finish.Reason != spool.FinishStop {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A wrong type of a field costs nothing, unless texts or calls are in the field. What a search has found is no part of
// the answer.
func TestOddTypes(t *testing.T) {
	t.Parallel()

	got := read(t, "text/event-stream", sse(
		`{"candidates":[{"index":"0","content":{"role":5,"parts":[{"text":12,"thought":"no","thoughtSignature":7}]},"safetyRatings":"none","finishReason":[]}],"modelVersion":{},"promptFeedback":"none","usageMetadata":{"promptTokenCount":"3","thoughtsTokenCount":2.0,"cachedContentTokenCount":[]}}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"clock","args":{"n":1},"id":4}}]},"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://example.com/","title":"x"}}],"groundingSupports":[{"segment":{"endIndex":4,"text":"12"},"groundingChunkIndices":[0]}]}}],"usageMetadata":"none"}`,
		ended,
	), hello())
	if got.err != nil {
		t.Fatal(got.err)
	}
	n := func(v int64) *int64 { return &v }
	want := spool.Usage{Input: n(3), Output: n(2), Reasoning: n(2)}
	if diff := cmp.Diff(want, got.usages[0]); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if c := got.message.Content; len(c) != 2 || c[0].Text != "12" || c[1].ToolName != "clock" ||
		string(c[1].Args) != `{"n":1}` || got.finish.Reason != spool.FinishToolCalls {
		t.Errorf("got %+v", got)
	}

	for name, chunk := range map[string]string{
		"candidates": `{"candidates":"Hi"}`,
		"content":    `{"candidates":[{"content":"Hi"}]}`,
		"parts":      `{"candidates":[{"content":{"parts":"Hi"}}]}`,
		"part":       says(`"Hi"`),
		"call":       says(`{"functionCall":"clock"}`),
		"chunk":      `["Hi"]`,
	} {
		got := read(t, "text/event-stream", sse(chunk, ended), hello())
		// the same request brings the same form, but not the same call
		if e, ok := errors.AsType[*spool.ModelError](got.err); !ok || e.Permanent() == (name == "call") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The halves of a character are joined.
func TestHalves(t *testing.T) {
	t.Parallel()

	got := read(t, "text/event-stream", sse(
		says(`{"text":"Hm \ud83d","thought":true}`), says(`{"text":"\ude00.","thought":true}`),
		says(`{"text":"Hi \ud83d"}`), says(`{"text":"\ude00."}`), ended,
	), hello())
	if c := got.message.Content; got.err != nil || len(c) != 2 || c[0].Text != "Hm 😀." || c[1].Text != "Hi 😀." {
		t.Errorf("got %+v", got)
	}
}

// An image that the model makes is one of its answer, and a file that is elsewhere is a text. Both go back to the same
// model as they came, and the image to another one.
func TestMedia(t *testing.T) {
	t.Parallel()

	const (
		image = `{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="},"thoughtSignature":"c2ln"}`
		draft = `{"inlineData":{"mimeType":"image/png","data":"AAAA"},"thought":true}`
		sound = `{"fileData":{"fileUri":"https://example.com/a.mp3"}}`
	)
	body := sse(says(`{"text":"Look: "},`+draft+`,`+image+`,`+sound+`,{"text":"Done."}`), ended)
	got := read(t, "text/event-stream", body, hello())
	const png = "data:image/png;base64,iVBORw0KGgo="
	if want := "Look: [a file at https://example.com/a.mp3]Done."; got.err != nil || got.message.Text() != want ||
		got.message.Content[2].Image != png {
		t.Fatalf("got %+v", got)
	}
	if kept := string(got.message.Content[2].Provider); !strings.Contains(kept, "c2ln") ||
		strings.Contains(kept, "iVBOR") {
		t.Errorf("kept %s", kept)
	}
	r := hello()
	r.Messages = append(r.Messages, got.message, user("And?"))
	p := newPeer(t, answerWith(fake.Answer{Parts: []fake.Part{fake.Text("Fine.")}}))
	for _, model := range []string{testModel, "gemini-2.5-other"} {
		_ = ask(t.Context(), p.model(t, gemini.Config{Model: model}), r) // the fake did not sign it
	}
	parts := func(n int) []any {
		var sent struct {
			Contents []struct {
				Parts []any `json:"parts"`
			} `json:"contents"`
		}
		if err := json.Unmarshal([]byte(p.Requests()[n]), &sent); err != nil {
			t.Fatal(err)
		}
		return sent.Contents[1].Parts
	}
	var same, other []any
	if json.Unmarshal([]byte(`[{"text":"Look: "},`+draft+`,`+image+`,`+sound+`,{"text":"Done."}]`), &same) != nil ||
		json.Unmarshal(
			[]byte(`[{"text":"Look: "},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"text":"[a file at https://example.com/a.mp3]"},{"text":"Done."}]`),
			&other,
		) != nil {
		t.Fatal("no JSON")
	}
	if diff := cmp.Diff(same, parts(0)); diff != "" {
		t.Errorf("to the same model (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(other, parts(1)); diff != "" {
		t.Errorf("to another model (-want +got):\n%s", diff)
	}
}

// Names that the API refuses are changed in the request only, and what a server adds to a name is removed if the rest
// is a tool. Arguments in pieces come again with the same request.
func TestOddNames(t *testing.T) {
	t.Parallel()

	r := hello()
	r.Tools = []spool.ToolSpec{{Name: "clock"}}
	got := read(t, "text/event-stream",
		sse(says(`{"functionCall":{"name":"default_api.clock"}},{"functionCall":{"name":"what is<|this|>"}}`), ended), r)
	c := got.message.Content
	if got.err != nil || len(c) != 2 || c[0].ToolName != "clock" || c[1].ToolName != "what is<|this|>" {
		t.Fatalf("got %+v", got)
	}
	r.Messages = append(r.Messages, got.message, resultsOf(got.message))
	sent := body(t, gemini.Config{}, r)
	if strings.Contains(sent, "what is") || strings.Count(sent, `"name":"what_is__this__`) != 2 {
		t.Errorf("sent %s", sent)
	}

	for part, permanent := range map[string]bool{
		`{"functionCall":{"name":"clock","partialArgs":[{"jsonPath":"$.n","numberValue":1}],"willContinue":true}}`: true,
		`{"functionCall":{"args":{}}}`: false,
	} {
		got := read(t, "text/event-stream", sse(says(part), ended), hello())
		if e, ok := errors.AsType[*spool.ModelError](got.err); !ok || e.Permanent() != permanent {
			t.Errorf("%s: %+v", part, got)
		}
	}
}

package openai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/modelread"
	"github.com/spoolhq/spool/model/openai"
)

// The servers of chat completions name sources in four ways.
func TestSources(t *testing.T) {
	t.Parallel()

	url := `{"type":"url_citation","url_citation":{"url":"https://example.com/x","title":"X","start_index":2,"end_index":7}}`
	say := func(delta string) string { return `data: {"choices":[{"index":0,"delta":` + delta + "}]}\n\n" }
	const end = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for name, c := range map[string]struct {
		body string
		text string
		want []modelread.Cited
	}{
		"annotations after the text": {
			say(`{"content":"Ä 🙂 is"}`) + say(`{"content":" x."}`) + say(`{"annotations":[`+url+`]}`) + end, "Ä 🙂 is x.",
			[]modelread.Cited{{URL: "https://example.com/x", Title: "X", Spans: []string{"🙂 is "}}},
		},
		"twice, and once without an object": {
			say(`{"content":"A word or two."}`) + say(`{"annotations":[`+url+
				`,{"type":"url_citation","url":"https://example.com/x","start_index":0,"end_index":1},`+url+`]}`) + end,
			"A word or two.",
			[]modelread.Cited{{URL: "https://example.com/x", Title: "X", Spans: []string{"A", "word "}}},
		},
		"a file": {
			say(`{"content":"As said.","annotations":[{"type":"file_citation","file_citation":{"file_id":"f1","filename":"a.pdf"}}]}`) + end, "As said.",
			[]modelread.Cited{{Title: "a.pdf"}},
		},
		"lists beside the answer, in each chunk": {
			`data: {"citations":["https://a.example/","https://b.example/"],"search_results":[{"title":"B","url":"https://b.example/"}],"choices":[{"index":0,"delta":{"content":"Hi[1]"}}]}` + "\n\n" +
				`data: {"citations":["https://a.example/","https://b.example/"],"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n", "Hi[1]",
			[]modelread.Cited{{URL: "https://b.example/", Title: "B"}, {URL: "https://a.example/"}},
		},
		"a whole answer": {
			`{"choices":[{"index":0,"message":{"content":"A word or two.","annotations":[` + url +
				`]},"finish_reason":"stop"}]}`, "A word or two.",
			[]modelread.Cited{{URL: "https://example.com/x", Title: "X", Spans: []string{"word "}}},
		},
		"nonsense": {
			say(`{"content":"Hi","annotations":[7,null,{"type":"url_citation"},{"type":"url_citation","url_citation":{"url":"javascript:alert(1)","title":"J","start_index":9,"end_index":3}},`+
				`{"type":"url_citation","url_citation":{"url":"https://n.example/","start_index":-1,"end_index":99}},{"type":"other"}]}`) + end, "Hi",
			[]modelread.Cited{{Title: "J"}, {URL: "https://n.example/"}},
		},
		"reasoning between tags is counted by the server": {
			say(`{"content":"<think>a</think>A word or two."}`) + say(`{"annotations":[`+url+`]}`) + end, "A word or two.",
			[]modelread.Cited{{URL: "https://example.com/x", Title: "X"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := openai.New(openai.Config{
				Model: "m", BaseURL: "http://openai.test/v1", Transport: modelread.Body{Text: c.body},
			})
			if err != nil {
				t.Fatal(err)
			}
			text, got := modelread.Sources(t, m, spool.ModelRequest{Messages: []spool.Message{userSays("Hi?")}})
			if diff := cmp.Diff(c.want, got); diff != "" || text != c.text {
				t.Errorf("text %q, sources:\n%s", text, diff)
			}
		})
	}
}

package anthropic_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/internal/testing/modelread"
	"github.com/spoolhq/spool/model/anthropic"
)

// A citation is for all of its text. A search names pages before the text that cites them.
func TestSources(t *testing.T) {
	t.Parallel()

	const (
		search = `{"type":"content_block_start","index":0,"content_block":{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"https://a.example/","title":"A","encrypted_content":"x"},{"type":"web_search_result","url":"https://b.example/","title":"B"}]}}`
		failed = `{"type":"content_block_start","index":0,"content_block":{"type":"web_search_tool_result","tool_use_id":"s1","content":{"type":"web_search_tool_result_error","error_code":"unavailable"}}}`
	)
	text := func(index, text, citations string) []string {
		at := `"index":` + index
		return []string{
			`{"type":"content_block_start",` + at + `,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta",` + at + `,"delta":{"type":"text_delta","text":"` + text + `"}}`,
			`{"type":"content_block_delta",` + at + `,"delta":{"type":"citations_delta","citation":` + citations + `}}`,
			`{"type":"content_block_stop",` + at + `}`,
		}
	}
	page := `{"type":"web_search_result_location","url":"https://b.example/","title":"B","cited_text":"x","encrypted_index":"i"}`
	for name, c := range map[string]struct {
		events []string
		want   []modelread.Cited
	}{
		"pages": {
			append([]string{search, `{"type":"content_block_stop","index":0}`},
				append(text("1", "Ä🙂. ", page), text("2", "Two.", page)...)...),
			[]modelread.Cited{
				{URL: "https://a.example/", Title: "A"},
				{URL: "https://b.example/", Title: "B", Spans: []string{"Ä🙂. ", "Two."}},
			},
		},
		"documents": {
			append([]string{failed, `{"type":"content_block_stop","index":0}`}, append(
				text("1", "Ä🙂. ",
					`{"type":"char_location","document_index":0,"document_title":"Annual report","start_char_index":1,"end_char_index":2}`),
				text("2", "Two.", `{"type":"page_location","document_index":1,"document_title":null}`)...)...),
			[]modelread.Cited{
				{Title: "Annual report", Spans: []string{"Ä🙂. "}},
				{Title: "Document 2", Spans: []string{"Two."}},
			},
		},
		"search results of the agent, and nonsense": {
			append(text("1", "Ä🙂. ", `{"type":"search_result_location","source":"https://c.example/","title":"C"}`),
				text("2", "Two.", `7`)...),
			[]modelread.Cited{{URL: "https://c.example/", Title: "C", Spans: []string{"Ä🙂. "}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			body := sse(append(append([]string{`{"type":"message_start","message":{"model":"m"}}`}, c.events...),
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)...)
			m, err := anthropic.New(anthropic.Config{
				Model: modelName, BaseURL: "http://anthropic.test", Transport: modelread.Body{Text: body},
			})
			if err != nil {
				t.Fatal(err)
			}
			said, got := modelread.Sources(t, m, asks("Hi?"))
			if diff := cmp.Diff(c.want, got); diff != "" || said != "Ä🙂. Two." {
				t.Errorf("text %q, sources:\n%s", said, diff)
			}
		})
	}
}

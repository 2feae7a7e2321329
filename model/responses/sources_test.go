package responses_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/internal/testing/modelread"
	"github.com/spoolhq/spool/model/responses"
)

// The positions of a source are those in its part of a message, and not in the answer.
func TestSources(t *testing.T) {
	t.Parallel()

	added := `{"type":"response.output_text.annotation.added","item_id":"m2","output_index":1,"annotation":{"type":"url_citation","url":"https://a.example/","title":"A","start_index":0,"end_index":3}}`
	first := `{"id":"m1","type":"message","content":[{"type":"output_text","text":"Ä🙂 one.","annotations":[{"type":"file_citation","index":7,"file_id":"f1","filename":"a.pdf"}]}]}`
	second := func(annotations string) string {
		return `{"id":"m2","type":"message","content":[{"type":"output_text","text":" Two"},{"type":"output_text","text":", three.","annotations":` + annotations + `}]}`
	}
	stream := func(more ...string) string {
		events := append([]string{
			`{"type":"response.output_item.added","output_index":0,"item":{"id":"m1","type":"message","content":[]}}`,
			`{"type":"response.output_text.delta","item_id":"m1","output_index":0,"delta":"Ä🙂 on"}`,
			`{"type":"response.output_item.done","output_index":0,"item":` + first + `}`,
		}, more...)
		return "data: " + strings.Join(append(events, `{"type":"response.completed","response":{"status":"completed"}}`),
			"\n\ndata: ") + "\n\n"
	}
	url := `{"type":"url_citation","url":"https://b.example/","title":"B","start_index":2,"end_index":7}`
	file := modelread.Cited{Title: "a.pdf"}
	for name, c := range map[string]struct {
		body string
		want []modelread.Cited
	}{
		"in a part": {
			stream(`{"type":"response.output_item.done","output_index":1,"item":` + second("["+url+","+url+"]") + `}`),
			[]modelread.Cited{file, {URL: "https://b.example/", Title: "B", Spans: []string{"three"}}},
		},
		"apart": {
			stream(added, `{"type":"response.output_item.done","output_index":1,"item":`+second("[]")+`}`),
			[]modelread.Cited{file, {URL: "https://a.example/", Title: "A", Spans: []string{" Tw"}}},
		},
		"both": {
			stream(added, `{"type":"response.output_item.done","output_index":1,"item":`+second("["+url+"]")+`}`),
			[]modelread.Cited{file, {URL: "https://b.example/", Title: "B", Spans: []string{"three"}}},
		},
		"nonsense": {
			stream(
				`{"type":"response.output_item.done","output_index":1,"item":` +
					second(`[7,{"type":"url_citation","url":"file:///etc/passwd"},{"type":"url_citation","url":"http://c.example","start_index":"x","end_index":999999}]`) + `}`,
			),
			[]modelread.Cited{file, {URL: "http://c.example"}},
		},
		"a whole answer": {
			`{"status":"completed","output":[` + first + `,` + second("["+url+"]") + `]}`,
			[]modelread.Cited{file, {URL: "https://b.example/", Title: "B", Spans: []string{"three"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := responses.New(responses.Config{
				Model: "test-model", BaseURL: "http://responses.test", Transport: modelread.Body{Text: c.body},
			})
			if err != nil {
				t.Fatal(err)
			}
			text, got := modelread.Sources(t, m, hello())
			if diff := cmp.Diff(c.want, got); diff != "" || text != "Ä🙂 one. Two, three." {
				t.Errorf("text %q, sources:\n%s", text, diff)
			}
		})
	}
}

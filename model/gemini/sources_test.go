package gemini_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/internal/testing/modelread"
	"github.com/spoolhq/spool/model/gemini"
)

// The provider counts bytes of the whole text, and says so in the last chunk.
func TestSources(t *testing.T) {
	t.Parallel()

	last := func(metadata string) string {
		return `{"candidates":[{"finishReason":"STOP","groundingMetadata":` + metadata + `}]}`
	}
	const chunks = `"groundingChunks":[{"web":{"uri":"https://a.example/","title":"a.example"}},{"retrievedContext":{"uri":"gs://store/b.pdf"}},{"web":{"uri":"https://c.example/","title":"C"}}]`
	none := []modelread.Cited{
		{URL: "https://a.example/", Title: "a.example"},
		{Title: "b.pdf"},
		{URL: "https://c.example/", Title: "C"},
	}
	texts := says(`{"text":"Hm.","thought":true},{"text":"Ä🙂 "}`)
	for name, c := range map[string]struct {
		body string
		want []modelread.Cited
	}{
		"spans": {
			sse(texts, says(`{"text":"one. Two."}`),
				last(
					`{`+chunks+
						`,"groundingSupports":[{"segment":{"endIndex":11,"text":"Ä🙂 one."},"groundingChunkIndices":[0,1]},{"segment":{"startIndex":12,"endIndex":16,"text":"Two."},"groundingChunkIndices":[0,9,-1]}]}`,
				)),
			[]modelread.Cited{
				{URL: "https://a.example/", Title: "a.example", Spans: []string{"Ä🙂 one.", "Two."}},
				{Title: "b.pdf", Spans: []string{"Ä🙂 one."}},
				none[2],
			},
		},
		"spans around an image": {
			sse(texts, says(`{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"text":"one. Two."}`),
				last(
					`{`+chunks+
						`,"groundingSupports":[{"segment":{"startIndex":12,"endIndex":16,"text":"Two."},"groundingChunkIndices":[2]}]}`,
				)),
			[]modelread.Cited{none[0], none[1], {URL: "https://c.example/", Title: "C", Spans: []string{"Two."}}},
		},
		"another text": {
			sse(texts, says(`{"text":"one. Two."}`),
				last(
					`{`+chunks+
						`,"groundingSupports":[{"segment":{"endIndex":11,"text":"Something"},"groundingChunkIndices":[0]},{"segment":{"startIndex":1,"endIndex":7},"groundingChunkIndices":[0]},{"segment":{"startIndex":3,"endIndex":700},"groundingChunkIndices":[0]}]}`,
				)),
			none,
		},
		"no spans, and twice": {
			sse(texts, says(`{"text":"one. Two."}`), `{"candidates":[{"groundingMetadata":{`+chunks+`}}]}`,
				last(`{`+chunks+`}`)),
			none,
		},
		"nonsense": {
			sse(texts, says(`{"text":"one. Two."}`),
				last(`{"groundingChunks":[7,{"web":3},{"web":{"uri":7}}],"groundingSupports":{}}`)),
			nil,
		},
		"no object": {sse(texts, says(`{"text":"one. Two."}`), last(`[1]`)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := gemini.New(gemini.Config{
				Model: "gemini-2.5-x", BaseURL: "http://gemini.test", Transport: modelread.Body{Text: c.body},
			})
			if err != nil {
				t.Fatal(err)
			}
			text, got := modelread.Sources(t, m, hello())
			if diff := cmp.Diff(c.want, got); diff != "" || text != "Ä🙂 one. Two." {
				t.Errorf("text %q, sources:\n%s", text, diff)
			}
		})
	}
}

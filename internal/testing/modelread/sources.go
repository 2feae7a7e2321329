package modelread

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/citation"
)

// Sources asks a model, and returns the text of the answer and its sources as a message has them. Spans has the pieces
// of the text that each supports.
func Sources(t *testing.T, m spool.Model, r spool.ModelRequest) (text string, sources []Cited) {
	t.Helper()

	var list citation.List
	for event, err := range m.Stream(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := event.(type) {
		case spool.TextDelta:
			text += e.Text
		case spool.Source:
			list.Add(e)
		}
	}
	runes := []rune(text)
	for _, s := range list.Of(text) {
		cited := Cited{URL: s.URL, Title: s.Title}
		for _, span := range s.Spans {
			cited.Spans = append(cited.Spans, string(runes[span.Start:span.End]))
		}
		sources = append(sources, cited)
	}
	return text, sources
}

// Cited is a source of an answer, with the pieces of the text that it supports.
type Cited struct {
	URL, Title string
	Spans      []string
}

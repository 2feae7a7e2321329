package responses

import (
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/citation"
	"github.com/spoolhq/spool/internal/lenient"
)

// annotation is what the provider says about a piece of a text.
//
//nolint:tagliatelle // the provider's words
type annotation struct {
	Type     string        `json:"type"`
	URL      string        `json:"url"`
	Title    string        `json:"title"`
	FileName string        `json:"filename"`
	FileID   string        `json:"file_id"`
	Start    lenient.Count `json:"start_index"`
	End      lenient.Count `json:"end_index"`
}

// annotate keeps a source that comes apart from its text. The whole item has it too, but not that of each server.
func (a *answer) annotate(it *item, raw json.RawMessage) error {
	if raw != nil && len(it.annotations) < citation.MaxSources {
		it.annotations = append(it.annotations, slices.Clone(raw))
		a.bytes += len(raw)
	}
	return a.checkBuffer()
}

// cite emits the sources of a text. The provider counts the characters of each part of it.
func (a *answer) cite(it *item) error {
	began, whole := it.began, false
	for _, p := range it.Content {
		if err := a.citeAll(began, p.Annotations); err != nil {
			return err
		}
		whole = whole || len(p.Annotations) > 0
		began += utf8.RuneCountInString(string(p.Text + p.Refusal))
	}
	if whole {
		return nil
	}
	return a.citeAll(it.began, it.annotations)
}

func (a *answer) citeAll(began int, list []json.RawMessage) error {
	for _, raw := range list {
		var of annotation
		if lenient.Object(raw, &of) != nil {
			continue
		}
		s := spool.Source{Title: of.Title}
		switch of.Type {
		case "url_citation":
			s.URL = of.URL
		case "file_citation", "container_file_citation":
			s.Title = cmp.Or(of.FileName, of.FileID)
		default:
			continue
		}
		if of.Start.N != nil && of.End.N != nil {
			s.Spans = citation.Spans(began, int(*of.Start.N), int(*of.End.N))
		}
		if err := a.emit(s); err != nil {
			return err
		}
	}
	return nil
}

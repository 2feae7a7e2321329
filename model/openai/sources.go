package openai

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/citation"
)

// annotation is what a server says about a piece of the text. OpenAI puts the fields into an object with the name of
// the type, and some servers do not.
//
//nolint:tagliatelle // the provider's words
type annotation struct {
	Type         word            `json:"type"`
	URLCitation  loose[cited]    `json:"url_citation"`
	FileCitation loose[cited]    `json:"file_citation"`
	raw          json.RawMessage // the annotation itself
}

//nolint:tagliatelle // the provider's words
type cited struct {
	URL      word  `json:"url"`
	Title    word  `json:"title"`
	FileName word  `json:"filename"`
	Start    count `json:"start_index"`
	End      count `json:"end_index"`
}

// annotations are the sources in a delta. They come with or behind the text that they are about.
func (a *answer) annotations(list []json.RawMessage) error {
	for _, raw := range list {
		one := annotation{raw: raw}
		if json.Unmarshal(raw, &one) != nil {
			continue
		}
		var of cited
		switch one.Type {
		case "url_citation":
			of = one.URLCitation.v
		case "file_citation":
			of = one.FileCitation.v
		default:
			continue
		}
		if of == (cited{}) && json.Unmarshal(one.raw, &of) != nil {
			continue
		}
		s := spool.Source{URL: string(of.URL), Title: string(cmp.Or(of.Title, of.FileName))}
		// Between the tags of some models, the server counts reasoning that is no part of the text.
		if of.Start.n != nil && of.End.n != nil && !a.tagged {
			s.Spans = citation.Spans(0, int(*of.Start.n), int(*of.End.n))
		}
		if err := a.emit(s); err != nil {
			return err
		}
	}
	return nil
}

// listed keeps the sources that a server lists beside the answer: Perplexity's search results have a title, and its
// citations are URLs. Each chunk has the whole list.
func (a *answer) listed(c *chunk) {
	for _, list := range []struct {
		to   *[]json.RawMessage
		from []json.RawMessage
	}{{&a.results, c.SearchResults.v}, {&a.citations, c.Citations.v}} {
		if len(list.from) > 0 {
			*list.to = list.from[:min(len(list.from), citation.MaxSources)]
		}
	}
}

// emitListed emits the listed sources. They are for all of the text.
func (a *answer) emitListed() error {
	for _, raw := range slices.Concat(a.results, a.citations) {
		var of cited
		if raw[0] == '"' {
			_ = json.Unmarshal(raw, &of.URL) // it is a string
		} else if json.Unmarshal(raw, &of) != nil {
			continue
		}
		if err := a.emit(spool.Source{URL: string(of.URL), Title: string(of.Title)}); err != nil {
			return err
		}
	}
	return nil
}

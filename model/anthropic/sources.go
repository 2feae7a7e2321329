package anthropic

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/citation"
	"github.com/spoolhq/spool/internal/lenient"
)

// reference names a source: a citation, or a result of a search that the provider has made.
//
//nolint:tagliatelle // the provider's words
type reference struct {
	Type  string `json:"type"`
	URL   string `json:"url"`
	Title string `json:"title"`
	// Source is the address or the name of a search result of the agent's own.
	Source string `json:"source"`
	// DocumentTitle and DocumentIndex name a document of the prompt.
	DocumentTitle string        `json:"document_title"`
	DocumentIndex lenient.Count `json:"document_index"`
}

// source returns the source, or the zero value.
func (r *reference) source() spool.Source {
	switch r.Type {
	case "web_search_result_location", "web_search_result", "web_fetch_result":
		return spool.Source{URL: r.URL, Title: r.Title}
	case "search_result_location":
		return spool.Source{URL: r.Source, Title: cmp.Or(r.Title, r.Source)}
	case "char_location", "page_location", "content_block_location":
		s := spool.Source{Title: r.DocumentTitle}
		if n := r.DocumentIndex.N; s.Title == "" && n != nil && *n >= 0 {
			s.Title = "Document " + strconv.FormatInt(*n+1, 10)
		}
		return s
	}
	return spool.Source{}
}

// cite emits the sources that a list names, for the same piece of the text.
func (a *answer) cite(list []json.RawMessage, spans []spool.Span) error {
	for _, raw := range list {
		var r reference
		if lenient.Object(raw, &r) != nil {
			continue
		}
		s := r.source()
		if s.URL == "" && s.Title == "" {
			continue
		}
		s.Spans = spans
		if err := a.emit(s); err != nil {
			return err
		}
	}
	return nil
}

// found emits the pages that the provider has found or read. A citation of one of them says which text it supports.
func (a *answer) found(kind string, block json.RawMessage) error {
	if kind != "web_search_tool_result" && kind != "web_fetch_tool_result" {
		return nil
	}
	var one struct {
		Content json.RawMessage `json:"content"`
	}
	var several struct {
		Content lenient.List `json:"content"`
	}
	if lenient.Object(block, &several) != nil || lenient.Object(block, &one) != nil {
		return nil //nolint:nilerr // it names no source
	}
	list := several.Content
	if list == nil && len(one.Content) > 0 {
		list = lenient.List{one.Content}
	}
	return a.cite(list[:min(len(list), citation.MaxSources)], nil)
}

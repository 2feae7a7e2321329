package gemini

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/citation"
	"github.com/spoolhq/spool/internal/lenient"
)

const (
	// maxSpanned bounds the text in which the spans of sources are looked up. Sources of a longer text have none.
	maxSpanned = 1 << 20
	// maxGrounding bounds how many times an answer may name sources, and maxSupports the spans that are read of each.
	maxGrounding = 100
	maxSupports  = 1000
)

// grounding is what an answer has said so far about its sources. The spans come last, and are of all of the text.
type grounding struct {
	named []json.RawMessage
	texts strings.Builder
	// noted is true if the text has pieces that the provider does not count, or if not all of it is in texts.
	noted bool
}

type groundingMetadata struct {
	Chunks   lenient.List `json:"groundingChunks"`
	Supports lenient.List `json:"groundingSupports"`
}

type groundingChunk struct {
	Web       *groundingSource `json:"web"`
	Retrieved *groundingSource `json:"retrievedContext"`
	Maps      *groundingSource `json:"maps"`
}

type groundingSource struct {
	URI   string `json:"uri"`
	Title string `json:"title"`
}

type groundingSupport struct {
	Segment struct {
		// Start and End are bytes of the text. The API leaves out a start of 0.
		Start lenient.Count `json:"startIndex"`
		End   lenient.Count `json:"endIndex"`
		Text  string        `json:"text"`
	} `json:"segment"`
	Chunks []int `json:"groundingChunkIndices"`
}

// note keeps a piece of the text.
func (g *grounding) note(text string) {
	if g.noted = g.noted || g.texts.Len()+len(text) > maxSpanned; !g.noted {
		g.texts.WriteString(text)
	}
}

// ground keeps what a chunk says about sources.
func (g *grounding) ground(metadata json.RawMessage) {
	if len(metadata) > 0 && metadata[0] == '{' && len(g.named) < maxGrounding {
		g.named = append(g.named, metadata)
	}
}

// cite emits the sources of the answer.
func (a *answer) cite() error {
	for _, raw := range a.named {
		var m groundingMetadata
		if lenient.Object(raw, &m) != nil {
			continue
		}
		sources := make([]spool.Source, min(len(m.Chunks), citation.MaxSources))
		for i := range sources {
			sources[i] = sourceOf(m.Chunks[i])
		}
		a.support(sources, m.Supports)
		for _, s := range sources {
			if err := a.emit(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// sourceOf returns the source of a chunk, or the zero value.
func sourceOf(raw json.RawMessage) spool.Source {
	var c groundingChunk
	if lenient.Object(raw, &c) != nil {
		return spool.Source{}
	}
	switch {
	case c.Web != nil:
		return spool.Source{URL: c.Web.URI, Title: c.Web.Title}
	case c.Maps != nil:
		return spool.Source{URL: c.Maps.URI, Title: c.Maps.Title}
	case c.Retrieved != nil: // its address is one of the provider's store
		return spool.Source{URL: c.Retrieved.URI, Title: cmp.Or(c.Retrieved.Title, path.Base(c.Retrieved.URI))}
	}
	return spool.Source{}
}

// support adds the spans of the text to its sources. The provider counts bytes. Spans whose text is another one are
// those of something else, such as a part of its own.
func (a *answer) support(sources []spool.Source, list []json.RawMessage) {
	if a.noted {
		return
	}
	text := a.texts.String()
	var supports []groundingSupport
	var positions []int
	for _, raw := range list[:min(len(list), maxSupports)] {
		var s groundingSupport
		if lenient.Object(raw, &s) != nil || s.Segment.End.N == nil {
			continue
		}
		from, to := s.bytes()
		if from < 0 || to > len(text) || from >= to || s.Segment.Text != "" && text[from:to] != s.Segment.Text {
			continue
		}
		supports, positions = append(supports, s), append(positions, from, to)
	}
	runes := citation.Runes(text, positions)
	for _, s := range supports {
		from, to := s.bytes()
		start, starts := runes[from]
		end, ends := runes[to]
		if !starts || !ends {
			continue
		}
		for _, i := range s.Chunks {
			if i >= 0 && i < len(sources) {
				sources[i].Spans = append(sources[i].Spans, spool.Span{Start: start, End: end})
			}
		}
	}
}

func (s groundingSupport) bytes() (from, to int) {
	if n := s.Segment.Start.N; n != nil {
		from = int(*n)
	}
	return from, int(*s.Segment.End.N)
}

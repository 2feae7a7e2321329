package aisdk

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
)

// Cited is what the AI SDK has no field for in a source.
type Cited struct {
	Spool CitedBy `json:"spool"` // What this server says of it.
}

// CitedBy says what a source belongs to.
type CitedBy struct {
	// Spans are the pieces of the step's text that it supports, in Unicode code points. Left out: it is not known
	// which.
	Spans []spool.Span `json:"spans,omitempty"`
	// ToolCallID is the call whose result names it. Left out: the model does.
	ToolCallID spool.ToolCallID `json:"toolCallId,omitempty"`
}

// documentType stands for the type of a document, which the AI SDK requires and no provider names.
const documentType = "application/octet-stream"

// source tells the client of a source, unless it knows it. A client that cannot forget a source which the redone step
// does not name has to resume.
func (e *encoder) source(c projection.Cited) {
	id := e.stepID(c.Step) + ":c" + strconv.Itoa(c.N)
	if c.Call != "" {
		id = string(c.Call) + ":c" + strconv.Itoa(c.N)
	}
	if before, sent := e.sources[id]; sent {
		e.cut = e.cut || e.redo != nil && (before.URL != c.URL || before.Title != c.Title ||
			!slices.Equal(before.Spans, c.Spans))
		return
	}
	if e.redo != nil && !e.redo.over() {
		e.cut = true
		return
	}
	if call := e.calls[c.Call]; call != nil && call.hidden { // a nested run has its own
		return
	}
	e.sources[id] = c.Source
	e.dirty = true
	out := Chunk{Type: typeSourceURL, SourceID: id, URL: c.URL, Title: c.Title}
	if c.URL == "" {
		out.Type, out.MediaType = typeSourceDoc, documentType
	}
	if len(c.Spans) > 0 || c.Call != "" {
		out.ProviderMetadata = &Cited{CitedBy{Spans: c.Spans, ToolCallID: c.Call}}
	}
	e.add(out)
}

func (e *encoder) stepID(step int) string { return string(e.run) + ":s" + strconv.Itoa(step) }

// forgetSources forgets the sources of the open step's answer.
func (e *encoder) forgetSources() {
	maps.DeleteFunc(e.sources, func(id string, _ spool.Source) bool {
		return strings.HasPrefix(id, e.stepID(e.step)+":c")
	})
}

// sendSources sends the sources in saved content that belong to a call. An empty call: those that belong to no call.
func (e *encoder) sendSources(content spool.Content, call spool.ToolCallID, step int) {
	n := 0
	for _, p := range content {
		if p.Type == spool.PartSource && p.ToolCallID == call {
			n++
			e.source(projection.Cited{
				Source: spool.Source{URL: p.URL, Title: p.Title, Spans: p.Spans}, Call: call, Run: e.run, Step: step, N: n,
			})
		}
	}
}

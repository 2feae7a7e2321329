package responses

import (
	"maps"
	"strings"
)

// events returns the events of a response in their order, encoded. It has no end for an answer whose stream
// ends with an error.
func (r *response) makeEvents(a Answer) {
	r.event("response.created", fields{"response": r.state("in_progress", nil)})
	if r.background {
		r.event("response.queued", fields{"response": r.state("queued", nil)})
	}
	r.event("response.in_progress", fields{"response": r.state("in_progress", nil)})
	for i, m := range r.items {
		r.itemEvents(i, m)
	}
	switch {
	case a.Error != nil:
		r.event("error", fields{"code": nullable(a.Error.Code), "message": a.Error.Message, "param": nil})
	default:
		r.event("response."+r.final, fields{"response": r.state(r.final, r.items)})
	}
}

func (r *response) event(kind string, f fields) {
	f["type"], f["sequence_number"] = kind, len(r.events)
	done := r.done
	if kind == "response.output_item.done" {
		r.done++
		done = r.done
	}
	r.events = append(r.events, madeEvent{kind, encode(f), done})
}

// madeEvent is an event, and how many items are complete with it.
type madeEvent struct {
	kind string
	data []byte
	done int
}

func (r *response) itemEvents(i int, m *made) {
	begun := maps.Clone(m.wire)
	at := func(f fields) fields {
		f["output_index"], f["item_id"] = i, m.id
		return f
	}
	switch m.kind {
	case "message", "refusal":
		begun["content"], begun["status"] = []any{}, "in_progress"
		r.event("response.output_item.added", fields{"output_index": i, "item": begun})
		r.textEvents(m, at)
	case "function_call":
		begun["arguments"], begun["status"] = "", "in_progress"
		r.event("response.output_item.added", fields{"output_index": i, "item": begun})
		for _, piece := range m.pieces {
			r.event("response.function_call_arguments.delta", at(fields{"delta": piece, "obfuscation": "x7Gh"}))
		}
		r.event("response.function_call_arguments.done", at(fields{"arguments": strings.Join(m.pieces, "")}))
	case "reasoning":
		begun["summary"] = []any{}
		r.event("response.output_item.added", fields{"output_index": i, "item": begun})
		r.reasonEvents(m, at)
	default:
		r.event("response.output_item.added", fields{"output_index": i, "item": begun})
	}
	r.event("response.output_item.done", fields{"output_index": i, "item": m.wire})
}

func (r *response) textEvents(m *made, at func(fields) fields) {
	kind, empty := "output_text", fields{"type": "output_text", "text": "", "annotations": []any{}, "logprobs": []any{}}
	if m.kind == "refusal" {
		kind, empty = "refusal", fields{"type": "refusal", "refusal": ""}
	}
	r.event("response.content_part.added", at(fields{"content_index": 0, "part": empty}))
	for _, piece := range m.pieces {
		f := fields{"content_index": 0, "delta": piece}
		if kind == "output_text" {
			f["logprobs"], f["obfuscation"] = []any{}, "q2"
		}
		r.event("response."+kind+".delta", at(f))
	}
	r.event("response.content_part.done", at(fields{"content_index": 0}))
}

func (r *response) reasonEvents(m *made, at func(fields) fields) {
	for n, pieces := range m.parts {
		r.event("response.reasoning_summary_part.added",
			at(fields{"summary_index": n, "part": fields{"type": "summary_text", "text": ""}}))
		for _, piece := range pieces {
			r.event("response.reasoning_summary_text.delta", at(fields{"summary_index": n, "delta": piece}))
		}
		r.event("response.reasoning_summary_part.done", at(fields{"summary_index": n}))
	}
}

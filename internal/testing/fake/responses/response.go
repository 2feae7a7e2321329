package responses

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
)

// response is an answer that the server made, or is making.
type response struct {
	id, model  string
	background bool
	request    *Request
	items      []*made
	events     []madeEvent
	done       int // while the events are made
	// final is the state in which the response ends.
	final      string
	incomplete string
	failed     *Failure
	usage      *Usage

	mu         sync.Mutex
	more       chan struct{} // closed when there is another event, and made anew
	shown      int           // how many events are made
	cancelled  bool
	windowOver bool
	failing    int
	cuts       []int
}

func (s *Server) begin(request *Request, a Answer) *response {
	r := &response{
		id: s.id("resp"), model: request.Model + "-2026-01-01", background: request.Background(), request: request,
		items: s.make(request, a.Items), final: "completed", incomplete: a.Incomplete, failed: a.Failed, usage: a.Usage,
		more: make(chan struct{}), windowOver: a.StreamOver, failing: a.FailGets, cuts: a.Cuts,
	}
	switch {
	case a.Failed != nil:
		r.final = "failed"
	case a.Incomplete != "":
		r.final = "incomplete"
	}
	r.makeEvents(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts++
	if request.Body["store"] != false {
		s.stored[r.id] = r
		for _, m := range r.items {
			s.known[m.id] = true
		}
	}
	return r
}

// state returns the response as JSON has it, with the given items.
func (r *response) state(status string, items []*made) fields {
	out := make([]any, len(items))
	for i, m := range items {
		out[i] = m.wire
	}
	f := fields{
		"id": r.id, "object": "response", "created_at": 1_790_000_000, "status": status, "background": r.background,
		"error": nil, "incomplete_details": nil, "instructions": r.request.Body["instructions"], "model": r.model,
		"output": out, "parallel_tool_calls": true, "store": r.request.Body["store"] != false,
		"tools": r.request.Body["tools"], "usage": nil,
	}
	switch status {
	case "queued", "in_progress", "cancelled":
		return f
	case "failed":
		f["error"] = fields{"code": r.failed.Code, "message": r.failed.Message}
	case "incomplete":
		f["incomplete_details"] = fields{"reason": r.incomplete}
	}
	if u := r.usage; u != nil {
		f["usage"] = fields{
			"input_tokens": u.Input, "input_tokens_details": fields{
				"cached_tokens": u.Cached, "cache_write_tokens": u.CacheWrite,
			},
			"output_tokens": u.Output, "output_tokens_details": fields{"reasoning_tokens": u.Reasoning},
			"total_tokens": u.Input + u.Output,
		}
	}
	return f
}

// view returns what a client that polls sees.
func (r *response) view(include []string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	status, done := "queued", 0
	switch {
	case r.cancelled:
		status = "cancelled"
	case r.shown == len(r.events):
		status, done = r.final, len(r.items)
	case r.shown > 2:
		status, done = "in_progress", r.events[r.shown-1].done
	}
	f := r.state(status, r.items[:done])
	if !slices.Contains(include, "reasoning.encrypted_content") {
		output, _ := f["output"].([]any)
		for i, item := range output {
			if wire, ok := item.(fields); ok {
				wire = maps.Clone(wire)
				delete(wire, "encrypted_content")
				output[i] = wire
			}
		}
	}
	return encode(f)
}

// generate makes the events of a background response.
func (s *Server) generate(r *response, a Answer) {
	for n := range r.events {
		if a.Hold != nil {
			a.Hold(n)
		}
		r.mu.Lock()
		if r.cancelled {
			r.mu.Unlock()
			return
		}
		r.shown = n + 1
		close(r.more)
		r.more = make(chan struct{})
		r.mu.Unlock()
	}
}

func (r *response) cancel() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.cancelled && r.shown < len(r.events) {
		r.cancelled = true
		close(r.more)
		r.more = make(chan struct{})
	}
}

// Cancelled reports whether a stored response was cancelled.
func (s *Server) Cancelled(id string) bool {
	r := s.find(id)
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cancelled
}

func (r *response) streamOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.windowOver
}

func (r *response) failGets() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failing--
	return r.failing >= 0
}

func (r *response) nextCut() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.cuts) == 0 {
		return 0
	}
	cut := r.cuts[0]
	r.cuts = r.cuts[1:]
	return cut
}

// play streams a response that is not in the background.
func (s *Server) play(w http.ResponseWriter, r *http.Request, resp *response, a Answer) {
	for n, e := range resp.events {
		send(w, e)
		if a.Do != nil && n+1 == a.DoAfter && a.Do(w, r) || interrupt(r, a, n+1) {
			return
		}
	}
}

// interrupt does what the answer does after n events, and reports whether the stream ends with it.
func interrupt(r *http.Request, a Answer, n int) bool {
	switch n {
	case a.CutAfter:
		panic(http.ErrAbortHandler)
	case a.HangAfter:
		<-r.Context().Done()
		a.gone()
		return true
	case a.EndAfter:
		return true
	}
	return r.Context().Err() != nil
}

// tail streams a background response after an event, and on as it goes on.
func (s *Server) tail(w http.ResponseWriter, r *http.Request, resp *response, after, cut int, a Answer) {
	a.CutAfter = cut
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	for n, sent := after+1, 0; ; {
		resp.mu.Lock()
		shown, more, cancelled := resp.shown, resp.more, resp.cancelled
		resp.mu.Unlock()
		for ; n < shown; n++ {
			send(w, resp.events[n])
			sent++
			if interrupt(r, a, sent) {
				return
			}
		}
		if shown == len(resp.events) || cancelled {
			return
		}
		select {
		case <-more:
		case <-r.Context().Done():
			a.gone()
			return
		}
	}
}

func send(w http.ResponseWriter, e madeEvent) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.kind, e.data)
	_ = http.NewResponseController(w).Flush()
}

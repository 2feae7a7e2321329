//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// strictProvider is a model provider that allows so many requests in any 60 seconds and refuses each further one
// with 429. It is an OpenAI-compatible server.
type strictProvider struct {
	rpm int

	mu sync.Mutex
	// arrived are the times of all requests, in order. Refused ones count, too.
	arrived []time.Time
	refused int
	// by counts the requests of each worker, most the requests of the fullest minute so far.
	by   map[string]int
	most int
}

// workerHeader names the worker that sends a request.
const workerHeader = "X-Worker"

// take counts a request, and reports whether it is allowed.
func (p *strictProvider) take(worker string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.arrived = append(p.arrived, now)
	p.by[worker]++
	within := len(p.arrived) - p.before(now.Add(-time.Minute))
	p.most = max(p.most, within)
	if within > p.rpm {
		p.refused++
		return false
	}
	return true
}

// before returns how many requests arrived before a time. The caller must hold mu.
func (p *strictProvider) before(at time.Time) int {
	n, _ := slices.BinarySearchFunc(p.arrived, at, time.Time.Compare)
	return n
}

// between returns how many requests arrived between two times.
func (p *strictProvider) between(from, to time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.before(to) - p.before(from)
}

// totals returns how many requests were refused, the most in any minute, and how many workers have sent some.
func (p *strictProvider) totals() (refused, most, workers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused, p.most, len(p.by)
}

// ServeHTTP answers POST /v1/chat/completions with a short text, after up to three seconds.
func (p *strictProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.take(r.Header.Get(workerHeader)) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"error":{"message":"too many requests","code":"rate_limit_exceeded"}}`, http.StatusTooManyRequests)
		return
	}
	if !sleep(r.Context(), time.Duration(rand.Float64()*float64(3*time.Second))) {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, chunk := range []map[string]any{
		chunkOf(map[string]any{"content": "Yes."}, nil),
		chunkOf(map[string]any{}, "stop"),
		{"choices": []any{}, "usage": map[string]any{"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}},
	} {
		if writeChunk(w, chunk) != nil {
			return
		}
	}
	_, _ = fmt.Fprint(w, endOfChunks)
}

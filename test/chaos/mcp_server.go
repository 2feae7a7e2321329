//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	fake "github.com/spoolhq/spool/internal/testing/fake/mcp"
)

// mcpServer is a strict MCP server that misbehaves as a seed wants. It survives its restarts with its tasks.
type mcpServer struct {
	fake   *fake.Server
	tools  *toolList
	ledger *ledger
	seed   uint64
	secret string
	broken string
	// calls are the open requests of calls, and looks those about tasks.
	calls, looks *openRequests
	// others counts the requests that are no calls.
	others atomic.Int64
	// troubles counts what the server did to requests.
	troubles counters
	planted  planted
}

func newMCPServer(o options, secret string) *mcpServer {
	s := &mcpServer{
		tools: newToolList(), ledger: &ledger{calls: make(map[string]*called)}, seed: o.Seed, secret: secret, broken: o.Break,
		calls: newOpen(), looks: newOpen(),
	}
	s.fake = &fake.Server{List: s.tools.list, Answer: s.answer}
	return s
}

// mcpRequest is the part of a request that decides what happens to it.
type mcpRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
		Task string          `json:"taskId"`
		Meta struct {
			Key string `json:"io.github.spoolhq/idempotencyKey"` //nolint:tagliatelle // the protocol names it
		} `json:"_meta"` //nolint:tagliatelle // the protocol names it
	} `json:"params"`

	process string
	header  http.Header
	body    []byte
	// asked is the task that the client has named, if a planted defect has put another one in its place.
	asked string
}

// What the server does to a request, besides nothing.
const (
	cutBefore   = "cut before the effect"
	cutAfter    = "cut after the effect"
	tornStream  = "a stream that broke after the effect"
	busyBefore  = "503 before the effect"
	busyAfter   = "503 after the effect"
	hangsBefore = "hung before the effect"
	hangsAfter  = "hung after the effect"
)

// callTroubles are what happens to so many of 1,000 requests of calls.
var callTroubles = []struct {
	what string
	of   int
}{
	{cutBefore, 40},
	{cutAfter, 40},
	{tornStream, 40},
	{busyBefore, 20},
	{busyAfter, 20},
	{hangsBefore, 6},
	{hangsAfter, 6},
}

// trouble returns what happens to a request. That to a call depends on nothing but the seed, the call and how often it
// was sent.
func (s *mcpServer) trouble(q mcpRequest) string {
	if q.Method == "tools/call" {
		key := q.Params.Meta.Key
		at := s.random(fmt.Sprintf("%s %d", key[:max(0, strings.LastIndex(key, "/"))], s.ledger.tries(key))).IntN(1000)
		for _, t := range callTroubles {
			if at -= t.of; at < 0 {
				return t.what
			}
		}
		return ""
	}
	switch s.random(fmt.Sprintf("%s %d", q.Method, s.others.Add(1))).IntN(40) {
	case 0, 1:
		return cutBefore
	case 2, 3:
		return cutAfter
	case 4:
		return busyBefore
	default:
		return ""
	}
}

func (s *mcpServer) random(what string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(what))
	return rand.New(rand.NewPCG(s.seed, h.Sum64()))
}

// ServeHTTP implements [http.Handler].
func (s *mcpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet { // as long as a client takes this for a server of an older revision
		w.WriteHeader(http.StatusMethodNotAllowed) // it has no stream of its own
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	q := mcpRequest{process: r.Header.Get(processHeader), header: r.Header, body: body}
	if err := json.Unmarshal(body, &q); err != nil {
		s.ledger.complainf("the body %q", body)
	}
	if r.Header.Get("X-Key") != s.secret {
		s.ledger.complainf("a request of %s without the configured header", q.process)
	}
	if older(w, q) {
		return
	}
	q = s.spoil(r.Context(), q)
	trouble, response := s.exchange(r.Context(), q)
	for range 2 {
		if trouble == "" || s.broken != "retry" || q.Method != "tools/call" {
			break
		}
		trouble, response = s.exchange(r.Context(), q)
	}
	if trouble != "" {
		s.troubles.add(trouble, 1)
	}
	if q.asked != "" && response != nil {
		response.Body = bytes.NewBuffer(bytes.ReplaceAll(response.Body.Bytes(), []byte(q.Params.Task), []byte(q.asked)))
	}
	stream := s.random(q.Params.Meta.Key+q.Method).IntN(2) == 0
	switch {
	case trouble == busyBefore, trouble == busyAfter:
		http.Error(w, "busy", http.StatusServiceUnavailable)
	case trouble == tornStream:
		tear(w, response.Body.Bytes())
	case trouble != "":
		panic(http.ErrAbortHandler)
	case stream && response.Code == http.StatusOK:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, ": a comment\n\ndata: %s\n\n", response.Body)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(response.Code)
		_, _ = w.Write(response.Body.Bytes()) // the client may have gone
	}
}

// older answers what a client says to a server of an older revision. The client must then not use it.
func older(w http.ResponseWriter, q mcpRequest) bool {
	switch {
	case q.Method == "initialize":
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w,
			`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"works","version":"1"}}}`, q.ID)
	case strings.HasPrefix(q.Method, "notifications/"):
		w.WriteHeader(http.StatusAccepted)
	default:
		return false
	}
	return true
}

// tear sends the first half of an answer as a stream that breaks.
func tear(w http.ResponseWriter, answer []byte) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, ": a comment\n\ndata: %s", answer[:len(answer)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// work is how long the server takes for a request before its effect, and again after it, at most.
const work = 150 * time.Millisecond

// exchange executes a request, and returns what happens to its answer.
func (s *mcpServer) exchange(ctx context.Context, q mcpRequest) (trouble string, response *httptest.ResponseRecorder) {
	random := s.random(fmt.Sprint(q.Params.Meta.Key, q.Method, s.others.Load()))
	if q.Method == "tools/call" {
		key := q.Params.Meta.Key
		run, _, _ := strings.Cut(key, "/")
		defer s.calls.hold(q.process, run)()
		a := s.ledger.arrived(q.process, key, q.Params.Name, q.Params.Args)
		defer func() { s.ledger.ended(a, trouble, ctx.Err() != nil) }()
	}
	if strings.HasPrefix(q.Method, "tasks/") {
		defer s.looks.hold(q.process, q.Params.Task)()
	}
	trouble = s.trouble(q)
	sleep(ctx, time.Duration(random.Float64()*float64(work)))
	switch trouble {
	case cutBefore, busyBefore:
		return trouble, nil
	case hangsBefore:
		<-ctx.Done()
		return trouble, nil
	}
	if q.Method == "tasks/get" {
		s.goOn(q.Params.Task)
	}
	response = httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", bytes.NewReader(q.body))
	r.Header = q.header
	s.fake.ServeHTTP(response, r)
	sleep(ctx, time.Duration(random.Float64()*float64(work)))
	if trouble == hangsAfter {
		<-ctx.Done()
	}
	return trouble, response
}

package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/model/openai"
)

// peer is a server that plays a script to each request.
type peer struct {
	*httptest.Server

	gone chan struct{}

	mu      sync.Mutex
	bodies  []string
	headers []http.Header
}

// newPeer starts a server. The script gets the body of the request.
func newPeer(t *testing.T, script func(w http.ResponseWriter, r *http.Request, body string)) *peer {
	t.Helper()

	p := &peer{gone: make(chan struct{})}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.bodies = append(p.bodies, string(body))
		p.headers = append(p.headers, r.Header.Clone())
		p.mu.Unlock()
		script(w, r, string(body))
	}))
	// Who waits for what the script never sends has an end.
	limit := time.AfterFunc(2*testwait.Limit, func() {
		t.Errorf("a model server was used for %s", 2*testwait.Limit)
		p.CloseClientConnections()
	})
	t.Cleanup(func() { limit.Stop() })
	t.Cleanup(p.Close)
	return p
}

func (p *peer) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.bodies)
}

func (p *peer) hang(r *http.Request) {
	<-r.Context().Done()
	close(p.gone)
}

// model returns a model of the peer.
func (p *peer) model(t *testing.T, config openai.Config) *openai.Model {
	t.Helper()

	config.BaseURL = p.URL + "/v1"
	if config.Model == "" {
		config.Model = "test-model"
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	config.Transport = transport
	m, err := openai.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// send writes chunks as events, each at once.
func send(w http.ResponseWriter, chunks ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range chunks {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", c)
		_ = http.NewResponseController(w).Flush()
	}
}

func deltaChunk(delta string) string {
	return `{"id":"c1","object":"chat.completion.chunk","model":"test-model-1","choices":[{"index":0,"delta":` + delta +
		`,"finish_reason":null}]}`
}

func textChunk(text string) string { return deltaChunk(`{"content":"` + text + `"}`) }

func finishChunk(reason string) string {
	return `{"model":"test-model-1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func usageChunk(usage string) string {
	return `{"model":"test-model-1","choices":[],"usage":` + usage + `}`
}

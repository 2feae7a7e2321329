package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testwait"
	"github.com/spoolhq/spool/model/openai"
	"github.com/spoolhq/spool/spooltest"
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
	return `{"id":"c1","object":"chat.completion.chunk","model":"test-model-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

func textChunk(text string) string { return deltaChunk(`{"content":"` + text + `"}`) }

func finishChunk(reason string) string {
	return `{"model":"test-model-1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func usageChunk(usage string) string {
	return `{"model":"test-model-1","choices":[],"usage":` + usage + `}`
}

// play answers in the manner of OpenAI, or of OpenRouter where OpenAI has no word for it.
func (p *peer) play(scenario spooltest.ModelScenario) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, r *http.Request, body string) {
		switch scenario {
		case spooltest.ModelText:
			send(w, deltaChunk(`{"role":"assistant","content":""}`), textChunk("Hello"), textChunk(", world."),
				finishChunk("stop"), usageChunk(`{"prompt_tokens":12,"completion_tokens":4}`), "[DONE]")
		case spooltest.ModelParallelTools:
			p.playTools(w, body)
		case spooltest.ModelReasoning:
			send(w,
				deltaChunk(`{"reasoning":"Thinking ","reasoning_details":[{"type":"reasoning.text","index":0,"text":"Thinking "}]}`),
				deltaChunk(`{"reasoning":"hard.","reasoning_details":[{"type":"reasoning.text","index":0,"text":"hard."}]}`),
				deltaChunk(`{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"sig-4711"}]}`),
				textChunk("Forty"), textChunk("-two."), finishChunk("stop"), "[DONE]")
		case spooltest.ModelImage:
			send(w, textChunk("A "), textChunk("cat."), finishChunk("stop"), "[DONE]")
		case spooltest.ModelCachedUsage:
			send(w, textChunk("Hi."), finishChunk("stop"), usageChunk(
				`{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":8}}`),
				"[DONE]")
		case spooltest.ModelNoUsage:
			send(w, textChunk("Hi."), finishChunk("stop"), "[DONE]")
		case spooltest.ModelLength:
			send(w, textChunk("Too "), textChunk("lo"), finishChunk("length"), "[DONE]")
		default:
			p.playFailure(scenario, w, r)
		}
	}
}

func (p *peer) playTools(w http.ResponseWriter, body string) {
	if strings.Contains(body, `"role":"tool"`) {
		send(w, textChunk("Done."), finishChunk("stop"), "[DONE]")
		return
	}
	send(w, textChunk("Looking."),
		deltaChunk(`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"weather","arguments":""}}]}`),
		deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]}`),
		deltaChunk(`{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"clock","arguments":""}}]}`),
		deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\"Oslo\"}"}},{"index":1,"function":{"arguments":"{\"zone\":\"UTC\"}"}}]}`),
		finishChunk("tool_calls"), "[DONE]")
}

func (p *peer) playFailure(scenario spooltest.ModelScenario, w http.ResponseWriter, r *http.Request) {
	switch scenario {
	case spooltest.ModelRateLimited:
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`)
	case spooltest.ModelUnavailable:
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "<html>overloaded</html>")
	case spooltest.ModelUnauthorized:
		w.WriteHeader(http.StatusUnauthorized)
		message := "wrong key: " + r.Header.Get("Authorization") + strings.Repeat(" and more", 2000)
		_, _ = io.WriteString(w, `{"error":{"message":"`+message+`","code":"invalid_api_key"}}`)
	case spooltest.ModelStreamError:
		send(w, textChunk("Half"), `{"error":{"message":"upstream overloaded","type":"server_error","code":502}}`)
	case spooltest.ModelCut:
		send(w, textChunk("Half"))
		panic(http.ErrAbortHandler)
	case spooltest.ModelNoFinish:
		send(w, textChunk("Half"), "[DONE]")
	case spooltest.ModelHangAtOnce:
		p.hang(r)
	default:
		send(w, textChunk("Half"))
		p.hang(r)
	}
}

func TestModel(t *testing.T) { //nolint:paralleltest // the suite is
	spooltest.TestModel(t, func(t *testing.T, scenario spooltest.ModelScenario) spooltest.ModelPeer {
		t.Helper()

		var p *peer
		p = newPeer(t, func(w http.ResponseWriter, r *http.Request, body string) { p.play(scenario)(w, r, body) })
		config := openai.Config{APIKey: spooltest.ModelSecret}
		if scenario == spooltest.ModelIdle {
			config.IdleTimeout = 50 * time.Millisecond
		}
		return spooltest.ModelPeer{Model: p.model(t, config), Requests: p.requests, Gone: p.gone}
	}, spooltest.ModelFeatures{CachedUsage: true, Images: true, SignedReasoning: true})
}

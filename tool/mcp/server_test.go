package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/tool/mcp"
)

// asChild is the variable with which the test binary is a server over stdio.
const asChild = "SPOOL_TEST_MCP_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		p := newPeer()
		library(p)
		p.add("pid", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
			return said(strconv.Itoa(os.Getpid())), nil
		})
		p.add("huge", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
			return said(strings.Repeat("a", 9<<20)), nil
		})
		p.add("odd", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{video{}, &sdk.TextContent{Text: "a text"}}}, nil
		})
		if err := p.server.Run(context.Background(), &sdk.StdioTransport{}); err != nil && !errors.Is(err, context.Canceled) {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// peer is a real MCP server.
type peer struct {
	server *sdk.Server

	mu     sync.Mutex
	calls  map[string]int // how often each tool took effect
	metas  []string       // the idempotency keys
	fences []float64
	lists  int
	posts  int
	ttl    int
	auth   []string

	begun     chan struct{} // has the slow calls that have begun
	release   chan struct{} // ends slow calls
	withdrawn chan struct{} // has the questions that nobody has answered
}

type text struct {
	Text string `json:"text" jsonschema:"what to say"`
}

func newPeer() *peer {
	p := &peer{
		calls: make(map[string]int), begun: make(chan struct{}, 100), release: make(chan struct{}),
		withdrawn: make(chan struct{}, 100),
	}
	p.server = sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "1"}, nil)
	p.server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			result, err := next(ctx, method, r)
			if list, ok := result.(*sdk.ListToolsResult); ok {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.lists++
				list.TTLMs = p.ttl
			}
			return result, err
		}
	})
	p.add("echo", nil, func(_ context.Context, r *sdk.CallToolRequest, in text) (*sdk.CallToolResult, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		key, _ := r.Params.Meta[mcp.KeyMeta].(string)
		p.metas = append(p.metas, key)
		fence, _ := r.Params.Meta[mcp.FenceMeta].(float64)
		p.fences = append(p.fences, fence)
		return said(in.Text), nil
	})
	p.add("fail", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{
			IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no such order; the key is Bearer sesame-street"}},
		}, nil
	})
	p.add("data", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{
			StructuredContent: map[string]any{"sum": 7},
			Content:           []sdk.Content{&sdk.TextContent{Text: `{"sum":7}`}},
		}, nil
	})
	p.add("picture", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "here"}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("12345")},
			&sdk.ResourceLink{URI: "file:///a", Name: "a"},
		}}, nil
	})
	p.add("large", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
		return said(strings.Repeat("ä\"", 100_000)), nil
	})
	yes := true
	p.add("drop.table", &sdk.ToolAnnotations{DestructiveHint: &yes}, func(
		context.Context, *sdk.CallToolRequest, text,
	) (*sdk.CallToolResult, error) {
		return said("dropped"), nil
	})
	p.add("slow", &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}, func(
		ctx context.Context, _ *sdk.CallToolRequest, _ text,
	) (*sdk.CallToolResult, error) {
		p.begun <- struct{}{}
		select {
		case <-ctx.Done():
		case <-p.release:
		}
		return nil, errors.New("too late")
	})
	p.add("cut", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
		return said("uncut"), nil
	})
	p.add("refund", nil, p.refund)
	p.add("ask", nil, p.ask)
	p.add("many", nil, p.many)
	p.add("pay", nil, p.pay)
	p.add("busy", nil, func(_ context.Context, r *sdk.CallToolRequest, _ text) (*sdk.CallToolResult, error) {
		if r.Params.RequestState == "again" {
			return said("free"), nil
		}
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{}, RequestState: "again"}, nil
	})
	return p
}

// video is a part of a type that nobody knows.
type video struct{ *sdk.TextContent }

// MarshalJSON implements [json.Marshaler].
func (video) MarshalJSON() ([]byte, error) { return []byte(`{"type":"video"}`), nil }

func said(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

func (p *peer) add(
	name string, hints *sdk.ToolAnnotations,
	handle func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error),
) {
	sdk.AddTool(p.server, &sdk.Tool{Name: name, Description: "The tool " + name + ".", Annotations: hints},
		func(ctx context.Context, r *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
			result, err := handle(ctx, r, in)
			if err == nil && !result.IsError && result.InputRequests == nil {
				p.count(name)
			}
			return result, nil, err
		})
}

func (p *peer) count(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[name]++
}

func (p *peer) counted(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[name]
}

// refund asks twice: for a reason, and then whether it is really meant.
func (p *peer) refund(_ context.Context, r *sdk.CallToolRequest, _ text) (*sdk.CallToolResult, error) {
	ask := func(field, kind, state string) *sdk.CallToolResult {
		return &sdk.CallToolResult{RequestState: state, InputRequests: sdk.InputRequestMap{"q": &sdk.ElicitParams{
			Mode: "form", Message: "Which " + field + "?",
			RequestedSchema: map[string]any{
				"type":       "object",
				"properties": map[string]any{field: map[string]any{"type": kind}},
				"required":   []string{field},
			},
		}}}
	}
	answer, _ := r.Params.InputResponses["q"].(*sdk.ElicitResult)
	switch {
	case answer == nil:
		return ask("reason", "string", "first"), nil
	case answer.Action != "accept":
		return said("nothing refunded: " + answer.Action), nil
	case r.Params.RequestState == "first":
		reason, _ := answer.Content["reason"].(string)
		return ask("amount", "integer", "second:"+reason), nil
	default:
		reason, _ := strings.CutPrefix(r.Params.RequestState, "second:")
		return said(fmt.Sprintf("refunded %v because of %s", answer.Content["amount"], reason)), nil
	}
}

// ask asks in the middle of a call, as older revisions do, for each word. A word with a slash is asked for on the
// server's own stream.
func (p *peer) ask(ctx context.Context, r *sdk.CallToolRequest, in text) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-ctx.Done():
		case <-p.release: // the connection may be gone, and nobody says so
			cancel()
		}
	}()
	var got []string
	for word := range strings.SplitSeq(in.Text, " ") {
		at := ctx
		if strings.HasPrefix(word, "/") {
			at = own{ctx, context.Background()}
		}
		answer, err := r.Session.Elicit(at, &sdk.ElicitParams{Message: "Which " + word + "?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{word: map[string]any{"type": "string"}}, "required": []string{word},
		}})
		if err != nil {
			p.withdrawn <- struct{}{}
			return nil, err
		}
		value, _ := answer.Content[word].(string)
		if got = append(got, answer.Action+" "+value); value == "slow" {
			<-p.release
		}
	}
	return said(strings.Join(got, ", ")), nil
}

// own is a context without the values by which the SDK finds the stream of a call.
type own struct {
	context.Context
	values context.Context
}

func (o own) Value(key any) any { return o.values.Value(key) }

// many asks two questions at once.
func (p *peer) many(_ context.Context, r *sdk.CallToolRequest, _ text) (*sdk.CallToolResult, error) {
	if len(r.Params.InputResponses) == 0 {
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{
			"b": &sdk.ElicitParams{Mode: "url", Message: "Log in", URL: "https://bank.example.com/login", ElicitationID: "e1"},
			"a": &sdk.ElicitParams{Mode: "form", Message: "Name?", RequestedSchema: map[string]any{
				"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}},
				"required": []string{"name"},
			}},
		}}, nil
	}
	a, okA := r.Params.InputResponses["a"].(*sdk.ElicitResult)
	b, okB := r.Params.InputResponses["b"].(*sdk.ElicitResult)
	if !okA || !okB {
		return nil, errors.New("an answer is missing")
	}
	return said(fmt.Sprintf("%s %v %s", a.Action, a.Content["name"], b.Action)), nil
}

// pay sends a person to a URL.
func (p *peer) pay(_ context.Context, r *sdk.CallToolRequest, in text) (*sdk.CallToolResult, error) {
	if answer, ok := r.Params.InputResponses["u"].(*sdk.ElicitResult); ok {
		return said(answer.Action), nil
	}
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{
		"u": &sdk.ElicitParams{Mode: "url", Message: "Pay", URL: in.Text, ElicitationID: "e1"},
	}}, nil
}

// serve serves the peer over HTTP. A call of the tool cut takes effect, and then its connection breaks.
func (p *peer) serve(t *testing.T, o *sdk.StreamableHTTPOptions) *httptest.Server {
	t.Helper()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return p.server }, o)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.posts++
		p.auth = append(p.auth, r.Header.Get("Authorization"))
		p.mu.Unlock()
		if r.Header.Get("Mcp-Name") == "cut" {
			p.count("cut")
			if p.counted("cut") < 3 {
				panic(http.ErrAbortHandler)
			}
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(p.release) })
	return s
}

// must returns the value of a call that cannot fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

var stateless = &sdk.StreamableHTTPOptions{Stateless: true}

// client returns a client of a server at a URL.
func client(t *testing.T, url string, change ...func(*mcp.Config)) *mcp.Server {
	t.Helper()
	config := mcp.Config{Name: "shop", URL: url, Egress: egress.Policy{AllowPrivate: true}, Timeout: time.Minute}
	for _, fn := range change {
		fn(&config)
	}
	s, err := mcp.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// tools returns the tools of a server by the server's names.
func tools(t *testing.T, s *mcp.Server, selection mcp.Selection) map[string]spool.Tool {
	t.Helper()
	source, err := s.Tools(selection)
	if err != nil {
		t.Fatal(err)
	}
	list, err := source.List(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	made, err := source.Tools(list)
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]spool.Tool)
	for _, tool := range made {
		byName[strings.TrimPrefix(tool.Name, "shop__")] = tool
	}
	return byName
}

func call(t *testing.T, tool spool.Tool, args string, change ...func(*spool.ToolCall)) (string, error) {
	t.Helper()
	c := spool.ToolCall{RunID: "r1", Step: 1, ID: "c1", Name: tool.Name, Args: json.RawMessage(args)}
	for _, fn := range change {
		fn(&c)
	}
	result, err := tool.Call(t.Context(), c)
	return string(result), err
}

// A server of the present revision, which also speaks older ones, is away when it is asked for its revision. It
// counts as unreachable, and not as an older server, whose calls cannot ask.
func TestDiscoverBreaks(t *testing.T) {
	t.Parallel()

	for name, fail := range map[string]func(http.ResponseWriter){
		"Cut":     func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"Gateway": func(w http.ResponseWriter) { http.Error(w, "away", http.StatusBadGateway) },
		"Busy":    func(w http.ResponseWriter) { http.Error(w, "busy", http.StatusServiceUnavailable) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPeer()
			handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return p.server }, stateless)
			var asked atomic.Int64
			at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Mcp-Method") == "server/discover" && asked.Add(1) == 1 {
					fail(w)
					return
				}
				handler.ServeHTTP(w, r)
			}))
			t.Cleanup(at.Close)
			s := client(t, at.URL)
			if _, err := s.List(t.Context()); spool.CodeOf(err) != spool.Unavailable {
				t.Errorf("the first list: %v", err)
			}
			_, err := call(t, tools(t, s, mcp.Selection{})["refund"], `{"text":""}`)
			if _, asks := errors.AsType[*spool.ParkRequest](err); !asks || asked.Load() != 2 {
				t.Errorf("the call came to %v, and the server was asked %d times", err, asked.Load())
			}
		})
	}
}

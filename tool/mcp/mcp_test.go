package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/tool/mcp"
)

// TestTransports calls a tool over each transport and with each kind of server.
func TestTransports(t *testing.T) {
	t.Parallel()

	for name, open := range map[string]func(t *testing.T) *mcp.Server{
		"stateless": func(t *testing.T) *mcp.Server { t.Helper(); return client(t, newPeer().serve(t, stateless).URL) },
		"stateless JSON": func(t *testing.T) *mcp.Server {
			t.Helper()
			return client(t, newPeer().serve(t, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}).URL)
		},
		"sessions": func(t *testing.T) *mcp.Server { t.Helper(); return client(t, newPeer().serve(t, nil).URL) },
		"stdio":    func(t *testing.T) *mcp.Server { t.Helper(); return child(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := open(t)
			all := tools(t, s, mcp.Selection{})
			for range 2 {
				if got, err := call(t, all["echo"], `{"text":"hello"}`); err != nil || got != `"hello"` {
					t.Fatalf("got %s, %v", got, err)
				}
			}
			_, err := call(t, all["fail"], `{"text":""}`)
			if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), "no such order") {
				t.Errorf("a failure: %v", err)
			}
			if got, err := call(t, all["data"], `{"text":""}`); err != nil || got != `{"sum":7}` {
				t.Errorf("structured content: %s, %v", got, err)
			}
			want := `[{"type":"text","text":"here"},{"type":"image","mimeType":"image/png","omittedBytes":5},{"type":"resource_link","uri":"file:///a","name":"a"}]`
			if got, err := call(t, all["picture"], `{"text":""}`); err != nil || got != want {
				t.Errorf("parts: %s, %v", got, err)
			}
		})
	}
}

// child returns a client of a child process.
func child(t *testing.T, change ...func(*mcp.Config)) *mcp.Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := mcp.Config{Name: "shop", Command: []string{program}, Env: map[string]string{asChild: "1"}}
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

func TestQuestions(t *testing.T) {
	t.Parallel()

	p := newPeer()
	url := p.serve(t, stateless).URL
	first := tools(t, client(t, url), mcp.Selection{})
	second := tools(t, client(t, url), mcp.Selection{}) // as another process would see it
	parked := func(t *testing.T, err error) *spool.ParkRequest {
		t.Helper()
		park, ok := errors.AsType[*spool.ParkRequest](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		return park
	}
	answer := func(park *spool.ParkRequest, approved bool, payload string) func(*spool.ToolCall) {
		return func(c *spool.ToolCall) {
			c.Resume, c.Answer = park.Resume, &spool.Answer{Approved: approved}
			if payload != "" {
				c.Answer.Payload = json.RawMessage(payload)
			}
		}
	}
	shown := func(park *spool.ParkRequest) string {
		b, err := json.Marshal(park.Payload)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}

	t.Run("Twice", func(t *testing.T) {
		t.Parallel()

		_, err := call(t, first["refund"], `{"text":""}`)
		park := parked(t, err)
		if got := shown(park); got != `{"server":"shop","tool":"refund","mode":"form","message":"Which reason?"}` ||
			park.Reason != mcp.ParkElicitation {
			t.Errorf("shown: %s", got)
		}
		if !strings.Contains(string(park.Schema), `"reason"`) || strings.Contains(shown(park), "first") {
			t.Errorf("the schema is %s", park.Schema)
		}
		_, err = call(t, second["refund"], `{"text":""}`, answer(park, true, `{"reason":7}`))
		if spool.CodeOf(err) != spool.Invalid {
			t.Errorf("a wrong answer: %v", err)
		}
		_, err = call(t, second["refund"], `{"text":""}`, answer(park, true, `{"reason":"rain"}`))
		park = parked(t, err)
		if got, err := call(t, first["refund"], `{"text":""}`, answer(park, true, `{"amount":5}`)); err != nil ||
			got != `"refunded 5 because of rain"` {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("Declined", func(t *testing.T) {
		t.Parallel()

		_, err := call(t, first["refund"], `{"text":""}`)
		park := parked(t, err)
		if got, err := call(t, second["refund"], `{"text":""}`, answer(park, false, "")); err != nil ||
			got != `"nothing refunded: decline"` {
			t.Errorf("got %s, %v", got, err)
		}
		expired := func(c *spool.ToolCall) { c.Resume = park.Resume }
		if got, err := call(t, second["refund"], `{"text":""}`, expired); err != nil || got != `"nothing refunded: cancel"` {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("Several", func(t *testing.T) {
		t.Parallel()

		_, err := call(t, first["many"], `{"text":""}`)
		park := parked(t, err)
		want := `"questions":{"a":{"mode":"form","message":"Name?"},"b":{"mode":"url","message":"Log in","url":"https://bank.example.com/login"}}`
		if got := shown(park); !strings.Contains(got, want) {
			t.Errorf("shown: %s", got)
		}
		if got, err := call(t, second["many"], `{"text":""}`, answer(park, true, `{"a":{"name":"ann"}}`)); err != nil ||
			got != `"accept ann accept"` {
			t.Errorf("got %s, %v", got, err)
		}
		if _, err := call(t, second["many"], `{"text":""}`, answer(park, true, `{}`)); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("without a form: %v", err)
		}
	})
	t.Run("URL", func(t *testing.T) {
		t.Parallel()

		_, err := call(t, first["pay"], `{"text":"https://pay.example.com/1"}`)
		park := parked(t, err)
		if got := shown(park); park.Schema != nil || !strings.Contains(got, `"url":"https://pay.example.com/1"`) {
			t.Errorf("shown: %s, %s", got, park.Schema)
		}
		if got, err := call(t, second["pay"], `{"text":"https://pay.example.com/1"}`, answer(park, true, "")); err != nil ||
			got != `"accept"` {
			t.Errorf("got %s, %v", got, err)
		}
		if _, err := call(t, first["pay"], `{"text":"javascript:alert(1)"}`); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("a bad URL: %v", err)
		}
	})
	t.Run("Busy", func(t *testing.T) {
		t.Parallel()

		if got, err := call(t, first["busy"], `{"text":""}`); err != nil || got != `"free"` {
			t.Errorf("got %s, %v", got, err)
		}
	})
}

// TestBroken breaks the connection in a call that has taken effect.
func TestBroken(t *testing.T) {
	t.Parallel()

	p := newPeer()
	s := client(t, p.serve(t, stateless).URL)
	_, err := call(t, tools(t, s, mcp.Selection{})["cut"], `{"text":""}`)
	unknown, ok := errors.AsType[*spool.OutcomeUnknownError](err)
	if !ok || p.counted("cut") != 1 || !strings.Contains(spool.MessageOf(unknown.Err), "broke before the answer") {
		t.Fatalf("got %v after %d effects", err, p.counted("cut"))
	}
	if got, err := call(t, tools(t, s, mcp.Selection{})["echo"], `{"text":"on"}`); err != nil || got != `"on"` {
		t.Errorf("the next call: %s, %v", got, err)
	}
	// The operator allows repeats: the second call breaks too, and the third one has a result.
	if got, err := call(t, tools(t, s, mcp.Selection{Idempotent: []string{"cut"}})["cut"], `{"text":""}`); err != nil ||
		got != `"uncut"` {
		t.Errorf("an idempotent call: %s, %v", got, err)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()

	p := newPeer()
	listener := p.serve(t, stateless).Listener
	// Long enough for a busy machine to send the request.
	s := client(t, "http://"+listener.Addr().String(), func(c *mcp.Config) { c.Timeout = 3 * time.Second })
	slow := tools(t, s, mcp.Selection{})["slow"]
	go func() { // the server is told that the call is over, and that it can't be told does not unsay that it has the call
		<-p.begun
		_ = listener.Close()
	}()
	_, err := call(t, slow, `{"text":""}`)
	if _, ok := errors.AsType[*spool.OutcomeUnknownError](err); !ok || !strings.Contains(err.Error(), "3s") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := slow.Call(ctx, spool.ToolCall{Args: json.RawMessage(`{"text":""}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped run: %v", err)
	}
}

// TestDown calls a server that is not there: nothing happened, so it is an error and no question.
func TestDown(t *testing.T) {
	t.Parallel()

	p := newPeer()
	at := p.serve(t, stateless)
	list, err := json.Marshal(must(client(t, at.URL).List(t.Context())))
	if err != nil {
		t.Fatal(err)
	}
	at.Close()
	s := client(t, at.URL) // one that has no connection yet: a request over an old one may have arrived
	made := must(must(s.Tools(mcp.Selection{Allow: []string{"echo"}})).Tools(list))
	_, err = call(t, made[0], `{"text":""}`)
	if _, unknown := errors.AsType[*spool.OutcomeUnknownError](err); unknown || spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("got %v", err)
	}
	if _, err := s.List(t.Context()); spool.CodeOf(err) != spool.Unavailable ||
		spool.MessageOf(err) != "MCP server shop cannot be reached" {
		t.Errorf("a list: %v", err)
	}
	optional := client(t, at.URL, func(c *mcp.Config) { c.Optional = true })
	if all := tools(t, optional, mcp.Selection{}); len(all) != 0 {
		t.Errorf("an optional server has %d tools", len(all))
	}
	// A child that dies is started again.
	c := child(t)
	all := tools(t, c, mcp.Selection{})
	if got, err := call(t, all["echo"], `{"text":"a"}`); err != nil || got != `"a"` {
		t.Errorf("got %s, %v", got, err)
	}
	missing, err := mcp.New(mcp.Config{Name: "shop", Command: []string{"/does/not/exist"}})
	if err != nil {
		t.Fatal(err)
	}
	defer missing.Close()
	if _, err := missing.List(t.Context()); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("a missing program: %v", err)
	}
}

// TestStatus answers calls with statuses that are no JSON-RPC messages.
func TestStatus(t *testing.T) {
	t.Parallel()

	p := newPeer()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return p.server }, stateless)
	for status, unknown := range map[int]bool{
		http.StatusForbidden: false, http.StatusTooManyRequests: false, http.StatusBadGateway: true,
	} {
		at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Mcp-Method") == "tools/call" {
				http.Error(w, "a page", status)
				return
			}
			handler.ServeHTTP(w, r)
		}))
		t.Cleanup(at.Close)
		_, err := call(t, tools(t, client(t, at.URL), mcp.Selection{})["echo"], `{"text":""}`)
		if _, got := errors.AsType[*spool.OutcomeUnknownError](err); err == nil || got != unknown {
			t.Errorf("status %d: %v", status, err)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()

	p := newPeer()
	url := p.serve(t, stateless).URL
	s := client(t, url)
	list, err := s.List(t.Context())
	if err != nil || !slices.IsSortedFunc(list.Tools, func(a, b mcp.ListedTool) int {
		return strings.Compare(a.Name, b.Name)
	}) {
		t.Fatalf("got %+v, %v", list, err)
	}
	if _, err := s.List(t.Context()); err != nil || p.lists != 2 {
		t.Errorf("a list without a time was kept: %d, %v", p.lists, err)
	}
	p.mu.Lock()
	p.ttl = 60_000
	p.mu.Unlock()
	for range 3 {
		if _, err := s.List(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if p.lists != 3 {
		t.Errorf("a list with a time was asked for: %d", p.lists)
	}
	few := client(t, url, func(c *mcp.Config) { c.MaxTools = 2 })
	if list, err := few.List(t.Context()); err != nil || len(list.Tools) != 2 {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()

	s := client(t, newPeer().serve(t, stateless).URL)
	approves := func(selection mcp.Selection) (names []string) {
		for name, tool := range tools(t, s, selection) {
			if tool.Approval != nil {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	dropped := mcp.LocalName("", "drop.table")
	if !strings.HasPrefix(dropped, "drop_table_") || len(dropped) != len("drop_table_")+10 {
		t.Errorf("the local name is %s", dropped)
	}
	if got := approves(mcp.Selection{}); !slices.Equal(got, []string{dropped}) {
		t.Errorf("hinted: %v", got)
	}
	if got := approves(mcp.Selection{
		Approval: mcp.ApproveNever, Approve: []string{"echo"},
	}); !slices.Equal(got, []string{"echo"}) {
		t.Errorf("never: %v", got)
	}
	if got := approves(mcp.Selection{Approval: mcp.ApproveAlways}); !slices.Contains(got, "slow") || len(got) != 13 {
		t.Errorf("always, although a hint says read-only: %v", got)
	}
	all := tools(t, s, mcp.Selection{Allow: []string{"echo", "slow", "gone"}, Idempotent: []string{"echo"}, Prefix: "x-"})
	if len(all) != 2 || !all["x-echo"].Idempotent || all["x-slow"].Idempotent {
		t.Errorf("allowed: %+v", all)
	}
	if err := all["x-echo"].Check(json.RawMessage(`{"text":1}`)); err == nil {
		t.Error("wrong arguments were accepted")
	}
	for _, wrong := range []mcp.Selection{
		{Prefix: "a b"}, {Approval: "maybe"}, {Prefix: strings.Repeat("a", 35)}, {Expiry: spool.Expiry{TTL: -1}},
	} {
		if _, err := s.Tools(wrong); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

func TestLocalName(t *testing.T) {
	t.Parallel()

	seen := make(map[string]string)
	for _, name := range []string{
		"a", "A", "a.b", "a/b", "a_b", "a b", "ä", "ö", strings.Repeat("a", 64), strings.Repeat("a", 65),
		strings.Repeat("a", 66), "a_0123456789", mcp.LocalName("", "a.b"), mcp.LocalName("", mcp.LocalName("", "a.b")),
	} {
		for _, prefix := range []string{"", "shop__"} {
			local := mcp.LocalName(prefix, name)
			if len(local) > 64 || strings.ContainsFunc(local, func(r rune) bool {
				return r > 'z' || r == '.' || r == ' ' || r == '/'
			}) {
				t.Errorf("%q becomes %q", name, local)
			}
			if other, taken := seen[local]; taken {
				t.Errorf("%q and %q become %q", name, other, local)
			}
			seen[local] = name
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()

	p := newPeer()
	s := client(t, p.serve(t, stateless).URL, func(c *mcp.Config) {
		c.MaxResultBytes, c.Headers = 1000, map[string]string{"Authorization": "Bearer sesame-street"}
	})
	all := tools(t, s, mcp.Selection{})
	got, err := call(t, all["large"], `{"text":""}`)
	if err != nil || len(got) > 1000 || len(got) < 500 || !strings.HasSuffix(got, `[the rest was cut]"`) ||
		!json.Valid([]byte(got)) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	_, err = call(t, all["fail"], `{"text":""}`)
	if err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("a secret: %v", err)
	}
	if _, err := call(t, all["echo"], `{"text":"a"}`); err != nil {
		t.Fatal(err)
	}
	for _, auth := range p.auth {
		if auth != "Bearer sesame-street" {
			t.Errorf("a request had the header %q", auth)
		}
	}
	if p.metas[0] != (spool.ToolCall{RunID: "r1", Step: 1, ID: "c1"}).IdempotencyKey() {
		t.Errorf("the key is %q", p.metas[0])
	}
}

func TestEgress(t *testing.T) {
	t.Parallel()

	at := newPeer().serve(t, stateless)
	refused := client(t, at.URL, func(c *mcp.Config) { c.Egress = egress.Policy{} })
	if _, err := refused.List(t.Context()); spool.CodeOf(err) != spool.Forbidden ||
		!strings.Contains(spool.MessageOf(err), "MCP server shop") {
		t.Errorf("a loopback address: %v", err)
	}
	var other int
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other++ }))
	defer elsewhere.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(elsewhere.URL, "http://"))
	redirect := httptest.NewServer(http.RedirectHandler("http://localhost:"+port+"/", http.StatusTemporaryRedirect))
	defer redirect.Close()
	if _, err := client(t, redirect.URL).List(t.Context()); err == nil || other != 0 {
		t.Errorf("a redirect to another host: %v, %d requests", err, other)
	}
}

func TestInvalid(t *testing.T) {
	t.Parallel()

	for want, config := range map[string]mcp.Config{
		"Name":         {Name: "a b", URL: "http://a"},
		"single":       {Name: "a__b", URL: "http://a"},
		"underscore":   {Name: "a_", URL: "http://a"},
		"either":       {Name: "a"},
		"either URL":   {Name: "a", URL: "http://a", Command: []string{"b"}},
		"URL is not":   {Name: "a", URL: "ftp://a"},
		"Headers":      {Name: "a", Command: []string{"b"}, Headers: map[string]string{"A": "b"}},
		"Env":          {Name: "a", URL: "http://a", Env: map[string]string{"A": "b"}},
		"negative":     {Name: "a", URL: "http://a", Timeout: -1},
		"TaskTimeout,": {Name: "a", URL: "http://a", TaskTimeout: -1},
		"NoTasks":      {Name: "a", Command: []string{"b"}, NoTasks: true},
		"Egress":       {Name: "a", URL: "http://a", Egress: egress.Policy{Allow: []string{"http://"}}},
	} {
		if _, err := mcp.New(config); spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestEndlessList has a server whose list has no end: only its beginning is read.
func TestEndlessList(t *testing.T) {
	t.Parallel()

	p := newPeer()
	about := strings.Repeat("long ", 12_000)
	p.server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method != "tools/list" {
				return next(ctx, method, r)
			}
			list := new(sdk.ListToolsResult)
			for i := range 8 {
				list.Tools = append(list.Tools, &sdk.Tool{
					Name:        fmt.Sprintf("tool%d_%d", p.counted("pages"), i),
					InputSchema: map[string]any{"type": "object", "description": about},
				})
			}
			p.count("pages")
			list.NextCursor = fmt.Sprint("page", p.counted("pages"))
			return list, nil
		}
	})
	list, err := client(t, p.serve(t, stateless).URL).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if pages := p.counted("pages"); pages > 5 || len(list.Tools) < 30 {
		t.Errorf("%d tools of %d pages", len(list.Tools), pages)
	}
}

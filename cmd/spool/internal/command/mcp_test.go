package command

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool/internal/testing/pgtest"
)

// shop is an MCP server that counts its refunds. A refund asks why.
type shop struct {
	*httptest.Server

	refunds, lists, states atomic.Int64
	down                   atomic.Bool // whether lists fail
}

func openShop(t *testing.T) *shop {
	t.Helper()

	s := &shop{}
	server := sdk.NewServer(&sdk.Implementation{Name: "shop", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "refund", Description: "Refunds an order."}, s.refund)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "tools/list" {
			s.lists.Add(1)
			if s.down.Load() {
				http.Error(w, "down", http.StatusInternalServerError)
				return
			}
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shop) refund(_ context.Context, r *sdk.CallToolRequest, in struct {
	Order string `json:"order"`
},
) (*sdk.CallToolResult, any, error) {
	answer, ok := r.Params.InputResponses["why"].(*sdk.ElicitResult)
	if !ok {
		return &sdk.CallToolResult{
			RequestState: "of order " + in.Order,
			InputRequests: sdk.InputRequestMap{"why": &sdk.ElicitParams{
				Mode: "form", Message: "Why?", RequestedSchema: map[string]any{
					"type": "object", "required": []string{"reason"},
					"properties": map[string]any{"reason": map[string]any{"type": "string"}},
				},
			}},
		}, nil, nil
	}
	if r.Params.RequestState == "of order "+in.Order {
		s.states.Add(1)
	}
	s.refunds.Add(1)
	reason, _ := answer.Content["reason"].(string)
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "refunded, as it was " + reason}}}, nil, nil
}

// config writes a configuration whose agent has the server's tools.
func (s *shop) config(t *testing.T) string {
	t.Helper()

	file := filepath.Join(t.TempDir(), "spool.yaml")
	text := "models: {demo: {provider: demo}}\nagents: {clerk: {model: demo, mcp: {shop: {}}}}\nmcp: {shop: {url: '" +
		s.URL + "'}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const refundPrompt = `{"threadId":"t1","runId":"r1","prompt":"use shop__refund with {\"order\":\"17\"}"}`

// waitingRun is the part of a run's outcome that tells what it waits for.
type waitingRun struct {
	State, Text string
	Parks       []struct {
		ToolCallID, Reason, Digest string
		InputSchema                json.RawMessage
	}
}

func outcomeOf(t *testing.T, p *process) (a waitingRun) {
	t.Helper()

	if err := json.Unmarshal([]byte(p.get(t, "/api/agent/runs/r1?wait=30s")), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// An MCP server asks a question. The worker that got it dies, and the server's list of tools cannot be read any
// more. Another process over the same PostgreSQL goes on with the answer, and the effect happens once.
func TestMCPOverNodes(t *testing.T) {
	t.Parallel()

	s := openShop(t)
	env, file := []string{"SPOOL_DATABASE=" + pgtest.Database(t, nil), "SPOOL_DATABASE_POOL=6"}, s.config(t)
	api := startWith(t, env, t.TempDir(), "--role", "api", "--config", file)
	worker := startWith(t, env, t.TempDir(), "--role", "worker", "--config", file)
	api.post(t, "/api/agent/run", refundPrompt)
	a := outcomeOf(t, api)
	if a.State != "WAITING_FOR_INPUT" || len(a.Parks) != 1 || a.Parks[0].Reason != "elicitation" ||
		!strings.Contains(string(a.Parks[0].InputSchema), "reason") {
		t.Fatalf("the run is %+v", a)
	}
	worker.signal(t, syscall.SIGKILL)
	s.down.Store(true)
	startWith(t, env, t.TempDir(), "--role", "worker", "--config", file)
	answer, err := json.Marshal(map[string]any{
		"threadId": "t1", "toolCallId": a.Parks[0].ToolCallID, "approved": true, "digest": a.Parks[0].Digest,
		"payload": map[string]string{"reason": "broken"},
	})
	if err != nil {
		t.Fatal(err)
	}
	api.post(t, "/api/agent/respond", string(answer))
	if a = outcomeOf(t, api); a.State != "COMPLETED" || !strings.Contains(a.Text, "refunded, as it was broken") {
		t.Errorf("the run is %+v", a)
	}
	if s.refunds.Load() != 1 || s.states.Load() != 1 {
		t.Errorf("%d refunds, %d with the server's state", s.refunds.Load(), s.states.Load())
	}
}

// A server starts although its MCP server is down, and says so. A run begins once it is up.
func TestMCPDown(t *testing.T) {
	t.Parallel()

	s := openShop(t)
	s.down.Store(true)
	p := start(t, t.TempDir(), "--config", s.config(t))
	p.post(t, "/api/agent/run", refundPrompt)
	for s.lists.Load() < 3 { // at the start, and for a first attempt of the run, which asks twice
		p.get(t, "/readyz")
	}
	s.down.Store(false)
	if a := outcomeOf(t, p); a.State != "WAITING_FOR_INPUT" {
		t.Errorf("the run is %+v", a)
	}
	if log := p.stderr.String(); !strings.Contains(log, "MCP server is down") || !strings.Contains(log, "server=shop") {
		t.Errorf("the log is\n%s", log)
	}
}

func TestMCPCommand(t *testing.T) {
	t.Parallel()

	s := openShop(t)
	file := s.config(t)
	wrongName := filepath.Join(t.TempDir(), "wrong.yaml")
	text := "models: {demo: {provider: demo}}\nagents: {clerk: {model: demo, mcp: {shop: {}}}}\nmcp: {shop: {url: '" +
		s.URL + "', approve: [refunds]}}\n"
	if err := os.WriteFile(wrongName, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	try := func(args ...string) (string, string, int) {
		var out, wrong bytes.Buffer
		none := func(string) (string, bool) { return "", false }
		code := run(t.Context(), append([]string{"mcp"}, args...),
			host{&out, &wrong, none, func() []string { return nil }, nil})
		return out.String(), wrong.String(), code
	}
	for name, c := range map[string]struct {
		args []string
		want string
		code int
	}{
		"List": {
			[]string{"list", "shop", "--config", file}, "refund  shop__refund   no        Refunds an order.", exitOK,
		},
		"ListGone": {
			[]string{"list", "shop", "--config", wrongName},
			"warning: the configuration names the tool refunds, which the server does not offer", exitOK,
		},
		"ListURL": {[]string{"list", "--url", s.URL}, "server__refund", exitOK},
		"Asks":    {[]string{"call", "shop", "refund", `{"order":"1"}`, "--config", file}, `"message":"Why?"`, exitOK},
		"Answer": {
			[]string{"call", "shop", "refund", `{"order":"1"}`, "--config", file, "--answer", `{"reason":"late"}`},
			"refunded, as it was late", exitOK,
		},
		"Wrong":    {[]string{"call", "shop", "refund", `{"order":1}`, "--config", file}, "argument order", exitFailure},
		"NoTool":   {[]string{"call", "shop", "gone", "--config", file}, `no tool "gone"`, exitFailure},
		"NoServer": {[]string{"list", "gone", "--config", file}, `no MCP server "gone"`, exitUsage},
		"NoConfig": {[]string{"list", "shop"}, "--config", exitUsage},
		"NoVerb":   {nil, "list, call, login or logout", exitUsage},
		"Down":     {[]string{"list", "--url", "http://127.0.0.1:1"}, "cannot be reached", exitFailure},
		"Help":     {[]string{"--help"}, "spool mcp list", exitOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			out, wrong, code := try(c.args...)
			if code != c.code || !strings.Contains(
				strings.Join(strings.Fields(out+wrong), " "), strings.Join(strings.Fields(c.want), " "),
			) {
				t.Errorf("code %d, printed\n%s%s", code, out, wrong)
			}
		})
	}
}

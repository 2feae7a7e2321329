package command

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// A call that runs when its server is killed asks what became of it. The person gives its result in the chat, or has
// it run again in the inbox.
func TestChatOutcomeUnknown(t *testing.T) {
	t.Parallel()

	var calls atomic.Int32
	began := make(chan struct{}, 4)
	gone := make(chan struct{})
	bank := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) > 2 { // the first call of each thread never ends
			_, _ = w.Write([]byte(`{"receipt":3}`))
			return
		}
		began <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	}))
	defer bank.Close()
	defer close(gone)
	file := filepath.Join(t.TempDir(), "spool.yaml")
	config := `models: {demo: {provider: demo}}
agents: {assistant: {model: demo, tools: [pay]}}
tools: {pay: {type: http, url: "` + bank.URL + `", parameters: {type: object}}}
egress: {allow: ["127.0.0.1"]}
limits: {lease: 2s}
`
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	p := start(t, data, "--config", file)
	s := inTerminal(t, nil, "chat", "--url", p.url, `use pay with {"euros":7}`)
	s.expect("→ pay {\"euros\":7}")
	other := p.post(t, "/api/agent/run", `{"threadId":"other","runId":"r8","prompt":"use pay with {\"euros\":8}"}`)
	if !strings.Contains(other, `"accepted":true`) {
		t.Fatal(other)
	}
	<-began
	<-began
	p.signal(t, syscall.SIGKILL)
	p = start(t, data, "--config", file, "--listen", strings.TrimPrefix(p.url, "http://"))
	s.expect("? pay {\"euros\":7} (it may have run already")
	s.expect("a run it again · d do not · g give its result · r with a reason")
	s.typed("g")
	s.expect("its result, as JSON: ")
	s.typed("{\"receipt\":\r")
	s.expect("… the payload must be JSON")
	s.expect("? pay")
	s.typed("g")
	s.expect("its result, as JSON: ")
	s.typed("{\"receipt\":17}\r")
	s.expect("pay answered: ")
	s.expect("17")
	s.expect("> ")
	s.typed(ctrlD)
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("%d payments, want 2", n)
	}

	s = inTerminal(t, nil, "inbox", "--url", p.url)
	s.expect("? pay {\"euros\":8} (it may have run already")
	s.typed("a")
	s.expect("… approved pay")
	s.end()
	if text := p.get(t, "/api/agent/runs/r8?wait=30s"); !strings.Contains(text, `"state":"COMPLETED"`) {
		t.Error(text)
	}
	if n := calls.Load(); n > 3 {
		t.Errorf("%d payments, want 3", n)
	}
}

// A tool of a client that is gone gets its result from a person.
func TestChatClientTool(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	const run = `{"threadId":"t","runId":"r1","messages":[{"id":"m1","role":"user","content":"use fillForm with {}"}],` +
		`"tools":[{"name":"fillForm","description":"Fills in.","parameters":{"type":"object"}}],"context":[],"state":{},"forwardedProps":{}}`
	if got := p.post(t, "/api/agent/ag-ui", run); !strings.Contains(got, "client_tool") {
		t.Fatal(got)
	}
	s := inTerminal(t, nil, "chat", "--url", p.url, "--thread", "t")
	s.expect("? fillForm {} (the client has to run it")
	s.expect("a give the result · d deny")
	s.typed("a")
	s.expect("the result, as JSON: ")
	s.typed("\r")
	s.expect("… the ")
	s.expect("? fillForm")
	s.typed("a")
	s.expect("the result, as JSON: ")
	s.typed("{\"name\":\"Ann\"}\r")
	s.expect("… approved fillForm")
	s.expect("fillForm answered: ")
	s.expect("Ann")
	s.expect("> ")
	s.typed(ctrlD)
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

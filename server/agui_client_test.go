package server_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

const connectPath = aguiPath + "/connect"

// page is what a page posts that has a tool of its own.
func page(run, rest string) string {
	return `{"threadId":"t1","runId":"` + run + `",` + rest + `,"tools":[{"name":"show","description":"Shows a text.",
		"parameters":{"type":"object","properties":{"text":{"type":"string"}}}}],"context":[{"description":"The page","value":"books"}]}`
}

func asks(prompt string) string {
	return `"messages":[{"id":"m1","role":"user","content":"` + strings.ReplaceAll(prompt, `"`, `\"`) + `"}]`
}

// gives is the result of a call, after what the page has of the thread.
func gives(call, content string) string {
	return `"messages":[{"id":"m1","role":"user","content":"x"},{"id":"result","role":"tool","toolCallId":"` + call +
		`","content":"` + strings.ReplaceAll(content, `"`, `\"`) + `"}]`
}

var callStart = regexp.MustCompile(`"TOOL_CALL_START","toolCallId":"([^"]+)","toolCallName":"show"`)

// startShow starts a run whose model calls the page's tool, and returns the call.
func (b *bundle) startShow(t *testing.T, prompt string) (id string, got answer) {
	t.Helper()

	got = b.as(t, tokenA, http.MethodPost, aguiPath, page("r1", asks(prompt)))
	m := callStart.FindStringSubmatch(got.body)
	if got.status != http.StatusOK || m == nil {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return m[1], got
}

// A call of the page's tool ends the answer. Its result goes to the run, which goes on; the page
// sees the result as it has given it, and no second time.
func TestAGUIClientTool(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	id, first := b.startShow(t, `use show with {"text":"hi"}`)
	if !strings.HasSuffix(first.body, `"result":{"finishReason":"client_tool"},"outcome":{"type":"success"}}`) ||
		strings.Contains(first.body, "TOOL_CALL_RESULT") {
		t.Errorf("the answer ends with %s", first.body)
	}
	history := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body
	if !strings.Contains(history, `"reason":"client_tool"`) || strings.Contains(history, "books") {
		t.Errorf("the native API shows %s", history)
	}
	for name, c := range map[string]struct {
		token, body string
		status      int
		text        string
	}{
		"Unknown": {
			tokenA, page("r2", gives("nope", "x")), 409,
			`"reason":"no_park","error":"messages: nothing waits for a result of the call \"nope\""`,
		},
		"NoCall": {
			tokenA, page("r2", `"messages":[{"id":"x","role":"tool","content":"y"}]`), 400, `the result \"x\" has no toolCallId`,
		},
		"Number": {
			tokenA, page("r2", `"messages":[{"id":"x","role":"tool","toolCallId":"`+id+`","content":7}]`), 400,
			`must be a string`,
		},
		"Long":     {tokenA, page("r2", gives(id, strings.Repeat("x", 300<<10))), 400, `is longer than 262144 bytes`},
		"Other":    {tokenB, page("r2", gives(id, "x")), 404, `Thread not found`},
		"ReadOnly": {readOnlyA, page("r2", gives(id, "x")), 403, `scope`},
	} {
		if got := b.as(t, c.token, http.MethodPost, aguiPath, c.body); got.status != c.status ||
			!strings.Contains(got.body, c.text) {
			t.Errorf("%s: %d %s, want %d %s", name, got.status, got.body, c.status, c.text)
		}
	}
	twice := `"messages":[{"id":"a","role":"tool","toolCallId":"` + id +
		`","content":"y"},{"id":"b","role":"tool","toolCallId":"` + id + `","content":"z"}]`
	if got := b.as(t, tokenA, http.MethodPost, aguiPath, page("r2", twice)); got.status != 400 ||
		!strings.Contains(got.body, "has two results") {
		t.Errorf("two results: %d %s", got.status, got.body)
	}
	if after := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body; after != history {
		t.Errorf("a refused result has changed %s\nto %s", history, after)
	}
	second := b.as(t, tokenA, http.MethodPost, aguiPath, page("r3", gives(id, `{"shown": true}`)))
	if second.status != http.StatusOK ||
		!strings.HasPrefix(second.body, `data: {"type":"RUN_STARTED","threadId":"t1","runId":"r3"`) ||
		!strings.Contains(second.body, `{"id":"r1:s1:`+id+
			`","role":"tool","content":"{\"shown\": true}","toolCallId":"`+id+`"}]}`) ||
		strings.Contains(second.body, "TOOL_CALL_RESULT") || !strings.Contains(second.body, `"delta":"answered`) ||
		!strings.Contains(second.body, `"finishReason":"completed"`) {
		t.Errorf("%d %s", second.status, second.body)
	}
	again := b.as(t, tokenA, http.MethodPost, aguiPath, page("r4", gives(id, `{"shown": true}`)))
	if again.status != http.StatusConflict || !strings.Contains(again.body, `"reason":"already_answered"`) {
		t.Errorf("the same result again: %d %s", again.status, again.body)
	}
	own := strings.Replace(gives(id, "x"), `"id":"result"`, `"id":"r1:s1:`+id+`"`, 1) // as a snapshot has it
	if got := b.as(t, tokenA, http.MethodPost, aguiPath, page("r4", own)); got.status != http.StatusOK ||
		!strings.Contains(got.body, "MESSAGES_SNAPSHOT") {
		t.Errorf("a result of the server's own: %d %s", got.status, got.body)
	}
}

// The page's call waits beside one that asks for approval. The two are answered in either order,
// or at once.
func TestAGUIClientToolMixed(t *testing.T) {
	t.Parallel()

	const prompt = `use show with {"text":"hi"} and use send with {"to":"ann"}`
	resume := func(call string) string {
		return `,"resume":[{"interruptId":"` + call + `","status":"resolved","payload":{"approved":true}}]`
	}
	for name, order := range map[string]func(t *testing.T, b *bundle, show, send string) answer{
		"ResultFirst": func(t *testing.T, b *bundle, show, send string) answer {
			t.Helper()
			got := b.as(t, tokenA, http.MethodPost, aguiPath, page("r2", gives(show, "shown")))
			if got.status != http.StatusOK || !strings.Contains(
				got.body, `"outcome":{"type":"interrupt","interrupts":[{"id":"`+send+`"`,
			) || !strings.Contains(got.body, `"content":"shown"`) {
				t.Errorf("behind the result: %d %s", got.status, got.body)
			}
			return b.as(t, tokenA, http.MethodPost, aguiPath, page("r3", `"messages":[]`+resume(send)))
		},
		"AnswerFirst": func(t *testing.T, b *bundle, show, send string) answer {
			t.Helper()
			got := b.as(t, tokenA, http.MethodPost, aguiPath, page("r2", `"messages":[]`+resume(send)))
			if got.status != http.StatusOK || !strings.HasSuffix(
				got.body, `"result":{"finishReason":"client_tool"},"outcome":{"type":"success"}}`,
			) {
				t.Errorf("behind the answer: %d %s", got.status, got.body)
			}
			return b.as(t, tokenA, http.MethodPost, aguiPath, page("r3", gives(show, "shown")))
		},
		"AtOnce": func(t *testing.T, b *bundle, show, send string) answer {
			t.Helper()
			return b.as(t, tokenA, http.MethodPost, aguiPath, page("r2", gives(show, "shown")+resume(send)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, server.Config{})
			b.work(t)
			show, first := b.startShow(t, prompt)
			send := interruptID.FindStringSubmatch(first.body)
			if send == nil || send[1] == show || strings.Count(first.body, `,"reason":"`) != 1 {
				t.Fatalf("the interrupts are not those of send alone: %s", first.body)
			}
			if got := b.as(
				t, tokenA, http.MethodPost, aguiPath, page("r2", gives(send[1], "x")),
			); got.status != http.StatusConflict || !strings.Contains(got.body, "waits for an answer in resume (approval)") {
				t.Errorf("a result for an approval: %d %s", got.status, got.body)
			}
			last := order(t, b, show, send[1])
			if last.status != http.StatusOK || !strings.Contains(last.body, `"finishReason":"completed"`) ||
				!strings.Contains(last.body, "shown") || !strings.Contains(last.body, "sent to ann") {
				t.Errorf("%d %s", last.status, last.body)
			}
		})
	}
}

// A page that may start runs may give the results of its tools, and still not approve.
func TestAGUIClientToolScope(t *testing.T) {
	t.Parallel()

	auth, err := access.Tokens([]access.Token{
		{
			Token: tokenA, Principal: access.Principal{Tenant: "a", Scopes: []access.Scope{access.ScopeWrite, access.ScopeRead}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, server.Config{Authenticator: auth})
	b.work(t)
	id, _ := b.startShow(t, `use show with {"text":"hi"}`)
	if got := b.as(
		t, tokenA, http.MethodPost, aguiPath, page("r2", gives(id, `a\u0000`)),
	); got.status != http.StatusBadRequest || !strings.Contains(got.body, `messages: the result of the call \"`+id) {
		t.Errorf("a result with a NUL: %d %s", got.status, got.body)
	}
	if got := b.as(t, tokenA, http.MethodPost, aguiPath, page("r2", gives(id, "x"))); got.status != http.StatusOK ||
		!strings.Contains(got.body, `"finishReason":"completed"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := b.as(
		t, tokenA, http.MethodPost, aguiPath, page("r5", says+`,"forwardedProps":{"spool":{"onDisconnect":"stop"}}`),
	); got.status != http.StatusForbidden || !strings.Contains(got.body, `the scope \"stop\" is required`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A page that opens is shown the thread, whatever it posts, and starts nothing.
func TestAGUIConnect(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	connect := func(token string) answer {
		return b.as(t, token, http.MethodPost, connectPath, page("c1", asks("start nothing")))
	}
	const nothing = `{"type":"MESSAGES_SNAPSHOT","messages":[]}`
	for range 2 {
		got := connect(tokenA)
		if got.status != http.StatusOK || !strings.HasPrefix(got.body,
			`data: {"type":"RUN_STARTED","threadId":"t1","runId":"c1"`) ||
			!strings.Contains(got.body, nothing) || !strings.HasSuffix(got.body, `"outcome":{"type":"success"}}`) {
			t.Errorf("without a thread: %d %s", got.status, got.body)
		}
	}
	b.as(t, tokenA, http.MethodPost, aguiPath, page("r1", asks("hello")))
	if got := connect(tokenA); got.status != http.StatusOK ||
		!strings.Contains(got.body, `"role":"user","content":"hello"`) ||
		!strings.Contains(got.body, `"result":{"finishReason":"completed"},"outcome":{"type":"success"}`) ||
		strings.Contains(got.body, "start nothing") {
		t.Errorf("behind a run: %d %s", got.status, got.body)
	}
	if got := connect(tokenB); !strings.Contains(got.body, nothing) {
		t.Errorf("another tenant sees %s", got.body)
	}
	if got := connect(readOnlyA); got.status != http.StatusOK || !strings.Contains(got.body, `"content":"hello"`) {
		t.Errorf("with the scope to read: %d %s", got.status, got.body)
	}
	waits := b.as(t, tokenA, http.MethodPost, aguiPath,
		page("r2", `"messages":[{"id":"m2","role":"user","content":"use send with {\"to\":\"ann\"}"}]`))
	if got := connect(tokenA); !strings.Contains(got.body, `"outcome":{"type":"interrupt"`) {
		t.Errorf("of a run that waits: %s\nwhich was told %s", got.body, waits.body)
	}
	b.as(t, tokenA, http.MethodPost, controlPath, `{"threadId":"t1"}`)
	if got := connect(tokenA); !strings.Contains(got.body, `"outcome":{"type":"success"}`) ||
		!strings.Contains(got.body, `"result":{"finishReason":"cancelled"}`) {
		t.Errorf("of a run that was stopped: %s", got.body)
	}
	if runs := strings.Count(
		b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body, `"enqueuedAt"`,
	); runs != 2 {
		t.Errorf("there are %d runs", runs)
	}
}

// A page that opens while a run is at work is shown the rest of it.
func TestAGUIConnectLive(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"slow 30"}`)
	got := b.as(t, tokenA, http.MethodPost, connectPath, page("c1", `"messages":[]`))
	if got.status != http.StatusOK || !strings.Contains(got.body, "TEXT_MESSAGE_CONTENT") ||
		!strings.Contains(got.body, `"finishReason":"completed"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A run stops when its client goes, where the client has asked for that, and only then.
func TestAGUIOnDisconnect(t *testing.T) {
	t.Parallel()

	for wish, want := range map[string]wire.State{"stop": wire.Cancelled, "continue": wire.Completed} {
		t.Run(wish, func(t *testing.T) {
			t.Parallel()
			b := setup(t, server.Config{})
			b.work(t)
			ctx, leave := context.WithCancel(patiently(t))
			r := b.request(t, call{
				method: http.MethodPost, path: aguiPath, token: tokenA,
				body: page("r1", asks("slow 60")+`,"forwardedProps":{"spool":{"onDisconnect":"`+wish+`"}}`),
			})
			res, err := http.DefaultTransport.RoundTrip(r.WithContext(ctx))
			if err != nil {
				t.Fatal(err)
			}
			buffer := make([]byte, 100)
			if _, err := res.Body.Read(buffer); err != nil {
				t.Fatal(err)
			}
			leave()
			_ = res.Body.Close()
			end := b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA}).until(t, func(m message) bool {
				return state(wire.Cancelled)(m) || state(wire.Completed)(m)
			})
			if !state(want)(end[len(end)-1]) {
				t.Errorf("the run ends with %s", end[len(end)-1].raw)
			}
		})
	}
}

// A server that shuts down says so at the end of an answer that is not over, and the run goes on
// in the next process, whatever its client has asked for.
func TestAGUIShutdown(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	res, err := http.DefaultTransport.RoundTrip(b.request(t, call{
		method: http.MethodPost, path: aguiPath, token: tokenA,
		body: page("r1", asks("slow 1000")+`,"forwardedProps":{"spool":{"onDisconnect":"stop"}}`),
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	e := &events{res, bufio.NewScanner(res.Body)}
	seen := e.until(t, func(m message) bool { return strings.Contains(m.raw, "TEXT_MESSAGE_CONTENT") })
	b.server.Drain()
	b.engine.Close()
	for m, ok := e.next(t); ok; m, ok = e.next(t) {
		seen = append(seen, m)
	}
	if last := seen[len(seen)-1].raw; !strings.Contains(last, `"type":"RUN_ERROR"`) ||
		!strings.HasSuffix(last, `"code":"server_shutdown"}`) {
		t.Errorf("the answer ends with %s", last)
	}
	if s, err := b.engine.Snapshot(context.Background(), spool.ThreadKey{Tenant: "a", ID: "t1"}, nil); err != nil ||
		!s.Thread.State.Active() {
		t.Errorf("the run is %v, %v", s, err)
	}
}

// The answer to a post, and to a page that opens, ends with an error when the credentials of the
// request do, and the run goes on.
func TestAGUICredentialsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		who := access.Principal{Tenant: "a", Subject: "ann", Scopes: access.AllScopes()}
		gone := access.Token{Token: "goes", Principal: who}
		ends := access.Token{Token: "ends", Principal: who}
		ends.Until = time.Now().Add(time.Minute)
		list, err := access.Tokens([]access.Token{{Token: tokenA, Principal: who}, gone, ends})
		if err != nil {
			t.Fatal(err)
		}
		e, s := tokenServer(t, server.Config{Authenticator: list})
		defer e.Close()
		answers := make(chan *httptest.ResponseRecorder, 3)
		post := func(token, path string) { // whose run no worker takes
			answers <- send(t.Context(), s, token, http.MethodPost, path, `{"threadId":"t1","runId":"again","messages":[]}`)
		}
		go post("ends", aguiPath)
		go post("ends", aguiPath+"/connect")
		go post("goes", aguiPath+"/connect")
		synctest.Wait()
		if len(answers) > 0 {
			t.Fatalf("an answer ends before the credentials: %s", (<-answers).Body)
		}
		if err := list.Replace([]access.Token{{Token: tokenA, Principal: who}, ends}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			got := (<-answers).Body.String()
			if !strings.HasPrefix(got, `data: {"type":"RUN_STARTED"`) || strings.Count(got, `"type":"RUN_ERROR"`) != 1 ||
				!strings.Contains(got, `"code":"credentials_over"}`) {
				t.Errorf("the answer is %s", got)
			}
		}
		if thread, err := e.Snapshot(t.Context(), spool.ThreadKey{Tenant: "a", ID: "t1"}, nil); err != nil ||
			!thread.Thread.State.Active() {
			t.Errorf("the run is %v, %v", thread, err)
		}
	})
}

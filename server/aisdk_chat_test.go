package server_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/aisdk"
)

const chatPath = "/api/chat"

// chatBody is what a client of the AI SDK posts.
func chatBody(thread, message, rest string) string {
	return `{"id":"` + thread + `","messages":[` + message + `]` + rest + `}`
}

const chatTurn = `{"id":"m1","role":"user","parts":[{"type":"text","text":"hello"}]}`

func TestChat(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	got := b.as(t, tokenA, http.MethodPost, chatPath, chatBody("t1", chatTurn, ""))
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/event-stream; charset=utf-8" ||
		got.header.Get("X-Vercel-Ai-Ui-Message-Stream") != "v1" ||
		!strings.HasPrefix(got.body, `data: {"type":"start","messageId":"chat-`) ||
		!strings.Contains(got.body, `"delta":"hello`) || !strings.HasSuffix(got.body, "data: [DONE]") {
		t.Errorf("%d %v\n%s", got.status, got.header, got.body)
	}
	again := b.as(t, tokenA, http.MethodPost, chatPath, chatBody("t1", chatTurn, ""))
	saved := b.as(t, tokenA, http.MethodGet, chatPath+"/t1", "")
	if again.status != http.StatusOK || !strings.Contains(again.body, "hello") ||
		strings.Count(saved.body, `"role"`) != 2 {
		t.Errorf("the same post again: %d %s\nand then %s", again.status, again.body, saved.body)
	}
	other := b.as(t, tokenA, http.MethodPost, chatPath, chatBody("t1", strings.Replace(chatTurn, "hello", "bye", 1), ""))
	if other.status != http.StatusConflict || !strings.Contains(other.body, `"reason":"key_reused"`) {
		t.Errorf("another text with the same id: %d %s", other.status, other.body)
	}
	b.as(t, tokenA, http.MethodPost, chatPath, chatBody("t1", strings.Replace(chatTurn, "m1", "m2", 1), ""))
	page := b.as(t, tokenA, http.MethodGet, chatPath+"/t1?limit=2", "")
	before := regexp.MustCompile(`"before":"([^"]+)"`).FindStringSubmatch(page.body)
	if len(before) == 0 || strings.Count(page.body, `"role"`) != 2 || !strings.Contains(page.body, `"id":"m2"`) {
		t.Fatalf("the newest messages: %s", page.body)
	}
	older := b.as(t, tokenA, http.MethodGet, chatPath+"/t1?limit=2&before="+before[1], "")
	if strings.Count(older.body, `"role"`) != 2 || !strings.Contains(older.body, `"id":"m1"`) ||
		strings.Contains(older.body, `"before"`) {
		t.Errorf("the older messages: %s", older.body)
	}
	if got := b.as(t, tokenA, http.MethodGet, chatPath+"/t1/stream", ""); got.status != http.StatusNoContent ||
		got.body != "" {
		t.Errorf("nothing runs: %d %s", got.status, got.body)
	}
	if got := b.as(t, tokenA, http.MethodGet, chatPath+"/t1/stream?replay=last", ""); got.status != http.StatusOK ||
		!strings.Contains(got.body, "hello") {
		t.Errorf("the last message: %d %s", got.status, got.body)
	}
}

// A post that comes twice at once shows its run twice, also while the run waits for a worker. Another post is refused.
func TestChatTwiceAtOnce(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	id := string(aisdk.Post{ID: "m1"}.RunID("t1"))
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","runId":"`+id+`","prompt":"hello"}`)
	other := b.as(t, tokenA, http.MethodPost, chatPath, chatBody("t1", strings.Replace(chatTurn, "m1", "m2", 1), ""))
	if other.status != http.StatusConflict || !strings.Contains(other.body, `"reason":"active_run"`) {
		t.Errorf("another post: %d %s", other.status, other.body)
	}
	res, err := http.DefaultTransport.RoundTrip(b.request(t, call{
		method: http.MethodPost, path: chatPath, token: tokenA, body: chatBody("t1", chatTurn, ""),
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b.work(t) // the stream is open before anybody has the run
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(text), `"messageId":"`+id+`"`) ||
		!strings.HasSuffix(strings.TrimSpace(string(text)), "data: [DONE]") {
		t.Errorf("%d %v\n%s", res.StatusCode, err, text)
	}
}

// What is wrong is refused before anything is streamed, and changes nothing.
func TestChatRefuses(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"busy","runId":"r1","prompt":"hello"}`)
	answers := func(id string) string {
		return `{"id":"` + id +
			`","role":"assistant","parts":[{"type":"tool-send","toolCallId":"c1","state":"approval-responded","approval":{"id":"c1#x","approved":true}}]}`
	}
	for name, c := range map[string]struct {
		token, path, body string
		status            int
		text              string
	}{
		"NoChat":     {tokenA, "", `{"messages":[` + chatTurn + `]}`, 400, `id is required`},
		"NoMessages": {tokenA, "", `{"id":"t1","messages":[]}`, 400, `messages must have`},
		"NoText":     {tokenA, "", chatBody("t1", `{"id":"m1","role":"user","parts":[]}`, ""), 400, `prompt is required`},
		"System": {
			tokenA, "", chatBody("t1", `{"id":"m1","role":"system","parts":[]}`, ""), 400, `must be user or assistant`,
		},
		"Tool": {
			tokenA, "", chatBody("t1", `{"id":"m1","role":"user","parts":[{"type":"tool-send"}]}`, ""), 400,
			`part 0 of the last one`,
		},
		"Version": {tokenA, "?version=5", chatBody("t1", chatTurn, ""), 400, `version must be 6 or 7`},
		"State": {
			tokenA, "", chatBody("t1", chatTurn, `,"hostState":{"a":1}`), 400, `hostState is not taken from a request`,
		},
		"Trigger": {
			tokenA, "", chatBody("t1", chatTurn, `,"trigger":"x"`), 400, `trigger must be submit-message or regenerate-message`,
		},
		"Busy":         {tokenA, "", chatBody("busy", chatTurn, ""), 409, `"reason":"active_run"`},
		"MovedOn":      {tokenA, "", chatBody("busy", answers("r0"), ""), 409, `"reason":"moved_on"`},
		"NoThread":     {tokenA, "", chatBody("none", answers("r1"), ""), 404, `Thread not found`},
		"NothingAgain": {tokenA, "", chatBody("none", chatTurn, `,"trigger":"regenerate-message"`), 404, `Thread not found`},
		"UnknownAgain": {
			tokenA, "", chatBody("busy", chatTurn, `,"trigger":"regenerate-message","messageId":"x"`), 404,
			`no message with this messageId`,
		},
		"Agent":    {tokenA, "", chatBody("t1", chatTurn, `,"agent":"nobody"`), 400, `nobody`},
		"Other":    {tokenB, "", chatBody("busy", answers("r1"), ""), 404, `Thread not found`},
		"ReadOnly": {readOnlyA, "", chatBody("t1", chatTurn, ""), 403, `the scope \"write\" is required`},
		"Nobody":   {"", "", chatBody("t1", chatTurn, ""), 401, `a bearer token is required`},
	} {
		if got := b.as(t, c.token, http.MethodPost, chatPath+c.path, c.body); got.status != c.status ||
			!strings.Contains(got.body, c.text) {
			t.Errorf("%s: %d %s, want %d %s", name, got.status, got.body, c.status, c.text)
		}
	}
	if list := b.as(t, tokenA, http.MethodGet, threadsPath, ""); strings.Count(list.body, `"id"`) != 1 {
		t.Errorf("there are the threads %s", list.body)
	}
}

// An answer needs the scope approve, a stop the scope stop, and an interruption too.
func TestChatScopes(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Authenticator: writer(t)})
	b.work(t)
	use := `{"id":"m1","role":"user","parts":[{"type":"text","text":"use send with {\"to\":\"x\"}"}]}`
	asked := b.as(t, "writes", http.MethodPost, chatPath, chatBody("t1", use, ""))
	id := regexp.MustCompile(`"toolCallId":"([^"]+)","approvalId":"([^"]+)"`).FindStringSubmatch(asked.body)
	run := regexp.MustCompile(`"messageId":"([^"]+)"`).FindStringSubmatch(asked.body)
	if len(id) == 0 || len(run) == 0 {
		t.Fatal(asked.body)
	}
	yes := chatBody("t1", `{"id":"`+run[1]+`","role":"assistant","parts":[{"type":"tool-send","toolCallId":"`+id[1]+
		`","state":"approval-responded","approval":{"id":"`+id[2]+`","approved":true}}]}`, "")
	for _, c := range []struct {
		token, path, body string
		status            int
		want              string
	}{
		{"writes", chatPath, yes, 403, `the scope \"approve\" is required`},
		{"writes", chatPath + "/t1/stop", "", 403, `the scope \"stop\" is required`},
		{"writes", chatPath, chatBody("t1", chatTurn, `,"whenBusy":"interrupt"`), 403, `the scope \"stop\" is required`},
		{tokenA, chatPath, strings.Replace(yes, "sha256:", "sha256:0", 1), 409, `"reason":"changed"`},
		{tokenA, chatPath, yes, 200, `"type":"tool-output-available"`},
		{tokenA, chatPath, yes, 200, `"type":"tool-output-available"`}, // the answer is lost, and asked for again
		{tokenA, chatPath + "/t1/stop", "", 409, `"accepted":false`},
	} {
		got := b.as(t, c.token, http.MethodPost, c.path, c.body)
		if got.status != c.status || !strings.Contains(got.body, c.want) ||
			strings.Contains(got.body, `"tool-approval-request"`) {
			t.Errorf("%s %s %s: %d %s", c.token, c.path, c.body, got.status, got.body)
		}
	}
}

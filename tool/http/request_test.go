package httptool_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/spooltest"
	httptool "github.com/spoolhq/spool/tool/http"
	"github.com/spoolhq/spool/wire"
)

// heard is a request that an endpoint got.
type heard struct {
	header http.Header
	body   string
}

// listen returns an endpoint and what it gets.
func listen(t *testing.T) (url string, requests <-chan heard) {
	t.Helper()

	got := make(chan heard, 4)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- heard{r.Header, string(body)}
		_, _ = io.WriteString(w, `"done"`)
	})
	return s.URL, got
}

// told returns the headers that say whose call a request is.
func (h heard) told() map[string]string {
	out := make(map[string]string)
	for name, values := range h.header {
		if strings.HasPrefix(name, "Spool-") || name == "Idempotency-Key" {
			out[name] = strings.Join(values, "|")
		}
	}
	return out
}

func answered(payload string) spool.ToolCall {
	return spool.ToolCall{
		Thread: spool.ThreadKey{Tenant: "acme", ID: "chat"}, RunID: "r1", Step: 2, ID: "c1", Name: "post", Agent: "clerk",
		Subject: "ann", Key: "k", Fence: 3, Args: json.RawMessage(`{"n": 1}`),
		Answer: &spool.Answer{Approved: true, Payload: json.RawMessage(payload), Reason: "so", By: "bob"},
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()

	url, requests := listen(t)
	c := httptool.Config{
		URL: url, Egress: loopback, Parameters: json.RawMessage(`{"type":"object"}`),
		Headers: map[string]string{"Spool-Tenant": "mine", "spool-answer-payload": "mine"},
	}
	plain := open(t, c)
	c.Body = httptool.BodyEnvelope
	whole := open(t, c)

	odd := spool.ToolCall{
		Thread: spool.ThreadKey{Tenant: "a%b\r\nX: y", ID: "t:1"}, RunID: "r1", Step: 1, ID: "c1", Subject: "ünì",
	}
	for name, test := range map[string]struct {
		tool    spool.Tool
		call    spool.ToolCall
		body    string
		headers map[string]string
	}{
		"payload": {
			plain, answered("{\"a\":\n \"ü€😀\u007f\", \"b\": [1.0]}"), `{"n": 1}`, map[string]string{
				"Spool-Tenant": "acme", "Spool-Subject": "ann", "Spool-Thread": "chat", "Spool-Run": "r1", "Idempotency-Key": "k",
				"Spool-Agent": "clerk", "Spool-Step": "2", "Spool-Fence": "3", "Spool-Answer-By": "bob",
				"Spool-Answer-Payload": `{"a":"\u00fc\u20ac\ud83d\ude00\u007f","b":[1.0]}`,
			},
		},
		"no payload": {
			plain, answered(""), `{"n": 1}`, map[string]string{
				"Spool-Tenant": "acme", "Spool-Subject": "ann", "Spool-Thread": "chat", "Spool-Run": "r1", "Idempotency-Key": "k",
				"Spool-Agent": "clerk", "Spool-Step": "2", "Spool-Fence": "3", "Spool-Answer-By": "bob",
			},
		},
		"escapes": {
			plain, odd, `{}`, map[string]string{
				"Spool-Tenant": "a%25b%0D%0AX: y", "Spool-Subject": "%C3%BCn%C3%AC", "Spool-Thread": "t:1", "Spool-Run": "r1",
				"Idempotency-Key": "r1/1/c1", "Spool-Step": "1",
			},
		},
		"envelope": {
			whole, answered(`{"a":"ü"}`),
			`{"arguments":{"n":1},"call":{"tenant":"acme","subject":"ann","agent":"clerk","threadId":"chat","runId":"r1","step":2,"toolCallId":"c1","toolName":"post",` +
				`"idempotencyKey":"k","fence":3},"answer":{"approved":true,"payload":{"a":"ü"},"reason":"so","by":"bob"}}`,
			map[string]string{
				"Spool-Tenant": "acme", "Spool-Subject": "ann", "Spool-Thread": "chat", "Spool-Run": "r1", "Idempotency-Key": "k",
				"Spool-Agent": "clerk", "Spool-Step": "2", "Spool-Fence": "3", "Spool-Answer-By": "bob",
			},
		},
	} {
		if result, err := test.tool.Call(t.Context(), test.call); err != nil || string(result) != `"done"` {
			t.Fatalf("%s: %s, %v", name, result, err)
		}
		got := testwait.For(t, requests, "the request")
		if got.body != test.body {
			t.Errorf("%s: the body is %s", name, got.body)
		}
		if diff := cmp.Diff(test.headers, got.told()); diff != "" {
			t.Errorf("%s: the headers (-want +got):\n%s", name, diff)
		}
	}
	if len(requests) != 0 {
		t.Error("there were more requests")
	}

	long := answered(`"` + strings.Repeat("x", 5000) + `"`)
	_, err := plain.Call(t.Context(), long)
	if spool.CodeOf(err) != spool.Limit || !strings.Contains(err.Error(), "5002 bytes") || len(requests) != 0 {
		t.Errorf("a payload that no header takes: %v, with %d requests", err, len(requests))
	}
	if _, err := whole.Call(t.Context(), long); err != nil || len(requests) != 1 {
		t.Errorf("a long payload in an envelope: %v", err)
	}
	if _, err := httptool.New(httptool.Config{Name: "x", URL: url, Body: "both"}); spool.CodeOf(err) != spool.Invalid ||
		!strings.Contains(err.Error(), "Body") {
		t.Errorf("a body of another name: %v", err)
	}
}

// TestAnswerReachesEndpoint has a person answer a call with a payload, which the endpoint gets
// with the call.
func TestAnswerReachesEndpoint(t *testing.T) {
	t.Parallel()

	url, requests := listen(t)
	post := open(t, httptool.Config{URL: url, Egress: loopback, Approval: true})
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m", Tools: []spool.Tool{post}}},
		Models: map[string]spool.Model{
			"m": spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "post"}), spooltest.Say("done")),
		},
		Log: slog.New(slog.DiscardHandler), Worker: option.Worker{Poll: 10 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	defer func() {
		cancel()
		if err := testwait.For(t, worked, "the end of the worker"); err != nil {
			t.Error(err)
		}
	}()
	key := spool.ThreadKey{Tenant: "acme", ID: "chat"}
	if r, err := e.Run(ctx, key, wire.StartRequest{Prompt: "go", RunID: "r1", By: "ann"}); err != nil || !r.Accepted {
		t.Fatal(r, err)
	}
	for f, err := range e.Follow(ctx, key, wire.FollowOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Event != nil && f.Event.Type == wire.EntryInputRequired {
			break
		}
	}
	answer := wire.Response{ToolCallID: "c1", Approved: true, Payload: json.RawMessage(`{"pin":7}`), By: "bob"}
	if r, err := e.Respond(ctx, key, answer); err != nil || !r.Delivered {
		t.Fatal(r, err)
	}
	select {
	case got := <-requests:
		told := got.told()
		if mac := strings.TrimPrefix(told["Idempotency-Key"], "r1/1/c1/"); len(mac) != 32 {
			t.Errorf("the key is %s", told["Idempotency-Key"])
		}
		delete(told, "Idempotency-Key")
		want := map[string]string{
			"Spool-Tenant": "acme", "Spool-Subject": "ann", "Spool-Thread": "chat", "Spool-Run": "r1", "Spool-Agent": "a",
			"Spool-Step": "1", "Spool-Fence": "2", "Spool-Answer-By": "bob", "Spool-Answer-Payload": `{"pin":7}`,
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("the headers (-want +got):\n%s", diff)
		}
	case <-ctx.Done():
		t.Fatal("the endpoint was not called")
	}
}

package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// waiting starts a run that waits for an approval, and returns the question.
func waiting(t *testing.T, b *bundle) (*events, wire.InputRequired) {
	t.Helper()

	b.work(t)
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"use send with {\"to\":\"x\"}"}`)
	watch := b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA})
	var asked wire.InputRequired
	for _, m := range watch.until(t, entry(wire.EntryInputRequired)) {
		if entry(wire.EntryInputRequired)(m) {
			if err := json.Unmarshal(m.frame.Event.Payload, &asked); err != nil {
				t.Fatal(err)
			}
		}
	}
	return watch, asked
}

// A person edits the arguments and says why: the record has all of it, and the model reads
// it.
func TestRespondEdited(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	watch, asked := waiting(t, b)
	respond := func(fields string) answer {
		return b.as(t, tokenA, http.MethodPost, respondPath,
			`{"threadId":"t1","toolCallId":"`+string(asked.ToolCallID)+`",`+fields+`}`)
	}
	for fields, want := range map[string]string{
		`"approved":true,"arguments":[1]`:         `{"error":"the arguments are not a JSON object","code":"invalid"}`,
		`"approved":true,"arguments":{"two":1}`:   "400",
		`"approved":false,"arguments":{"to":"y"}`: `{"error":"arguments are only for an approved call","code":"invalid"}`,
		`"approved":true,"reason":7`:              `{"error":"reason must be a string","code":"invalid"}`,
		`"approved":true,"reason":"` + strings.Repeat("x", 5000) +
			`"`: `{"error":"reason is longer than 4096 bytes","code":"invalid"}`,
	} {
		if got := respond(fields); got.status != http.StatusBadRequest || want != "400" && got.body != want {
			t.Errorf("%.60s: %d %s", fields, got.status, got.body)
		}
	}
	got := respond(`"approved":true,"digest":"sha256:0"`)
	if got.status != http.StatusConflict ||
		got.body != `{"delivered":false,"reason":"changed","error":"This request is not the one that was shown"}` {
		t.Errorf("an answer to something else: %d %s", got.status, got.body)
	}
	if asked.Digest == "" {
		t.Error("what was asked has no digest")
	}
	got = respond(`"approved":true,"arguments":{"to":"y"},"reason":"x has left","digest":"` + asked.Digest + `"`)
	if got.status != http.StatusOK || got.body != `{"delivered":true}` {
		t.Errorf("the answer: %d %s", got.status, got.body)
	}
	var seen strings.Builder
	for _, m := range watch.until(t, state(wire.Completed)) {
		seen.WriteString(m.raw)
	}
	for _, want := range []string{
		`"answeredBy":"anna","reason":"x has left","arguments":{"to":"y"},"digest":"sha256:`,
		`"result":{"approved":true,"arguments":{"to":"y"},"reason":"x has left","result":`,
	} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("the stream lacks %s", want)
		}
	}
}

// An answer over AG-UI that does not say yes changes nothing: the call still waits, and does not
// run.
func TestRespondAGUI(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	_, asked := waiting(t, b)
	before := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body
	resume := func(payload string) answer {
		return b.as(t, tokenA, http.MethodPost, aguiPath, aguiInput("t1",
			`"messages":[],"resume":[{"interruptId":"`+string(asked.ToolCallID)+`","status":"resolved"`+payload+`}]`))
	}
	for _, payload := range []string{
		``, `,"payload":false`, `,"payload":"no"`, `,"payload":{"Approved":false}`, `,"payload":{"decision":"deny"}`,
		`,"payload":{"approved":false,"APPROVED":true}`, `,"payload":{"approved":true},"Payload":{"approved":false}`,
	} {
		if got := resume(payload); got.status != http.StatusBadRequest || !strings.Contains(got.body, "payload") {
			t.Errorf("%s: %d %s", payload, got.status, got.body)
		}
	}
	if after := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body; after != before {
		t.Errorf("an answer that was refused changed the thread:\n%s\n%s", before, after)
	}
	if got := resume(`,"payload":{"approved":false,"reason":"no"}`); got.status != http.StatusOK ||
		!strings.Contains(got.body, `{\"denied\":true,\"reason\":\"no\"}`) {
		t.Errorf("a denial: %d %s", got.status, got.body)
	}
}

package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
)

// TestRunSteer steers a run that no worker has taken yet, withdraws one of the messages, and asks where the others
// are.
func TestRunSteer(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	post := func(token, path, body string, status int, want string) {
		t.Helper()
		if got := b.as(t, token, http.MethodPost, path, body); got.status != status || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	post(tokenA, runPath, `{"threadId":"t1","runId":"r1","prompt":"one","whenBusy":"steer"}`, 202,
		`{"accepted":true,"threadId":"t1","runId":"r1","state":"QUEUED"}`)
	post(tokenA, runPath, `{"threadId":"t1","runId":"r2","prompt":"two","whenBusy":"steer"}`, 202,
		`"state":"QUEUED","position":1,"steers":"r1"}`)
	post(tokenA, runPath, `{"threadId":"t1","runId":"r3","prompt":"three","whenBusy":"steer"}`, 202,
		`"state":"QUEUED","position":2,"steers":"r1"}`)
	post(tokenA, aguiPath,
		`{"threadId":"t1","runId":"r4","messages":[{"id":"m","role":"user","content":"x"}],"forwardedProps":{"spool":{"whenBusy":"later"}}}`, 400, "whenBusy must be")
	post(readOnlyA, controlPath, `{"threadId":"t1","runId":"r3"}`, 403, "scope")
	post(tokenA, controlPath, `{"threadId":"t1","runId":"r3"}`, 200, `{"accepted":true}`)
	b.work(t)
	if got := b.as(
		t, tokenA, http.MethodGet, "/api/agent/runs/r2?wait=30s", "",
	); !strings.Contains(got.body,
		`"state":"COMPLETED","stopReason":"steered","delivered":{"runId":"r1","messageId":"msg_`) {
		t.Errorf("the outcome of the steer: %d %s", got.status, got.body)
	}
	if got := b.as(
		t, tokenA, http.MethodGet, "/api/agent/runs/r1?wait=30s", "",
	); !strings.Contains(got.body, "You said: two") || strings.Contains(got.body, "delivered") {
		t.Errorf("the outcome of the run: %d %s", got.status, got.body)
	}
	post(tokenA, controlPath, `{"threadId":"t1","runId":"r2"}`, 409, "Cannot stop run in state COMPLETED")
	snap := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body
	if strings.Count(snap, `"role":"user"`) != 2 || strings.Contains(snap, "three") {
		t.Errorf("the snapshot: %s", snap)
	}
}

package server_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/spoolhq/spool/server"
)

// TestRunWhenBusy starts runs on a thread whose first one no worker takes, and stops them
// one by one, then all.
func TestRunWhenBusy(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{
			runPath, `{"threadId":"t1","runId":"r1","prompt":"one"}`, 202,
			`{"accepted":true,"threadId":"t1","runId":"r1","state":"QUEUED"}`,
		},
		{
			runPath, `{"threadId":"t1","prompt":"x","whenBusy":"reject"}`, 409,
			`{"accepted":false,"threadId":"t1","reason":"active_run","error":"Thread has an active run"}`,
		},
		{
			runPath, `{"threadId":"t1","runId":"r2","prompt":"two","whenBusy":"enqueue"}`, 202,
			`{"accepted":true,"threadId":"t1","runId":"r2","state":"QUEUED","position":1}`,
		},
		{
			runPath, `{"threadId":"t1","runId":"r3","prompt":"three","whenBusy":"enqueue"}`, 202,
			`{"accepted":true,"threadId":"t1","runId":"r3","state":"QUEUED","position":2}`,
		},
		{
			runPath, `{"threadId":"t1","prompt":"x","whenBusy":"later"}`, 400,
			`{"error":"whenBusy must be reject, enqueue, latest, interrupt, rollback or steer","code":"invalid"}`,
		},
		{
			runPath, `{"threadId":"t1","prompt":"x","whenBusy":7}`, 400,
			`{"error":"whenBusy must be a string","code":"invalid"}`,
		},
		{controlPath, `{"threadId":"t1","runId":"r2"}`, 200, `{"accepted":true}`},
		{
			controlPath, `{"threadId":"t1","runId":"r2"}`, 409,
			`{"accepted":false,"reason":"not_active","error":"Cannot stop run in state CANCELLED"}`,
		},
		{
			controlPath, `{"threadId":"t1","runId":"a b"}`, 400,
			`{"error":"runId may only have letters, digits and the characters . _ : -","code":"invalid"}`,
		},
		{
			runPath, `{"threadId":"t1","runId":"r4","prompt":"four","whenBusy":"interrupt"}`, 202,
			`{"accepted":true,"threadId":"t1","runId":"r4","state":"QUEUED"}`,
		},
	} {
		if got := b.as(t, tokenA, http.MethodPost, c.path, c.body); got.status != c.status || got.body != c.want {
			t.Errorf("%s: %d %s", c.body, got.status, got.body)
		}
	}
	var snap struct {
		Queue []struct{ RunID, WhenBusy, Content string }
	}
	got := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "")
	if err := json.Unmarshal([]byte(got.body), &snap); err != nil || len(snap.Queue) != 1 || snap.Queue[0].RunID != "r3" ||
		snap.Queue[0].Content != "three" {
		t.Errorf("snapshot: %s, %v", got.body, err)
	}
	if got := b.as(t, tokenA, http.MethodPost, controlPath, `{"threadId":"t1"}`); got.status != http.StatusOK {
		t.Errorf("stop: %d %s", got.status, got.body)
	}
	if got := b.as(t, tokenA, http.MethodDelete, threadsPath+"?threadId=t1", ""); got.status != http.StatusOK {
		t.Errorf("delete: %d %s", got.status, got.body)
	}
}

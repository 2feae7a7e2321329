package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server"
)

// A tenant that stores as much as it may is told so, and only of itself.
func TestStorageFull(t *testing.T) {
	t.Parallel()

	b := setupOver(t, server.Config{}, engine.Config{Limits: option.Limits{TenantBytes: 1}})
	if got := b.starts(t, tokenA, "t1"); got.status != http.StatusAccepted {
		t.Fatalf("the first start: %d %s", got.status, got.body)
	}
	const want = `{"error":"the tenant stores as many bytes as it may (1): delete threads to make room","code":"storage_full"}`
	for name, got := range map[string]answer{
		"a start":  b.starts(t, tokenA, "t2"),
		"by AG-UI": b.as(t, tokenA, http.MethodPost, aguiPath, aguiInput("t2", says)),
		"a durable event": b.as(t, tokenA, http.MethodPost, "/api/agent/events",
			`{"threadId":"t1","type":"receipt","durable":true}`),
	} {
		if got.status != http.StatusInsufficientStorage || got.body != want {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if got := b.as(t, tokenA, http.MethodGet, "/api/agent/history?threadId=t2", ""); got.status != http.StatusNotFound {
		t.Errorf("a refused start has left: %d %s", got.status, got.body)
	}
	if got := b.as(
		t, tokenA, http.MethodPost, "/api/agent/events", `{"threadId":"t1","type":"receipt"}`,
	); got.status != http.StatusAccepted {
		t.Errorf("a live event: %d %s", got.status, got.body)
	}
	if got := b.starts(t, tokenB, "t1"); got.status != http.StatusAccepted {
		t.Errorf("another tenant: %d %s", got.status, got.body)
	}
	if got := b.as(t, tokenA, http.MethodPost, controlPath, `{"threadId":"t1"}`); got.status != http.StatusOK {
		t.Errorf("a stop: %d %s", got.status, got.body)
	}
	if got := b.as(t, tokenA, http.MethodDelete, threadsPath+"?threadId=t1", ""); got.status != http.StatusOK ||
		!strings.Contains(got.body, "true") {
		t.Errorf("a deletion: %d %s", got.status, got.body)
	}
	if got := b.starts(t, tokenA, "t2"); got.status != http.StatusAccepted {
		t.Errorf("behind the deletion: %d %s", got.status, got.body)
	}
}

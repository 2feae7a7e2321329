package server_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// The shared bytes of a snapshot are an answer like any other.
func TestHistoryIsAnAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, server.Config{})
	b.work(t)
	b.as(t, tokenA, http.MethodPost, "/api/agent/run", `{"threadId":"t1","prompt":"`+strings.Repeat("<long> ", 100)+`"}`)
	e := b.stream(t, call{path: "/api/agent/stream?threadId=t1", token: tokenA})
	e.until(t, state(wire.Completed))
	for _, query := range []string{"", "&limit=1", "&lastMessageId=unknown"} {
		path := "/api/agent/history?threadId=t1" + query
		got := b.as(t, tokenA, http.MethodGet, path, "")
		if got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json; charset=utf-8" ||
			got.header.Get("Content-Length") != strconv.Itoa(len(got.body)) || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, %v", path, got.status, got.header)
		}
		var snap wire.Snapshot
		if err := json.Unmarshal([]byte(got.body), &snap); err != nil || len(snap.Messages) == 0 || snap.Thread.ID != "t1" {
			t.Errorf("%s: %v in %s", path, err, got.body)
		}
		head := b.as(t, tokenA, http.MethodHead, path, "")
		if head.status != http.StatusOK || head.body != "" ||
			head.header.Get("Content-Length") != got.header.Get("Content-Length") {
			t.Errorf("HEAD %s: %d, %v, %q", path, head.status, head.header, head.body)
		}
	}
	if got := b.as(t, tokenB, http.MethodGet, "/api/agent/history?threadId=t1", ""); got.status != http.StatusNotFound {
		t.Errorf("another tenant is answered %d: %s", got.status, got.body)
	}
}

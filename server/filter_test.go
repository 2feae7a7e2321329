package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// listed returns the ids of a list of threads, joined.
func (b *bundle) listed(t *testing.T, query string) (ids string, threads []wire.Thread, next string) {
	t.Helper()

	got := b.as(t, tokenA, http.MethodGet, threadsPath+query, "")
	var list struct {
		Threads []wire.Thread
		Next    string
	}
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || got.status != http.StatusOK {
		t.Fatalf("%s: %d %s", query, got.status, got.body)
	}
	var joined strings.Builder
	for _, thread := range list.Threads {
		joined.WriteString(string(thread.ID))
	}
	return joined.String(), list.Threads, list.Next
}

func TestThreadFilters(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	for id, prompt := range map[string]string{"a": "Pay the INVOICE", "b": "50% of it", "c": "another invoice"} {
		b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"`+id+`","prompt":"`+prompt+`"}`)
	}
	b.as(t, tokenA, http.MethodPost, controlPath, `{"threadId":"b"}`)
	all, threads, _ := b.listed(t, "")
	if len(all) != 3 || all[0] != 'b' {
		t.Fatalf("all: %s", all)
	}
	newest, oldest := threads[0].UpdatedAt.Format(time.RFC3339Nano), threads[2].UpdatedAt.Format(time.RFC3339Nano)
	for q, want := range map[string]string{
		"?state=QUEUED":    all[1:],
		"?state=CANCELLED": "b",
		"?state=FAILED":    "",
		"?q=Invoice":       all[1:],
		"?q=0%25+o":        "b",
		"?q=_":             "",
		"?updatedAfter=" + url.QueryEscape(oldest):             all[:2],
		"?updatedBefore=" + url.QueryEscape(newest):            all[1:],
		"?updatedBefore=" + url.QueryEscape(oldest):            "",
		"?state=QUEUED&q=another":                              "c",
		"?state=&q=&updatedAfter=&updatedBefore=":              all,
		"?updatedAfter=2026-01-02T03:04:05%2B01:00&state=IDLE": "",
	} {
		if got, _, _ := b.listed(t, q); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}

	// A page goes on among what the filters leave.
	first, _, next := b.listed(t, "?q=invoice&limit=1")
	second, _, _ := b.listed(t, "?q=invoice&limit=1&before="+url.QueryEscape(next))
	if first+second != all[1:] {
		t.Errorf("pages: %s and %s, want %s", first, second, all[1:])
	}
}

func TestThreadFiltersRefused(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	for q, want := range map[string]string{
		"?state=queued":                   "state must be IDLE, QUEUED, RUNNING, WAITING_FOR_INPUT, COMPLETED, CANCELLED or FAILED",
		"?updatedAfter=yesterday":         "updatedAfter must be a time such as 2026-01-02T03:04:05Z",
		"?updatedBefore=2026-01-02":       "updatedBefore must be a time such as 2026-01-02T03:04:05Z",
		"?q=" + strings.Repeat("x", 201):  "q is longer than 200 characters",
		"?limit=0&state=x":                "state must be IDLE, QUEUED, RUNNING, WAITING_FOR_INPUT, COMPLETED, CANCELLED or FAILED",
		"?updatedAfter=2026-13-02T03:04Z": "updatedAfter must be a time such as 2026-01-02T03:04:05Z",
	} {
		if got := b.as(t, tokenA, http.MethodGet, threadsPath+q, ""); got.status != http.StatusBadRequest ||
			got.body != invalid(want) {
			t.Errorf("%s: %d %s", q, got.status, got.body)
		}
	}
}

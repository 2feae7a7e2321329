package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// A thread belongs to the subject who made it, has the title and labels of its first start, and
// those that somebody writes on it later.
func TestThreadChange(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	change := func(token, body string) answer { return b.as(t, token, http.MethodPatch, threadsPath, body) }
	b.as(t, tokenA, http.MethodPost, runPath,
		`{"threadId":"a","prompt":"hello","title":"Bills","labels":{"team":"sales","x":"1"}}`)
	b.as(t, secondA, http.MethodPost, runPath,
		`{"threadId":"a","prompt":"again","title":"Other","labels":{"x":"9"},"whenBusy":"enqueue"}`)
	b.as(t, secondA, http.MethodPost, runPath, `{"threadId":"b","prompt":"hello"}`)
	thread := into[wire.Thread](t, change(tokenA, `{"threadId":"a","labels":{"x":null,"y":"a:b"}}`))
	if thread.Title != "Bills" || thread.Owner != "anna" || len(thread.Labels) != 2 || thread.Labels["y"] != "a:b" ||
		thread.Labels["team"] != "sales" {
		t.Errorf("the thread: %+v", thread)
	}
	if got := reads[wire.Snapshot](t, b, historyPath+"?threadId=a").Thread; got.Owner != "anna" ||
		got.Labels["y"] != "a:b" || got.State != wire.Queued {
		t.Errorf("the snapshot: %+v", got)
	}
	if thread = into[wire.Thread](
		t, change(secondA, `{"threadId":"b","title":"Ä","owner":"bert"}`),
	); thread.Title != "Ä" || thread.Owner != "bert" {
		t.Errorf("the other: %+v", thread)
	}
	for query, want := range map[string]string{
		"?owner=anna": "a", "?owner=bert": "b", "?owner=nobody": "", "?label=team:sales": "a",
		"?label=team:sales&label=y:a:b": "a", "?label=x:1": "", "?owner=bert&label=team:sales": "",
		"?owner=anna&limit=1": "a",
	} {
		if ids, _, _ := b.listed(t, query); ids != want {
			t.Errorf("%s: %q, want %q", query, ids, want)
		}
	}
	if acts := into[auditList](t, b.as(t, tokenA, http.MethodGet, auditPath, "")); len(acts.Entries) != 1 ||
		acts.Entries[0].Action != wire.AuditOwner || string(acts.Entries[0].Detail) != `{"from":"alan","to":"bert"}` {
		t.Errorf("the audit log: %q", acts.acts())
	}
	before := b.everything(t)
	for body, want := range map[string]string{
		`{"threadId":"a"}`:            "title, labels or owner is required",
		`{"threadId":"a","title":""}`: "title is empty",
		`{"threadId":"a","title":"` + strings.Repeat("x", 201) + `"}`: "title is longer than 200 characters",
		`{"threadId":"a","labels":{"a b":"x"}}`:                       "labels: a key has up to 63",
		`{"threadId":"a","labels":{"a":""}}`:                          "labels.a is empty",
		`{"threadId":"a","labels":{"a":1}}`:                           "labels",
		`{"threadId":"a","title":"x","labels":{"a":"\u0007"}}`:        "labels.a has control characters",
		`{"threadId":"a","owner":"` + strings.Repeat("x", 513) + `"}`: "owner is longer than 512 bytes",
		`{"title":"x"}`:                   "threadId is required",
		`{"threadId":"none","title":"x"}`: "Thread not found",
		`{"threadId":"a","title":"x","labels":{"a":"b","c":"d","e":"\n"}}`: "labels.e has control characters",
	} {
		if got := change(tokenA, body); got.status < 400 || got.status > 404 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	for body, want := range map[string]string{
		`{"prompt":"x","title":"` + strings.Repeat("x", 201) + `"}`: "title is longer than 200 characters",
		`{"prompt":"x","labels":{"-":"x"}}`:                         "labels: a key has up to 63",
	} {
		if got := b.as(t, tokenA, http.MethodPost, runPath, body); got.status != http.StatusBadRequest ||
			!strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	for _, query := range []string{"?label=x", "?label=:x", "?label=a+b:c", "?label=a:b&label=a:c"} {
		if got := b.as(t, tokenA, http.MethodGet, threadsPath+query, ""); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	if got := change(readOnlyA, `{"threadId":"a","title":"x"}`); got.status != http.StatusForbidden {
		t.Errorf("without the scope: %d", got.status)
	}
	if after := b.everything(t); strings.Join(after, "") != strings.Join(before, "") {
		t.Errorf("something was changed: %v", after)
	}
}

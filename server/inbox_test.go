package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const inboxPath = "/api/agent/inbox"

type inboxAnswer struct {
	Questions []wire.Question
	Next      string
}

// asks starts a run that waits for an approval, and returns once it does.
func (b *bundle) asks(t *testing.T, token, thread string) {
	t.Helper()
	got := b.as(t, token, http.MethodPost, runPath,
		`{"threadId":"`+thread+`","runId":"r-`+thread+`","prompt":"use send with {\"to\":\"`+thread+`\"}"}`)
	if got.status != http.StatusAccepted {
		t.Fatal(got.status, got.body)
	}
	b.stream(t, call{path: streamPath + "?threadId=" + thread, token: token}).until(t, entry(wire.EntryInputRequired))
}

// inbox returns the threads of a list, and its page.
func (b *bundle) inbox(t *testing.T, token, query string) (string, inboxAnswer) {
	t.Helper()
	page := into[inboxAnswer](t, b.as(t, token, http.MethodGet, inboxPath+query, ""))
	var threads []string
	for _, q := range page.Questions {
		threads = append(threads, string(q.ThreadID))
	}
	return strings.Join(threads, " "), page
}

func TestInbox(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	for _, thread := range []string{"t1", "t2", "t3"} {
		b.asks(t, tokenA, thread)
	}
	b.asks(t, tokenB, "of-b")
	for query, want := range map[string]string{
		"":                             "t1 t2 t3",
		"?order=expiry":                "t1 t2 t3",
		"?threadId=t2":                 "t2",
		"?agent=assistant&tool=send":   "t1 t2 t3",
		"?agent=strict":                "",
		"?startedBy=anna&owner=anna":   "t1 t2 t3",
		"?startedBy=bert":              "",
		"?owner=bert":                  "",
		"?reason=approval&limit=2":     "t1 t2",
		"?reason=outcome_unknown":      "",
		"?order=expiry&threadId=of-b":  "",
		"?order=expiry&limit=1&tool=x": "",
	} {
		if got, _ := b.inbox(t, tokenA, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got, page := b.inbox(t, tokenB, ""); got != "of-b" || page.Questions[0].Title == "" ||
		page.Questions[0].StartedBy != "bert" {
		t.Errorf("of the other tenant: %s %+v", got, page)
	}

	// Pages, while somebody answers what is on the page before.
	for _, order := range []string{"age", "expiry"} {
		var all strings.Builder
		next := ""
		for range 4 {
			got, page := b.inbox(t, tokenA, "?limit=1&order="+order+"&after="+url.QueryEscape(next))
			all.WriteString(got + " ")
			if next = page.Next; next == "" {
				break
			}
		}
		if got := strings.TrimSpace(all.String()); got != "t1 t2 t3" {
			t.Errorf("pages by %s: %s", order, got)
		}
	}
	_, page := b.inbox(t, tokenA, "?limit=1")
	first := page.Questions[0]
	got := b.as(t, tokenA, http.MethodPost, respondPath,
		fmt.Sprintf(`{"threadId":"t1","toolCallId":%q,"approved":true,"digest":%q}`, first.ToolCallID, first.Digest))
	if got.status != http.StatusOK {
		t.Errorf("the answer: %d %s", got.status, got.body)
	}
	if got, _ := b.inbox(t, tokenA, "?after="+url.QueryEscape(page.Next)); got != "t2 t3" {
		t.Errorf("after an answer: %s", got)
	}
	if got, _ := b.inbox(t, tokenA, ""); got != "t2 t3" {
		t.Errorf("after an answer, from the beginning: %s", got)
	}

	for query, want := range map[string]string{
		"?order=size": `{"error":"order must be age or expiry","code":"invalid"}`,
		"?limit=0":    `{"error":"limit must be an integer from 1 to 1000","code":"invalid"}`,
		"?after=x":    `{"error":"after must be the next of an earlier page of the same order","code":"invalid"}`,
		"?order=expiry&after=" +
			page.Next: `{"error":"after must be the next of an earlier page of the same order","code":"invalid"}`,
		"?after=age~2020-01-02T03:04:05Z~r%00~c":  `{"error":"after must be the next of an earlier page of the same order","code":"invalid"}`,
		"?after=age~yesterday~r~c":                `{"error":"after must be the next of an earlier page of the same order","code":"invalid"}`,
		"?after=age~0001-01-01T00:00:00Z~r~call1": `{"error":"after must be the next of an earlier page of the same order","code":"invalid"}`,
	} {
		if got := b.as(t, tokenA, http.MethodGet, inboxPath+query, ""); got.status != http.StatusBadRequest ||
			got.body != want {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	if got := b.as(t, readOnlyA, http.MethodGet, inboxPath, ""); got.status != http.StatusForbidden {
		t.Errorf("without the scope: %d %s", got.status, got.body)
	}
}

// expires makes the run of a thread one that completed although nobody answered its question.
func (b *bundle) expires(t *testing.T, thread spool.ThreadID, at time.Time) {
	t.Helper()
	err := b.backend.Store.Update(t.Context(), spool.ThreadKey{Tenant: "a", ID: thread}, 0, func(tx store.Tx) error {
		row, err := tx.Thread()
		if err != nil {
			return err
		}
		run, err := store.FindRun(tx, row.RunID)
		if err != nil {
			return err
		}
		parks, err := tx.Parks(run.ID)
		if err != nil {
			return err
		}
		parks[0].State, parks[0].Landed, parks[0].ExpiresAt = wire.ParkExpired, true, at
		run.State, run.StopReason, run.Expired = wire.Completed, wire.StopCompleted, run.Expired.And(at)
		row.State, row.Expired = run.State, run.Expired
		return tx.Write(store.Changes{Thread: &row, Runs: []store.RunRow{run}, Parks: parks[:1]})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What nobody answered in time has lists of its own: the questions, their threads and their runs.
func TestInboxExpired(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	at := time.Date(2026, 11, 28, 3, 5, 0, 0, time.UTC)
	for i, thread := range []spool.ThreadID{"t1", "t2", "t3"} {
		b.asks(t, tokenA, string(thread))
		if i < 2 {
			b.expires(t, thread, at.Add(time.Duration(i)*time.Minute))
		}
	}
	for query, want := range map[string]string{
		"":                            "t3",
		"?state=open":                 "t3",
		"?state=expired":              "t2 t1",
		"?state=expired&order=expiry": "t2 t1",
		"?state=expired&threadId=t1":  "t1",
		"?state=expired&agent=strict": "",
		"?state=expired&owner=anna":   "t2 t1",
	} {
		if got, _ := b.inbox(t, tokenA, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	got, page := b.inbox(t, tokenA, "?state=expired&limit=1")
	if q := page.Questions[0]; got != "t2" || !q.Expired || !q.ExpiresAt.Equal(at.Add(time.Minute)) {
		t.Errorf("the first page: %s %+v", got, q)
	}
	if got, page := b.inbox(t, tokenA, "?state=expired&limit=1&after="+url.QueryEscape(page.Next)); got != "t1" ||
		page.Next == "" {
		t.Errorf("the second page: %s %+v", got, page)
	}
	for path, want := range map[string]string{
		"/api/threads?expired=true":      `[{"id":"t2"},{"id":"t1"}]`,
		"/api/threads?expired=false":     `[{"id":"t3"},{"id":"t2"},{"id":"t1"}]`,
		"/api/admin/runs?expired=true":   `[{"id":"r-t2"},{"id":"r-t1"}]`,
		"/api/agent/runs/r-t1":           `"expired":{"questions":1,"since":"2026-11-28T03:05:00Z"}`,
		"/api/agent/history?threadId=t1": `"expired":{"questions":1,"since":"2026-11-28T03:05:00Z"}`,
	} {
		got := b.as(t, tokenA, http.MethodGet, path, "")
		have := got.body
		if strings.Contains(path, "expired=") {
			var list struct {
				Threads, Runs []struct {
					ID string `json:"id"`
				}
			}
			_ = json.Unmarshal([]byte(got.body), &list)
			text, err := json.Marshal(append(list.Threads, list.Runs...))
			if err != nil {
				t.Fatal(err)
			}
			have = string(text)
		}
		if !strings.Contains(have, want) {
			t.Errorf("%s: %d %s, want %s", path, got.status, have, want)
		}
	}
	for query, want := range map[string]string{
		"?state=answered":                `{"error":"state must be open or expired","code":"invalid"}`,
		"?state=expired&after=age~x~r~c": `{"error":"after must be the next of an earlier page of the same order","code":"invalid"}`,
		"?after=" +
			url.QueryEscape(page.Next): `{"error":"after must be the next of an earlier page of the same order","code":"invalid"}`,
	} {
		if got := b.as(t, tokenA, http.MethodGet, inboxPath+query, ""); got.status != http.StatusBadRequest ||
			got.body != want {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

// Where each subject has its own threads, it has the questions of these threads only.
func TestInboxOwnThreads(t *testing.T) {
	t.Parallel()

	b := owned(t)
	b.work(t)
	b.asks(t, tokenA, "of-anna")
	b.asks(t, ottoToken, "of-otto")
	for token, want := range map[string]string{
		tokenA: "of-anna of-otto", ottoToken: "of-otto", teamToken: "of-anna of-otto", tokenB: "",
	} {
		if got, _ := b.inbox(t, token, ""); got != want {
			t.Errorf("%s lists %q, want %q", token, got, want)
		}
	}
	if got, _ := b.inbox(t, ottoToken, "?owner=anna"); got != "" {
		t.Errorf("otto lists %q of anna", got)
	}
}

package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/wire"
)

const auditPath = "/api/admin/audit"

type auditList struct {
	Entries []struct {
		wire.AuditEntry

		Operator bool `json:"operator"`
	}
	Next string
}

// acts lists what an audit log has in short, the first entry first.
func (l auditList) acts() (lines []string) {
	for _, e := range slices.Backward(l.Entries) {
		words := []string{string(e.Action), e.By}
		for _, word := range []string{string(e.ByTenant), string(e.ThreadID)} {
			if word != "" {
				words = append(words, word)
			}
		}
		if e.Operator {
			words = append(words, "operator")
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

// Who does something over HTTP is in the audit log under the subject of the token, whatever the
// endpoint.
func TestAudit(t *testing.T) {
	t.Parallel()

	b := operated(t)
	b.work(t)
	ask := func(thread string) string {
		b.as(t, tokenA, http.MethodPost, runPath,
			`{"threadId":"`+thread+`","prompt":"use send with {\"to\":\"marker-of-a\"}"}`)
		return toolCallID(t, b.stream(t, call{path: streamPath + "?threadId=" + thread, token: tokenA}).until(t,
			entry(wire.EntryInputRequired)))
	}
	id := ask("t1")
	b.as(t, tokenA, http.MethodPost, respondPath,
		`{"threadId":"t1","toolCallId":"`+id+`","approved":false,"reason":"not on a Friday"}`)
	b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA}).until(t, state(wire.Completed))
	id = ask("t2")
	b.do(t, call{
		method: http.MethodPost, path: "/api/agent/ag-ui", token: tokenA,
		body: `{"threadId":"t2","runId":"x","messages":[],"resume":[{"interruptId":"` + id + `","status":"cancelled"}]}`,
	})
	ask("t3")
	b.as(t, tokenA, http.MethodPost, controlPath, `{"threadId":"t3"}`)
	b.stream(t, call{path: streamPath + "?threadId=t3", token: tokenA}).until(t, state(wire.Cancelled))
	b.as(t, tokenA, http.MethodDelete, threadsPath+"?threadId=t1", "")
	b.as(t, tokenB, http.MethodDelete, threadsPath+"?threadId=t2", "")
	b.as(t, operatorToken, http.MethodPost, prunePath, `{"tenant":"a","olderThan":"0s"}`)

	list := into[auditList](t, b.as(t, tokenA, http.MethodGet, auditPath, ""))
	acts := list.acts()
	slices.Sort(acts[4:])
	want := []string{
		"answer anna t1", "answer anna t2", "stop anna t3", "delete_thread anna t1", "prune_thread  t2 operator",
		"prune_thread  t3 operator",
	}
	if !slices.Equal(acts, want) {
		t.Errorf("the log: %q, want %q", acts, want)
	}
	first := list.Entries[len(list.Entries)-1]
	if first.Approved == nil || *first.Approved || first.Reason != "not on a Friday" || first.Digest == "" ||
		time.Since(first.At) > time.Minute || first.Seq != 1 {
		t.Errorf("the answer: %+v", first)
	}
	seen := into[auditList](t, b.as(t, operatorToken, http.MethodGet,
		auditPath+"?tenant=a&action=prune_thread&threadId=t2", "")).acts()
	if !slices.Equal(seen, []string{"prune_thread olga ops t2 operator"}) {
		t.Errorf("the operator sees %q", seen)
	}
	for _, got := range []answer{
		b.as(t, tokenA, http.MethodGet, auditPath, ""), b.as(t, tokenB, http.MethodGet, auditPath, ""),
	} {
		if strings.Contains(got.body, marker) || strings.Contains(got.body, "olga") || strings.Contains(got.body, "ops") {
			t.Errorf("the log: %s", got.body)
		}
	}
	if own := b.as(t, tokenB, http.MethodGet, auditPath, ""); own.body != `{"entries":[]}` {
		t.Errorf("of another tenant: %s", own.body)
	}
	if log := b.logged.String(); strings.Count(log, "msg=audit") != len(want) ||
		!strings.Contains(log, "msg=audit action=answer") || strings.Contains(log, "Friday") {
		t.Errorf("the server's log: %s", log)
	}
}

func TestAuditPages(t *testing.T) {
	t.Parallel()

	b := operated(t)
	for i := range 3 {
		b.accepted(t, tokenA, fmt.Sprint("t", i), fmt.Sprint("r", i))
		b.as(t, tokenA, http.MethodPost, controlPath, fmt.Sprintf(`{"threadId":"t%d"}`, i))
	}
	page := into[auditList](t, b.as(t, tokenA, http.MethodGet, auditPath+"?limit=2", ""))
	if got := page.acts(); !slices.Equal(got, []string{"stop anna t1", "stop anna t2"}) || page.Next != "2" {
		t.Fatalf("the first page: %q, %q", got, page.Next)
	}
	page = into[auditList](t, b.as(t, tokenA, http.MethodGet, auditPath+"?limit=2&before="+page.Next, ""))
	if got := page.acts(); !slices.Equal(got, []string{"stop anna t0"}) || page.Next != "" {
		t.Errorf("the last page: %q, %q", got, page.Next)
	}
	for query, want := range map[string]int{
		"by=bert": 0, "by=anna": 3, "action=answer": 0, "threadId=t1": 1, "since=2026-01-02T03:04:05Z": 3,
		"until=2026-01-02T03:04:05Z": 0,
	} {
		if got := into[auditList](t, b.as(t, tokenA, http.MethodGet, auditPath+"?"+query, "")); len(got.Entries) != want {
			t.Errorf("%s: %q, want %d", query, got.acts(), want)
		}
	}
	for query, want := range map[string]int{
		"before=x": 400, "before=0": 400, "limit=0": 400, "since=noon": 400, "server=true": 403, "tenant=b": 403,
		"server=true&tenant=a": 400,
	} {
		if got := b.as(t, tokenA, http.MethodGet, auditPath+"?"+query, ""); got.status != want {
			t.Errorf("%s: %d %s, want %d", query, got.status, got.body, want)
		}
	}
	if got := b.as(
		t, "operator-without-scope", http.MethodGet, auditPath+"?server=true", "",
	); got.status != http.StatusForbidden {
		t.Errorf("without the scope: %d %s", got.status, got.body)
	}
}

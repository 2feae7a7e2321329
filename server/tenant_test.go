package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// A thread of another tenant answers exactly like one that does not exist, on every
// endpoint, and nothing happens to it.
func TestOtherTenant(t *testing.T) { //nolint:tparallel // what came of all cases is looked at after them
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	b.says(t, "kept", "secret-of-a", "")
	b.says(t, "kept", "another", string(reads[wire.Snapshot](t, b, historyPath+"?threadId=kept").Messages[0].ID))
	branch := fmt.Sprint(reads[branchAnswer](t, b, branchesPath+"?threadId=kept").Branches[0].ID)
	b.as(t, tokenA, http.MethodPost, runPath,
		`{"threadId":"kept","runId":"r1","prompt":"use send with {\"to\":\"secret-of-a\"}"}`)
	kept := b.stream(t, call{path: streamPath + "?threadId=kept", token: tokenA})
	callID := toolCallID(t, kept.until(t, entry(wire.EntryInputRequired)))
	kept.until(t, entry(wire.EntryRunEnded)) // nothing more of the run comes
	b.clock.hold()
	before := b.everything(t)

	for name, c := range map[string]badInput{ //nolint:paralleltest // see above
		"Control": {method: http.MethodPost, path: controlPath, body: `{"threadId":"THREAD"}`, status: 409},
		"Respond": {
			method: http.MethodPost, path: respondPath,
			body: `{"threadId":"THREAD","toolCallId":"` + callID + `","approved":true}`, status: 409,
		},
		"Events": {
			method: http.MethodPost, path: eventsPath, body: `{"threadId":"THREAD","type":"note","durable":true}`, status: 404,
		},
		"Compact":  {method: http.MethodPost, path: compactPath, body: `{"threadId":"THREAD"}`, status: 409},
		"History":  {method: http.MethodGet, path: historyPath + "?threadId=THREAD", status: 404},
		"Stream":   {method: http.MethodGet, path: streamPath + "?threadId=THREAD&cursor=1+r1:1+1-1", status: 404},
		"Usage":    {method: http.MethodGet, path: usagePath + "?threadId=THREAD", status: 404},
		"Branches": {method: http.MethodGet, path: branchesPath + "?threadId=THREAD", status: 404},
		"Branch":   {method: http.MethodGet, path: branchPath + "?threadId=THREAD&branchId=" + branch, status: 404},
		"Restore": {
			method: http.MethodPost, path: restorePath, body: `{"threadId":"THREAD","branchId":` + branch + `}`, status: 409,
		},
		"Delete": {method: http.MethodDelete, path: threadsPath + "?threadId=THREAD", status: 404},
	} {
		t.Run(name, func(t *testing.T) {
			var got [2]answer
			for i, thread := range []string{"kept", "none"} {
				got[i] = b.as(t, tokenB, c.method, strings.ReplaceAll(c.path, "THREAD", thread),
					strings.ReplaceAll(c.body, "THREAD", thread))
			}
			if got[0].status != c.status {
				t.Errorf("status %d, want %d", got[0].status, c.status)
			}
			if got[0].status != got[1].status || got[0].body != got[1].body {
				t.Errorf("another tenant's thread: %d %s\na thread that is none:   %d %s",
					got[0].status, got[0].body, got[1].status, got[1].body)
			}
		})
	}
	if diff := cmp.Diff(before, b.everything(t)); diff != "" {
		t.Errorf("another tenant changed something: -before +after\n%s", diff)
	}
	if list := b.as(t, tokenB, http.MethodGet, threadsPath, ""); list.body != `{"threads":[]}` {
		t.Errorf("tenant b sees %s", list.body)
	}

	t.Run("Run", func(t *testing.T) {
		got := b.as(t, tokenB, http.MethodPost, runPath, `{"threadId":"kept","runId":"r1","prompt":"mine"}`)
		if got.status != http.StatusAccepted {
			t.Errorf("a start on another tenant's thread id: %d %s", got.status, got.body)
		}
		if history := b.as(
			t, tokenB, http.MethodGet, historyPath+"?threadId=kept", "",
		); strings.Contains(history.body, "secret-of-a") {
			t.Errorf("tenant b reads tenant a's messages: %s", history.body)
		}
	})
}

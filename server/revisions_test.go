package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/wire"
)

const revisionsPath = "/api/admin/revisions"

// TestRevisions shows revisions to an operator, and to nobody else.
func TestRevisions(t *testing.T) {
	t.Parallel()

	b := operated(t)
	b.work(t)
	for _, of := range []struct{ thread, agent string }{{"t1", "assistant"}, {"t2", "strict"}} {
		body := `{"threadId":"` + of.thread + `","runId":"` + of.thread + `","prompt":"Hello","agent":"` + of.agent + `"}`
		if got := b.as(t, tokenA, http.MethodPost, runPath, body); got.status != http.StatusAccepted {
			t.Fatalf("start: %d %s", got.status, got.body)
		}
		if got := b.as(
			t, tokenA, http.MethodGet, "/api/agent/runs/"+of.thread+"?wait=30s", "",
		); !strings.Contains(got.body, "COMPLETED") {
			t.Fatalf("the run: %d %s", got.status, got.body)
		}
	}
	list := into[struct {
		Revisions []wire.RevisionSummary
		Next      string
	}](t, b.as(t, operatorToken, http.MethodGet, revisionsPath, ""))
	if len(list.Revisions) != 2 || list.Revisions[0].Agent != "assistant" || list.Revisions[1].Agent != "strict" ||
		list.Next != "" {
		t.Fatalf("the list is %+v", list)
	}
	for i, r := range list.Revisions {
		if r.Model != "demo" || r.Tools != 1 || time.Since(r.FirstUsedAt) > time.Hour {
			t.Errorf("the list has %+v", r)
		}
		one := into[wire.Revision](t, b.as(t, operatorToken, http.MethodGet, revisionsPath+"/"+string(r.ID), ""))
		if one.ID != r.ID || one.Agent.Name != r.Agent || one.Agent.DistinctApprover != (i == 1) ||
			one.Agent.Revision() != r.ID {
			t.Errorf("the revision is %+v", one)
		}
	}

	// the page after the first, and the other agent's
	first := into[struct{ Next string }](t, b.as(t, operatorToken, http.MethodGet, revisionsPath+"?limit=1", ""))
	for _, query := range []string{"?limit=1&before=" + url.QueryEscape(first.Next), "?agent=strict"} {
		got := into[struct{ Revisions []wire.RevisionSummary }](t,
			b.as(t, operatorToken, http.MethodGet, revisionsPath+query, ""))
		if len(got.Revisions) != 1 || got.Revisions[0].ID != list.Revisions[1].ID {
			t.Errorf("%s: %+v", query, got)
		}
	}

	// the record of the run names its revision
	var detail wire.RunDetail
	got := b.as(t, tokenA, http.MethodGet, adminRunsPath+"/t1", "")
	if err := json.Unmarshal([]byte(got.body), &detail); err != nil || detail.Revision != list.Revisions[0].ID {
		t.Errorf("the run has the revision %q, %v", detail.Revision, err)
	}
	var started wire.RunStarted
	if err := json.Unmarshal(detail.Entries[0].Payload, &started); err != nil || started.Revision != detail.Revision {
		t.Errorf("the record has %s, %v", detail.Entries[0].Payload, err)
	}

	for _, path := range []string{
		revisionsPath, revisionsPath + "/" + string(detail.Revision), revisionsPath + "/rev_none",
	} {
		if got := b.as(t, tokenA, http.MethodGet, path, ""); got.status != http.StatusForbidden ||
			strings.Contains(got.body, "assistant") {
			t.Errorf("%s for a tenant: %d %s", path, got.status, got.body)
		}
	}
	if got := b.as(t, operatorToken, http.MethodGet, revisionsPath+"/rev_none", ""); got.status != http.StatusNotFound {
		t.Errorf("an unknown revision: %d %s", got.status, got.body)
	}
	if got := b.as(t, operatorToken, http.MethodGet, revisionsPath+"?limit=0", ""); got.status != http.StatusBadRequest {
		t.Errorf("a bad limit: %d %s", got.status, got.body)
	}
}

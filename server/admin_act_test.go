package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

const (
	adminStopPath    = "/api/admin/stop"
	adminRespondPath = "/api/admin/respond"
)

// parked has a run of tenant a wait for an approval, and returns the call.
func (b *bundle) parked(t *testing.T, thread, run string) string {
	t.Helper()
	got := b.as(t, tokenA, http.MethodPost, runPath+"?wait=1m",
		`{"agent":"strict","threadId":"`+thread+`","runId":"`+run+`","prompt":"use send with {\"to\":\"ann\"}"}`)
	o := got.outcome(t)
	if len(o.Parks) != 1 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return string(o.Parks[0].ToolCallID)
}

// An operator stops and answers what belongs to others. The audit log says who it was, to
// operators; the tenant and its record say that it was one.
func TestOperatorActs(t *testing.T) {
	t.Parallel()

	b := operated(t)
	b.work(t)
	call := b.parked(t, "t1", "r1")
	b.parked(t, "t2", "r2")
	b.parked(t, "t3", "r3")
	for _, c := range []struct {
		path, body string
		status     int
		text       string
	}{
		{
			adminRespondPath,
			`{"tenant":"a","runId":"r1","toolCallId":"` + call +
				`","approved":true,"reason":"it is fine","digest":"sha256:other"}`,
			409, `"reason":"changed"`,
		},
		{
			adminRespondPath, `{"tenant":"a","runId":"r1","toolCallId":"` + call + `","approved":true,"reason":"it is fine"}`,
			200, `{"delivered":true}`,
		},
		{
			adminRespondPath, `{"tenant":"a","runId":"r1","toolCallId":"` + call + `","approved":false}`, 409,
			`"delivered":false`,
		},
		{adminRespondPath, `{"runId":"r1","toolCallId":"` + call + `","approved":true}`, 404, "Run not found"},
		{adminStopPath, `{"tenant":"a","runId":"r2"}`, 200, `{"accepted":true}`},
		{adminStopPath, `{"tenant":"a","threadId":"t3"}`, 200, `{"accepted":true}`},
		{adminStopPath, `{"tenant":"a","runId":"r2"}`, 409, "Cannot stop run in state CANCELLED"},
		{adminStopPath, `{"tenant":"a","runId":"none"}`, 404, "Run not found"},
		{adminStopPath, `{"tenant":"a","threadId":"none"}`, 404, "Thread not found"},
		{adminStopPath, `{"tenant":"a"}`, 400, "either runId or threadId is required"},
		{adminStopPath, `{"runId":"r1","threadId":"t1"}`, 400, "either runId or threadId is required"},
		{adminStopPath, `{"runId":"no id"}`, 400, "runId"},
		{adminStopPath, `{"runId":5}`, 400, `"error":"runId must be a string"`},
		{adminRespondPath, `{"threadId":{}}`, 400, `"error":"threadId must be a string"`},
		{adminRespondPath, `{"runId":"r1","approved":true}`, 400, "toolCallId is required"},
		{adminRespondPath, `{"runId":"r1","toolCallId":"c"}`, 400, "approved is required"},
		{adminRespondPath, `{"toolCallId":"c","approved":true}`, 400, "either runId or threadId is required"},
	} {
		if got := b.as(t, operatorToken, http.MethodPost, c.path, c.body); got.status != c.status ||
			!strings.Contains(got.body, c.text) {
			t.Errorf("%s %s: %d %s, want %d %s", c.path, c.body, got.status, got.body, c.status, c.text)
		}
	}
	if o := b.as(t, tokenA, http.MethodGet, outcomePath+"/r1?wait=1m", "").outcome(t); o.State != wire.Completed ||
		!strings.Contains(o.Text, "sent to ann") {
		t.Errorf("the run that was answered: %+v", o.RunOutcome)
	}
	seen := into[auditList](t, b.as(t, operatorToken, http.MethodGet, auditPath+"?tenant=a", "")).acts()
	if want := []string{
		"answer olga ops t1 operator", "stop olga ops t2 operator", "stop olga ops t3 operator",
	}; !slices.Equal(seen, want) {
		t.Errorf("an operator sees %q", seen)
	}
	seen = into[auditList](t, b.as(t, tokenA, http.MethodGet, auditPath, "")).acts()
	if want := []string{"answer  t1 operator", "stop  t2 operator", "stop  t3 operator"}; !slices.Equal(seen, want) {
		t.Errorf("the tenant sees %q", seen)
	}
	history := b.as(t, tokenA, http.MethodGet, adminRunsPath+"/r1", "").body
	if !strings.Contains(history, `"answeredBy":"operator"`) || strings.Contains(history, "olga") {
		t.Errorf("the record: %s", history)
	}
}

// In its own tenant, who operates the server needs the scope of what it does, unless it is an
// operator, and is named like anybody else.
func TestAdminActs(t *testing.T) {
	t.Parallel()

	auth, err := access.Tokens([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
		{Token: secondA, Principal: access.Principal{Tenant: "a", Subject: "alan", Scopes: access.AllScopes()}},
		{
			Token:     readOnlyA,
			Principal: access.Principal{Tenant: "a", Subject: "rita", Scopes: []access.Scope{access.ScopeAdmin}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, server.Config{Authenticator: auth, OwnThreads: true})
	b.work(t)
	call := b.parked(t, "t1", "r1")
	for path, scope := range map[string]string{adminStopPath: "stop", adminRespondPath: "approve"} {
		got := b.as(t, readOnlyA, http.MethodPost, path, `{"runId":"r1","toolCallId":"`+call+`","approved":true}`)
		if got.status != http.StatusForbidden ||
			!strings.Contains(got.body, `the scope \"`+scope+`\" is required, or an operator`) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	// Nobody approves what it has started itself, by whatever way.
	got := b.as(t, tokenA, http.MethodPost, adminRespondPath, `{"runId":"r1","toolCallId":"`+call+`","approved":true}`)
	if got.status != http.StatusConflict || !strings.Contains(got.body, wire.ReasonSameApprover) {
		t.Errorf("who has started it: %d %s", got.status, got.body)
	}
	got = b.as(t, secondA, http.MethodPost, adminRespondPath, `{"threadId":"t1","toolCallId":"`+call+`","approved":false}`)
	if got.status != http.StatusOK {
		t.Errorf("somebody else: %d %s", got.status, got.body)
	}
	seen := into[auditList](t, b.as(t, readOnlyA, http.MethodGet, auditPath, "")).acts()
	if want := []string{"answer alan t1 operator"}; !slices.Equal(seen, want) {
		t.Errorf("the log: %q", seen)
	}
}

package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	overviewPath  = "/api/admin/overview"
	adminRunsPath = "/api/admin/runs"
	jobsPath      = "/api/admin/jobs"
	redrivePath   = "/api/admin/jobs/redrive"
	purgePath     = "/api/admin/jobs/purge"
	prunePath     = "/api/admin/prune"

	operatorToken = "token-of-the-operator"
)

// operated serves two tenants and an operator, who belongs to neither.
func operated(t *testing.T) *bundle {
	t.Helper()
	auth, err := access.Tokens([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
		{Token: tokenB, Principal: access.Principal{Tenant: "b", Subject: "bert", Scopes: access.AllScopes()}},
		{Token: operatorToken, Principal: access.Principal{
			Tenant: "ops", Subject: "olga", Scopes: []access.Scope{access.ScopeAdmin}, Operator: true,
		}},
		{
			Token:     "operator-without-scope",
			Principal: access.Principal{Tenant: "a", Scopes: []access.Scope{access.ScopeRead}, Operator: true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return setup(t, server.Config{Authenticator: auth})
}

// accepted starts a run as the token's tenant.
func (b *bundle) accepted(t *testing.T, token, thread, run string) {
	t.Helper()
	got := b.as(t, token, http.MethodPost, runPath,
		fmt.Sprintf(`{"threadId":%q,"runId":%q,"prompt":"Hello"}`, thread, run))
	if got.status != http.StatusAccepted {
		t.Fatalf("start: %d %s", got.status, got.body)
	}
}

// die has the only job of the queue die.
func (b *bundle) die(t *testing.T) int64 {
	t.Helper()
	taken, _, err := b.backend.Store.Claim(t.Context(), store.ClaimQuery{Limit: 1, Lease: time.Minute})
	if err != nil || len(taken) != 1 {
		t.Fatalf("claim: %d jobs, %v", len(taken), err)
	}
	d := taken[0]
	if err := b.engine.HandleDeadJob(t.Context(), d.Job, 3, "given up"); err != nil {
		t.Fatal(err)
	}
	if err := b.backend.Store.Ack(t.Context(), d, store.Ack{Kind: store.AckDead, Cause: "given up"}); err != nil {
		t.Fatal(err)
	}
	return d.JobID
}

// into reads the body of a successful answer.
func into[T any](t *testing.T, got answer) (v T) {
	t.Helper()
	if got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if err := json.Unmarshal([]byte(got.body), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

type runList struct {
	Runs []struct {
		ID       string
		ThreadID string
		State    wire.State
	}
	Next string
}

func (l runList) ids() string {
	var ids []string
	for _, r := range l.Runs {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func TestOverview(t *testing.T) {
	t.Parallel()

	b := operated(t)
	b.accepted(t, tokenA, "t1", "r1")
	b.accepted(t, tokenB, "t1", "other")
	b.die(t)
	b.accepted(t, tokenA, "t2", "r2")
	got := b.as(t, tokenA, http.MethodGet, overviewPath, "")
	o := into[wire.Overview](t, got)
	if o.Tenant != "a" || o.Threads != 2 || o.Runs != 2 || o.RunsByState[wire.Queued] != 1 ||
		o.RunsByState[wire.Failed] != 1 ||
		o.Queue.Dead != 1 || o.Queue.Ready != 1 || len(o.Active) != 1 || o.Active[0].ID != "r2" {
		t.Errorf("the overview: %s", got.body)
	}
	if strings.Contains(got.body, "other") {
		t.Errorf("it has another tenant's run: %s", got.body)
	}
	none := b.as(t, operatorToken, http.MethodGet, overviewPath, "")
	want := `{"tenant":"ops","threads":0,"runs":0,"runsByState":{},"tokens":{"inputTokens":0,"cachedInputTokens":0,"outputTokens":0,` +
		`"totalTokens":0},"bytes":0,"queue":{"ready":0,"delayed":0,"inFlight":0,"dead":0,"oldestReadyMs":0},"active":[]}`
	if none.status != 200 || none.body != want {
		t.Errorf("of a tenant that has nothing: %d %s", none.status, none.body)
	}
}

// A page ends where the next begins, whatever is started in between.
func TestAdminRunsPages(t *testing.T) {
	t.Parallel()

	b := operated(t)
	var want []string
	for i := range 7 {
		id := fmt.Sprintf("r%d", i)
		b.accepted(t, tokenA, "t-"+id, id)
		want = append([]string{id}, want...)
	}
	b.accepted(t, tokenB, "t", "other")
	var got []string
	path := adminRunsPath + "?limit=2"
	for page := 0; path != ""; page++ {
		list := into[runList](t, b.as(t, tokenA, http.MethodGet, path, ""))
		got = append(got, strings.Fields(list.ids())...)
		id := fmt.Sprintf("late%d", page)
		b.accepted(t, tokenA, "t-"+id, id)
		path = ""
		if list.Next != "" {
			path = adminRunsPath + "?limit=2&before=" + strings.ReplaceAll(list.Next, "+", "%2B")
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages of %v, want %v", got, want)
	}
	// Without a limit there is one.
	for i := range 50 {
		b.accepted(t, tokenA, fmt.Sprintf("more%d", i), fmt.Sprintf("more%d", i))
	}
	list := into[runList](t, b.as(t, tokenA, http.MethodGet, adminRunsPath, ""))
	if len(list.Runs) != 50 || list.Next == "" {
		t.Errorf("%d runs and next %q", len(list.Runs), list.Next)
	}
}

func TestAdminRunsFilters(t *testing.T) {
	t.Parallel()

	b := operated(t)
	b.accepted(t, tokenA, "t1", "r1")
	b.die(t)
	b.accepted(t, tokenA, "t1", "r2")
	b.accepted(t, tokenA, "t2", "r3")
	for query, want := range map[string]string{
		"":                                   "r3 r2 r1",
		"threadId=t1":                        "r2 r1",
		"state=FAILED":                       "r1",
		"state=QUEUED":                       "r3 r2",
		"stopReason=failed":                  "r1",
		"agent=assistant":                    "r3 r2 r1",
		"agent=nobody":                       "",
		"model=demo&threadId=t2":             "r3",
		"depth=0":                            "r3 r2 r1",
		"depth=1":                            "",
		"createdAfter=2100-01-01T00:00:00Z":  "",
		"createdBefore=2100-01-01T00:00:00Z": "r3 r2 r1",
		"tenant=a&limit=1":                   "r3",
		"state=&threadId=t2":                 "r3",
	} {
		list := into[runList](t, b.as(t, tokenA, http.MethodGet, adminRunsPath+"?"+query, ""))
		if list.ids() != want {
			t.Errorf("%s: got %q, want %q", query, list.ids(), want)
		}
	}
	if list := b.as(t, tokenA, http.MethodGet, adminRunsPath+"?agent=nobody", ""); list.body != `{"runs":[]}` {
		t.Errorf("no runs: %s", list.body)
	}
}

func TestAdminRun(t *testing.T) {
	t.Parallel()

	b := operated(t)
	b.work(t)
	got := b.as(t, tokenA, http.MethodPost, runPath,
		`{"threadId":"t1","runId":"r1","prompt":"use send with {\"to\":\"bob\"}"}`)
	if got.status != http.StatusAccepted {
		t.Fatal(got.body)
	}
	b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA}).until(t, entry(wire.EntryInputRequired))
	d := into[wire.RunDetail](t, b.as(t, tokenA, http.MethodGet, adminRunsPath+"/r1", ""))
	if d.Run.ID != "r1" || d.Run.State != wire.WaitingForInput || len(d.Entries) == 0 || len(d.Usage) != 1 ||
		len(d.Parks) != 1 {
		t.Errorf("the run: %+v", d)
	}
	if len(d.Steps) != 1 || d.Steps[0].Index != 1 || len(d.Steps[0].Calls) != 1 ||
		d.Steps[0].Calls[0].ToolName != "send" ||
		d.Steps[0].Calls[0].Park != wire.ParkOpen || d.Steps[0].TotalTokens == 0 {
		t.Errorf("the steps: %+v", d.Steps)
	}
	for path, want := range map[string]string{
		adminRunsPath + "/none": `{"error":"Run not found","code":"not_found"}`,
		adminRunsPath + "/":     `{"error":"no such path: /api/admin/runs/","code":"not_found"}`,
		adminRunsPath + "/r1/x": `{"error":"no such path: /api/admin/runs/r1/x","code":"not_found"}`,
		adminRunsPath +
			"/r%201": `{"error":"runId may only have letters, digits and the characters . _ : -","code":"invalid"}`,
	} {
		if got := b.as(t, tokenA, http.MethodGet, path, ""); got.body != want {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := b.as(t, tokenA, http.MethodPost, adminRunsPath+"/r1", "{}"); got.status != http.StatusMethodNotAllowed ||
		got.header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("a POST: %d %s", got.status, got.header.Get("Allow"))
	}
}

// What belongs to another tenant answers like what does not exist, and only an operator may
// name a tenant.
func TestAdminTenants(t *testing.T) {
	t.Parallel()

	b := operated(t)
	b.accepted(t, tokenA, "secret-thread", "secret-run")
	job := b.die(t)
	before := b.everything(t)
	none := strconv.FormatInt(job+1, 10)
	for name, c := range map[string]struct {
		method, path, body string
		status             int
	}{
		"Run":     {http.MethodGet, adminRunsPath + "/RUN", "", 404},
		"Runs":    {http.MethodGet, adminRunsPath + "?threadId=THREAD", "", 200},
		"Dead":    {http.MethodGet, jobsPath + "?state=dead", "", 200},
		"Redrive": {http.MethodPost, redrivePath, `{"jobId":JOB}`, 404},
		"All":     {http.MethodPost, redrivePath, `{"all":true}`, 200},
		"Purge":   {http.MethodPost, purgePath, `{"jobId":JOB}`, 404},
		"Prune":   {http.MethodPost, prunePath, `{"olderThan":"0s"}`, 200},
		"Tenant":  {http.MethodGet, overviewPath + "?tenant=TENANT", "", 403},
		"Named":   {http.MethodPost, prunePath, `{"olderThan":"0s","tenant":"TENANT"}`, 403},
	} {
		theirs := strings.NewReplacer("RUN", "secret-run", "THREAD", "secret-thread", "JOB", strconv.FormatInt(job, 10),
			"TENANT", "a")
		nobodys := strings.NewReplacer("RUN", "none", "THREAD", "none", "JOB", none, "TENANT", "none")
		got := b.as(t, tokenB, c.method, theirs.Replace(c.path), theirs.Replace(c.body))
		want := b.as(t, tokenB, c.method, nobodys.Replace(c.path), nobodys.Replace(c.body))
		if got.status != c.status || got.status != want.status ||
			strings.Replace(got.body, `"jobId":`+strconv.FormatInt(job, 10), `"jobId":`+none, 1) != want.body {
			t.Errorf("%s: another tenant's: %d %s\none that is none: %d %s", name, got.status, got.body, want.status, want.body)
		}
		if strings.Contains(got.body, "secret") {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	if after := b.everything(t); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("another tenant changed something: %v", after)
	}

	o := into[wire.Overview](t, b.as(t, operatorToken, http.MethodGet, overviewPath+"?tenant=a", ""))
	if o.Tenant != "a" || o.Runs != 1 || o.Queue.Dead != 1 {
		t.Errorf("the operator sees %+v", o)
	}
	if got := b.as(t, operatorToken, http.MethodGet, adminRunsPath+"/secret-run?tenant=a", ""); got.status != 200 {
		t.Errorf("the operator: %d %s", got.status, got.body)
	}
	for path, want := range map[string]string{
		historyPath + "?threadId=secret-thread&tenant=a": `the scope \"read\" is required`,
		adminRunsPath + "/secret-run":                    "Run not found",
		overviewPath + "?tenant=a+b":                     "tenant",
	} {
		if got := b.as(t, operatorToken, http.MethodGet, path, ""); got.status < 400 || !strings.Contains(got.body, want) {
			t.Errorf("the operator at %s: %d %s", path, got.status, got.body)
		}
	}
	if got := b.as(t, "operator-without-scope", http.MethodGet, overviewPath+"?tenant=b", ""); got.status != 403 {
		t.Errorf("an operator without the scope: %d %s", got.status, got.body)
	}
	redriven := b.as(t, operatorToken, http.MethodPost, redrivePath, fmt.Sprintf(`{"tenant":"a","jobId":%d}`, job))
	if redriven.status != 200 || !strings.Contains(redriven.body, `"redriven":1`) {
		t.Errorf("the operator redrives: %d %s", redriven.status, redriven.body)
	}
	if log := b.logged.String(); !strings.Contains(log, "msg=audit action=redrive_job") ||
		!strings.Contains(log, "by=olga by_tenant=ops") {
		t.Errorf("the log: %s", log)
	}
}

func TestAdminBadInput(t *testing.T) {
	t.Parallel()

	b := operated(t)
	b.accepted(t, tokenA, "t1", "r1")
	b.die(t)
	before := b.everything(t)
	for _, c := range []badInput{
		{http.MethodGet, adminRunsPath + "?limit=0", "", 400, invalid("limit must be an integer from 1 to 1000")},
		{http.MethodGet, adminRunsPath + "?limit=1001", "", 400, invalid("limit must be an integer from 1 to 1000")},
		{http.MethodGet, adminRunsPath + "?before=x", "", 400, invalid("before must be the next of an earlier page")},
		{
			http.MethodGet, adminRunsPath + "?before=2026-01-02T03:04:05Z~a+b", "", 400,
			invalid("before must be the next of an earlier page"),
		},
		{
			http.MethodGet, adminRunsPath + "?state=IDLE", "", 400,
			invalid("state must be QUEUED, RUNNING, WAITING_FOR_INPUT, COMPLETED, CANCELLED or FAILED"),
		},
		{
			http.MethodGet, adminRunsPath + "?createdAfter=noon", "", 400,
			invalid("createdAfter must be a time such as 2026-01-02T03:04:05Z"),
		},
		{http.MethodGet, adminRunsPath + "?threadId=a+b", "", 400, invalid("threadId" + badChars)},
		{http.MethodGet, jobsPath + "?state=lost", "", 400, invalid("state must be dead, stuck, ready, delayed or inflight")},
		{
			http.MethodGet, jobsPath + "?state=dead&before=2026-01-02T03:04:05Z~x", "", 400,
			invalid("before must be the next of an earlier page"),
		},
		{http.MethodPost, redrivePath, `{}`, 400, invalid("either jobId or all is required")},
		{http.MethodPost, redrivePath, `{"jobId":1,"all":true}`, 400, invalid("either jobId or all is required")},
		{http.MethodPost, redrivePath, `{"jobId":-1}`, 400, invalid("jobId must be the number of a job")},
		{http.MethodPost, redrivePath, `{"jobId":"1"}`, 400, invalid("jobId must be an integer")},
		{http.MethodPost, redrivePath, `{"all":true,"limit":1001}`, 400, invalid("limit must be an integer from 1 to 1000")},
		{
			http.MethodPost, redrivePath, `{"all":true,"before":"x"}`, 400,
			invalid("before must be the next of an earlier page"),
		},
		{http.MethodPost, purgePath, `{}`, 400, invalid("either jobId or all is required")},
		{
			http.MethodPost, purgePath, `{"all":true,"olderThan":"30 days"}`, 400,
			invalid(`olderThan must be a duration such as \"720h\"`),
		},
		{
			http.MethodPost, purgePath, `{"all":true,"olderThan":"-1h"}`, 400,
			invalid(`olderThan must be a duration such as \"720h\"`),
		},
		{
			http.MethodGet, jobsPath + "?state=stuck&olderThan=1y", "", 400,
			invalid(`olderThan must be a duration such as \"720h\"`),
		},
		{
			http.MethodGet, jobsPath + "?state=stuck&olderThan=-1h", "", 400,
			invalid(`olderThan must be a duration such as \"720h\"`),
		},
		{http.MethodGet, adminRunsPath + "?depth=-1", "", 400, invalid("depth must be an integer from 0 to 100")},
		{http.MethodPost, prunePath, `{}`, 400, invalid("olderThan is required")},
		{http.MethodPost, prunePath, `{"olderThan":"-1h"}`, 400, invalid(`olderThan must be a duration such as \"720h\"`)},
		{
			http.MethodPost, prunePath, `{"olderThan":"1h","limit":-1}`, 400, invalid("limit must be an integer from 1 to 1000"),
		},
		{http.MethodPost, prunePath, `{"olderThan":"1h","tenant":"a b"}`, 400, invalid("tenant" + badChars)},
	} {
		if got := b.as(t, tokenA, c.method, c.path, c.body); got.status != c.status || got.body != c.want {
			t.Errorf("%s %s %s: %d %s\nwant %d %s", c.method, c.path, c.body, got.status, got.body, c.status, c.want)
		}
	}
	if after := b.everything(t); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("something was changed: %v", after)
	}
}

type jobList struct {
	Jobs []struct {
		JobID        int64
		State, RunID string
		Cause        string
		Attempts     int
	}
	Next string
}

func TestAdminJobs(t *testing.T) {
	t.Parallel()

	b := operated(t)
	jobs := func(query, want string) {
		t.Helper()
		var got []string
		path := jobsPath + "?" + query
		for path != "" {
			list := into[jobList](t, b.as(t, tokenA, http.MethodGet, path, ""))
			for _, j := range list.Jobs {
				got = append(got, j.RunID+":"+j.State)
			}
			path = ""
			if list.Next != "" {
				path = jobsPath + "?" + query + "&before=" + list.Next
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	jobs("", "")
	for _, id := range []string{"r1", "r2", "r3"} {
		b.accepted(t, tokenA, "t-"+id, id)
		b.die(t)
	}
	b.accepted(t, tokenA, "t4", "r4")
	jobs("state=dead", "r3:dead r2:dead r1:dead")
	jobs("state=dead&limit=1", "r3:dead r2:dead r1:dead")
	jobs("state=ready", "r4:ready")
	jobs("state=stuck", "")
	jobs("state=stuck&olderThan=0s", "r4:ready")
	if _, _, err := b.backend.Store.Claim(t.Context(), store.ClaimQuery{Limit: 1, Lease: time.Minute}); err != nil {
		t.Fatal(err)
	}
	jobs("state=inflight", "r4:inflight")
	jobs("state=delayed", "")
	jobs("", "r4:inflight")
	list := into[jobList](t, b.as(t, tokenA, http.MethodGet, jobsPath+"?state=dead&limit=1", ""))
	if list.Jobs[0].Cause != "given up" || list.Jobs[0].Attempts != 1 || list.Jobs[0].JobID == 0 {
		t.Errorf("a dead job: %+v", list.Jobs[0])
	}
	one := b.as(t, tokenA, http.MethodPost, purgePath, fmt.Sprintf(`{"jobId":%d}`, list.Jobs[0].JobID))
	if one.body != `{"purged":1}` {
		t.Errorf("purge one: %d %s", one.status, one.body)
	}
	if again := b.as(
		t, tokenA, http.MethodPost, purgePath, fmt.Sprintf(`{"jobId":%d}`, list.Jobs[0].JobID),
	); again.status != 404 {
		t.Errorf("purge it again: %d %s", again.status, again.body)
	}
	if none := b.as(t, tokenA, http.MethodPost, purgePath, `{"all":true,"olderThan":"1h"}`); none.body != `{"purged":0}` {
		t.Errorf("purge the old ones: %d %s", none.status, none.body)
	}
	if all := b.as(t, tokenA, http.MethodPost, purgePath, `{"all":true}`); all.body != `{"purged":2}` {
		t.Errorf("purge all: %d %s", all.status, all.body)
	}
	jobs("state=dead", "")
}

type redriveAnswer struct {
	Redriven, Refused int
	Results           []wire.RedriveResult
	Next              string
}

func TestAdminRedrive(t *testing.T) {
	t.Parallel()

	b := operated(t)
	b.accepted(t, tokenA, "t1", "r1")
	first := b.die(t)
	// A later run of the same thread, and other threads.
	b.accepted(t, tokenA, "t1", "r2")
	last := b.die(t)
	for _, id := range []string{"r3", "r4"} {
		b.accepted(t, tokenA, "t-"+id, id)
		b.die(t)
	}
	one := into[redriveAnswer](t, b.as(t, tokenA, http.MethodPost, redrivePath, fmt.Sprintf(`{"jobId":%d}`, last)))
	if one.Redriven != 1 || one.Results[0].ThreadID != "t1" || one.Results[0].RunID == "" {
		t.Errorf("one: %+v", one)
	}
	for path, want := range map[string]int{
		fmt.Sprintf(`{"jobId":%d}`, last): 404, fmt.Sprintf(`{"jobId":%d}`, first): 409,
	} {
		if got := b.as(t, tokenA, http.MethodPost, redrivePath, path); got.status != want ||
			!strings.Contains(got.body, `"refused":1`) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	// One by one, the refused one does not stop the others.
	total, body := redriveAnswer{}, `{"all":true,"limit":1}`
	for calls := 0; body != "" && calls < 10; calls++ {
		page := into[redriveAnswer](t, b.as(t, tokenA, http.MethodPost, redrivePath, body))
		total.Redriven += page.Redriven
		total.Refused += page.Refused
		body = ""
		if page.Next != "" {
			body = fmt.Sprintf(`{"all":true,"limit":1,"before":%q}`, page.Next)
		}
	}
	if total.Redriven != 2 || total.Refused != 1 {
		t.Errorf("all: %+v", total)
	}
	b.work(t)
	b.completes(t, "a", 3)
}

// completes waits until so many runs are completed.
func (b *bundle) completes(t *testing.T, tenant spool.Tenant, runs int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		done, err := b.engine.Runs(ctx, tenant, wire.RunQuery{State: wire.Completed})
		if err == nil && len(done) == runs {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%d completed runs, %v", len(done), err)
		case <-tick.C:
		}
	}
}

func TestAdminPrune(t *testing.T) {
	t.Parallel()

	b := operated(t)
	b.accepted(t, tokenA, "done", "r1")
	b.die(t)
	b.accepted(t, tokenB, "theirs", "r1")
	b.die(t)
	b.accepted(t, tokenA, "active", "r2")
	for body, want := range map[string]string{
		`{"olderThan":"1h","dryRun":true}`: `{"dryRun":true,"threads":0,"threadIds":[],"more":false}`,
		`{"olderThan":"0s","dryRun":true}`: `{"dryRun":true,"threads":1,"threadIds":["done"],"more":false}`,
	} {
		if got := b.as(t, tokenA, http.MethodPost, prunePath, body); got.status != 200 || got.body != want {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	got := b.as(t, tokenA, http.MethodPost, prunePath, `{"olderThan":"0s","limit":1}`)
	if want := `{"dryRun":false,"threads":1,"threadIds":["done"],"more":true}`; got.body != want {
		t.Errorf("prune: %d %s", got.status, got.body)
	}
	got = b.as(t, tokenA, http.MethodPost, prunePath, `{"olderThan":"0s"}`)
	if want := `{"dryRun":false,"threads":0,"threadIds":[],"more":false}`; got.body != want {
		t.Errorf("prune again: %d %s", got.status, got.body)
	}
	for token, want := range map[string]string{tokenA: `"active"`, tokenB: `"theirs"`} {
		if list := b.as(t, token, http.MethodGet, threadsPath, ""); !strings.Contains(list.body, want) ||
			strings.Contains(list.body, `"done"`) {
			t.Errorf("what is left: %s", list.body)
		}
	}
}

package client_test

import (
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// all returns the elements of a list.
func all[T any](t *testing.T, list iter.Seq2[T, error]) (out []T) {
	t.Helper()

	for element, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, element)
	}
	return out
}

func operator(_ *engine.Config, sc *server.Config) {
	auth, err := access.Tokens([]access.Token{
		{Token: goodToken, Principal: access.Principal{Tenant: "acme", Subject: "ann", Scopes: access.AllScopes()}},
		{
			Token:     "operator",
			Principal: access.Principal{Tenant: "ops", Subject: "olga", Scopes: access.AllScopes(), Operator: true},
		},
	})
	if err != nil {
		panic(err)
	}
	sc.Authenticator = auth
}

func TestOperate(t *testing.T) {
	t.Parallel()

	n, c := setup(t, operator)
	ctx := testwait.Context(t, "the operations")
	olga := connect(t, n.url(), func(o *client.Options) { o.Token = client.StaticToken("operator") })
	acme := olga.OfTenant("acme")

	o := run(t, c, client.RunRequest{ThreadID: "t1", Prompt: `use send with {"to":"ann"}`})
	d := must(c.RunDetail(ctx, o.RunID))(t)
	if d.Run.ID != o.RunID || len(d.Parks) != 1 {
		t.Fatalf("detail %+v", d)
	}
	if _, err := olga.RunDetail(ctx, o.RunID); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("a run of another tenant: %v", err)
	}
	if d := must(acme.RunDetail(ctx, o.RunID))(t); d.Run.ID != o.RunID {
		t.Errorf("detail for an operator: %+v", d)
	}
	ask := o.Parks[0]
	answer := client.RespondRequest{
		ToolCallID: ask.ToolCallID, Approved: true, Digest: ask.Digest, Arguments: json.RawMessage(`{"to":"bob"}`),
	}
	if r := must(acme.OperatorRespond(ctx, client.Target{RunID: o.RunID}, answer))(t); !r.Delivered {
		t.Errorf("answer: %+v", r)
	}
	if o := await(t, c, o.RunID); o.State != wire.Completed {
		t.Errorf("outcome %+v", o)
	}
	if r := must(acme.OperatorRespond(ctx, client.Target{ThreadID: "t1"}, answer))(t); r.Delivered || r.Reason == "" {
		t.Errorf("a second answer: %+v", r)
	}

	o = run(t, c, client.RunRequest{ThreadID: "t1", Prompt: `use send with {"to":"ann"}`})
	if r := must(acme.OperatorStop(ctx, client.Target{ThreadID: "t1"}))(t); !r.Accepted {
		t.Errorf("stop: %+v", r)
	}
	if r := must(acme.OperatorStop(ctx, client.Target{RunID: o.RunID}))(t); r.Accepted {
		t.Errorf("a second stop: %+v", r)
	}
	if _, err := c.OfTenant("other").OperatorStop(
		ctx, client.Target{ThreadID: "t1"},
	); spool.CodeOf(err) != spool.Forbidden {
		t.Errorf("no operator: %v", err)
	}

	entries := all(t, acme.Audit(ctx, client.AuditFilter{ThreadID: "t1", PageSize: 1}))
	if len(entries) != 2 || entries[0].Action != wire.AuditStop || !entries[0].Operator || entries[0].ByTenant != "ops" {
		t.Errorf("audit %+v", entries)
	}
	if list := all(t, olga.Revisions(ctx, "assistant")); len(list) == 0 {
		t.Error("there are no revisions")
	} else if r := must(olga.Revision(ctx, list[0].ID))(t); r.ID != list[0].ID {
		t.Errorf("revision %+v", r)
	}
	if _, err := olga.Revision(ctx, "rev_none"); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("no revision: %v", err)
	}
	if p := must(acme.Prune(ctx, client.PruneRequest{OlderThan: time.Hour, DryRun: true}))(t); len(p.ThreadIDs) != 0 {
		t.Errorf("prune %+v", p)
	}
	if p := must(acme.Prune(ctx, client.PruneRequest{OlderThan: time.Nanosecond}))(t); len(p.ThreadIDs) != 1 ||
		p.ThreadIDs[0] != "t1" {
		t.Errorf("prune %+v", p)
	}
	if err := connect(t, n.url(), func(o *client.Options) { o.Token = nil }).Healthy(ctx); err != nil {
		t.Errorf("healthy: %v", err)
	}
}

func TestDeadJobs(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the jobs")
	if list := all(t, c.Jobs(ctx, client.JobFilter{State: "stuck", OlderThan: time.Hour})); len(list) != 0 {
		t.Errorf("stuck jobs %+v", list)
	}
	if r := must(c.Redrive(ctx, 99))(t); r.Accepted || r.Reason != wire.ReasonNotFound {
		t.Errorf("redrive of nothing: %+v", r)
	}
	if _, err := c.Redrive(ctx, 0); spool.CodeOf(err) != spool.Invalid || client.StatusOf(err) != http.StatusBadRequest {
		t.Errorf("redrive of no job: %v", err)
	}
	if found, err := c.Purge(ctx, 99); found || spool.CodeOf(err) != spool.NotFound && err != nil {
		t.Errorf("a purge of nothing: %v, %v", found, err)
	}
	if n := must(c.PurgeAll(ctx, 0))(t); n != 0 {
		t.Errorf("%d jobs were purged", n)
	}
}

// The fixtures of the admin endpoints are what the client reads.
func TestOperateFixtures(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile(filepath.Join("..", "spec", "fixtures", "admin.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Results []struct {
			Name   string
			Status int
			Value  json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	fixed := func(name string) *client.Client {
		return connect(t, "http://127.0.0.1:1", func(o *client.Options) {
			o.HTTPClient.Transport = transport(func(r *http.Request) (*http.Response, error) {
				res := &http.Response{
					StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
				}
				body := "{}"
				for _, f := range file.Results {
					if f.Name == name && r.URL.Query().Get("before") == "" {
						res.StatusCode, body = f.Status, string(f.Value)
					}
				}
				res.Body = io.NopCloser(strings.NewReader(body))
				return res, nil
			})
		})
	}
	ctx := t.Context()
	flying := all(t, fixed("a job in flight").Jobs(ctx, client.JobFilter{}))
	if len(flying) != 1 || flying[0].JobID != 7 || flying[0].LockedUntil.IsZero() || flying[0].Kind != "start" {
		t.Errorf("in flight: %+v", flying)
	}
	fallen := all(t, fixed("a page of dead jobs").Jobs(ctx, client.JobFilter{State: "dead"}))
	if len(fallen) != 1 || fallen[0].Cause != "given up" || fallen[0].DiedAt.IsZero() || fallen[0].Attempts != 3 {
		t.Errorf("dead: %+v", fallen)
	}
	if r := must(fixed("a job is redriven").Redrive(ctx, 7))(t); !r.Accepted || r.RunID != "run_2" {
		t.Errorf("redriven: %+v", r)
	}
	if r := must(fixed("a job needs no redrive").Redrive(ctx, 7))(t); r.Accepted || r.Reason != wire.ReasonMovedOn {
		t.Errorf("not redriven: %+v", r)
	}
	if n := must(fixed("dead jobs are purged").PurgeAll(ctx, time.Hour))(t); n != 3 {
		t.Errorf("%d jobs were purged", n)
	}
	log := all(t, fixed("a page of the audit log").Audit(ctx, client.AuditFilter{}))
	if len(log) != 2 || log[1].Approved == nil || !*log[1].Approved || log[1].Reason != "it is Monday" {
		t.Errorf("audit: %+v", log)
	}
}

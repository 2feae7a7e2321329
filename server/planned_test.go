package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

const (
	webhooksPath  = "/api/agent/webhooks"
	schedulesPath = "/api/agent/schedules"
)

// setupPlanned is setup with webhooks and schedules. Makers may do later what they may do now.
func setupPlanned(t *testing.T, c server.Config) *bundle {
	t.Helper()

	sender, err := webhook.NewSender(webhook.Config{Egress: egress.Policy{Allow: []string{"127.0.0.1"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	vault, err := server.NewVault([][]byte{[]byte(strings.Repeat("k", 32))})
	if err != nil {
		t.Fatal(err)
	}
	return setupOver(t, c, engine.Config{
		Webhooks: option.Webhooks{
			Sender: sender, Vault: vault, Hosts: []option.WebhookHost{
				{Host: "hooks.example.com", Tenant: "a", Secrets: []string{"whsec_bm9ib2R5IGtub3dzIHRoaXMgc2VjcmV0IG9mIG91cnM="}},
			},
			MayTell: func(context.Context, wire.Maker, string) error { return nil },
		},
		Schedules: option.Schedules{
			MayStart: func(_ context.Context, m wire.Maker) (wire.Rights, error) {
				return m.Rights, nil
			},
		},
	})
}

// makes posts a body, which makes something, and reads the answer.
func makes[T any](t *testing.T, b *bundle, path, token, body string) (made T) {
	t.Helper()

	got := b.do(t, call{method: http.MethodPost, path: path, token: token, body: body})
	if got.status != http.StatusCreated {
		t.Fatalf("%s: %d %s", path, got.status, got.body)
	}
	if err := json.Unmarshal([]byte(got.body), &made); err != nil {
		t.Fatal(err)
	}
	return made
}

// Tokens of tenant a, whose subjects see only their own threads.
const (
	annOwn, benOwn = "token-of-ann-with-own-threads", "token-of-ben-with-own-threads"
	hooksOnly      = "token-with-the-scope-webhooks"
	plansOnly      = "token-with-the-scope-schedules"
)

func setupOwn(t *testing.T) *bundle {
	t.Helper()

	return setupSubjects(t, true)
}

// setupSubjects is setupPlanned with a token for each subject, who see only their own threads if own is true.
func setupSubjects(t *testing.T, own bool) *bundle {
	t.Helper()

	who := func(token string, tenant spool.Tenant, subject string, scopes ...access.Scope) access.Token {
		return access.Token{Token: token, Principal: access.Principal{Tenant: tenant, Subject: subject, Scopes: scopes}}
	}
	most := []access.Scope{
		access.ScopeRead, access.ScopeWrite, access.ScopeApprove, access.ScopeStop, access.ScopeWebhooks,
		access.ScopeSchedules,
	}
	auth, err := access.Tokens([]access.Token{
		who(annOwn, "a", "ann", most...), who(benOwn, "a", "ben", most...), who(tokenB, "b", "bert", most...),
		who(hooksOnly, "a", "hook", access.ScopeWebhooks), who(plansOnly, "a", "plan", access.ScopeSchedules),
		who(readOnlyA, "a", "rita", access.ScopeRead),
	})
	if err != nil {
		t.Fatal(err)
	}
	return setupPlanned(t, server.Config{Authenticator: auth, OwnThreads: own})
}

// others checks that calls answer others as if there were nothing, and a token without the scope with a 403.
func (b *bundle) others(t *testing.T, path string, asked []call, others ...string) {
	t.Helper()

	for _, c := range asked {
		c.path = path + c.path
		for _, token := range others {
			c.token = token
			if got := b.do(t, c); got.status != http.StatusNotFound {
				t.Errorf("%s %s of another subject: %d %s", c.method, c.path, got.status, got.body)
			}
		}
		c.token = readOnlyA
		if got := b.do(t, c); got.status != http.StatusForbidden {
			t.Errorf("%s %s without the scope: %d %s", c.method, c.path, got.status, got.body)
		}
	}
}

// The secret of an endpoint is shown once, and of its URL no more than the host. What one subject or tenant has made
// answers others as if it were not there.
func TestWebhooksAreOnesOwn(t *testing.T) {
	t.Parallel()

	b := setupOwn(t)
	const hidden = "hidden-in-the-path"
	body := `{"name":"mine","url":"https://127.0.0.1:1/` + hidden + `","events":["run.failed"]}`
	made := makes[wire.WebhookMade](t, b, webhooksPath, annOwn, body)
	if !strings.HasPrefix(made.Secret, "whsec_") || made.Origin != "https://127.0.0.1:1" || !made.OwnOnly ||
		made.MadeBy != "ann" {
		t.Errorf("made %+v", made)
	}
	asked := []call{
		{method: http.MethodGet, path: "/mine"},
		{method: http.MethodGet, path: "/mine/attempts"},
		{method: http.MethodGet, path: "/mine/dead"},
		{method: http.MethodPost, path: "/mine/test"},
		{method: http.MethodPost, path: "/mine/replay", body: `{"since":"2026-01-02T03:04:05Z"}`},
		{method: http.MethodPatch, path: "/mine", body: `{"text":true}`},
		{method: http.MethodPost, path: "/mine/secret"},
		{method: http.MethodDelete, path: "/mine/secret"},
		{method: http.MethodDelete, path: "/mine"},
	}
	b.others(t, webhooksPath, asked, benOwn, tokenB, hooksOnly)
	for _, c := range asked {
		c.path, c.token = webhooksPath+c.path, annOwn
		got := b.do(t, c)
		if got.status >= http.StatusBadRequest {
			t.Errorf("%s %s: %d %s", c.method, c.path, got.status, got.body)
		}
		if strings.Contains(got.body, hidden) || strings.Contains(got.body, made.Secret) {
			t.Errorf("%s %s shows what is hidden: %s", c.method, c.path, got.body)
		}
	}
	makes[wire.WebhookMade](t, b, webhooksPath, tokenB, body)
	refused := b.do(t, call{
		method: http.MethodPost, path: webhooksPath, token: hooksOnly,
		body: `{"name":"x","url":"https://127.0.0.1:1/","approver":"ann"}`,
	})
	if refused.status != http.StatusForbidden || !strings.Contains(refused.body, `\"approve\"`) {
		t.Errorf("an approver without the scope: %d %s", refused.status, refused.body)
	}
	if text := b.logged.String(); strings.Contains(text, hidden) || strings.Contains(text, made.Secret) {
		t.Errorf("the log has what is hidden:\n%s", text)
	}
}

// A host for the webhooks of starts has a name that a path may have. Only those who see all threads of its tenant see
// it.
func TestHostsOfStarts(t *testing.T) {
	t.Parallel()

	all, own := setupSubjects(t, false), setupOwn(t)
	const host = webhooksPath + "/@hooks.example.com"
	for _, c := range []struct {
		call

		status int
	}{
		{call{method: http.MethodGet, path: host}, http.StatusOK},
		{call{method: http.MethodGet, path: host + "/attempts"}, http.StatusOK},
		{call{method: http.MethodGet, path: host + "/dead"}, http.StatusOK},
		{call{method: http.MethodPost, path: host + "/replay", body: `{"since":"2026-01-02T03:04:05Z"}`}, http.StatusOK},
		{call{method: http.MethodPost, path: host + "/test"}, http.StatusBadRequest},
		{call{method: http.MethodPost, path: host + "/secret"}, http.StatusForbidden},
		{call{method: http.MethodPatch, path: host, body: `{"disabled":true}`}, http.StatusForbidden},
		{call{method: http.MethodDelete, path: host}, http.StatusForbidden},
	} {
		for _, of := range []struct {
			b      *bundle
			token  string
			status int
		}{{all, annOwn, c.status}, {all, tokenB, http.StatusNotFound}, {own, annOwn, http.StatusNotFound}} {
			c.token = of.token
			if got := of.b.do(t, c.call); got.status != of.status {
				t.Errorf("%s %s: %d %s, want %d", c.method, c.path, got.status, got.body, of.status)
			}
		}
	}
	list := all.do(t, call{method: http.MethodGet, path: webhooksPath, token: annOwn})
	if !strings.Contains(list.body, `"name":"@hooks.example.com","origin":"hooks.example.com"`) {
		t.Errorf("the list is %s", list.body)
	}
}

// Schedules of others answer as if they were not there, and whoever may not start runs makes none.
func TestSchedulesAreOnesOwn(t *testing.T) {
	t.Parallel()

	b := setupOwn(t)
	const body = `{"name":"mine","cron":"0 3 * * *","zone":"Europe/Berlin","prompt":"the report"}`
	if made := makes[wire.Schedule](t, b, schedulesPath, annOwn, body); made.MadeBy != "ann" || len(made.Next) != 5 {
		t.Errorf("made %+v", made)
	}
	asked := []call{
		{method: http.MethodGet, path: "/mine"},
		{method: http.MethodGet, path: "/mine/ticks"},
		{method: http.MethodPatch, path: "/mine", body: `{"prompt":"another"}`},
		{method: http.MethodPost, path: "/mine/pause", body: `{"reason":"later"}`},
		{method: http.MethodPost, path: "/mine/resume"},
		{method: http.MethodPost, path: "/mine/run"},
		{method: http.MethodDelete, path: "/mine"},
	}
	b.others(t, schedulesPath, asked, benOwn, tokenB)
	for _, c := range asked {
		c.path, c.token = schedulesPath+c.path, annOwn
		if got := b.do(t, c); got.status >= http.StatusBadRequest {
			t.Errorf("%s %s: %d %s", c.method, c.path, got.status, got.body)
		}
	}
	post := func(path, token, body string) answer {
		return b.do(t, call{method: http.MethodPost, path: path, token: token, body: body})
	}
	if got := post(schedulesPath, plansOnly, body); got.status != http.StatusForbidden {
		t.Errorf("a maker that may not start runs: %d %s", got.status, got.body)
	}
	for _, wrong := range []string{
		`{"name":"x","prompt":"p","cron":"0 3 * *","zone":"UTC"}`, `{"name":"x","prompt":"p","cron":"0 3 * * *","zone":"UTX"}`,
		`{"name":"x","prompt":"p"}`, `{"name":"x","cron":"0 3 * * *","zone":"UTC"}`,
	} {
		if got := post(schedulesPath, annOwn, wrong); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", wrong, got.status, got.body)
		}
	}
	got := post(schedulesPath+"/preview", annOwn, `{"cron":"0 9 * * 1-5","zone":"Europe/Berlin"}`)
	var preview wire.SchedulePreview
	if err := json.Unmarshal([]byte(got.body), &preview); err != nil || len(preview.Next) != 5 ||
		preview.InWords != "at 09:00 on Monday to Friday (Europe/Berlin)" {
		t.Errorf("preview: %d %s", got.status, got.body)
	}
}

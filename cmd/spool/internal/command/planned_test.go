package command

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// What is wrong with an endpoint is told with its line and its field, and nothing of a URL or the environment is
// quoted.
func TestCheckWebhooks(t *testing.T) {
	t.Parallel()

	file := writeConfig(t, `models: {m: {provider: demo}}
agents: {a: {model: m}}
webhooks:
  endpoints:
    - {name: a, url: "http://hooks.example.com/${HIDDEN}", secrets: ["${SIGN}"]}
    - name: b
      url: https://10.1.2.3/hidden-path
      secrets: ["${SIGN}"]
      form: template
      template: '{{define "x"}}{{end}}'
    - name: c
      url: https://hooks.example.com/
      secrets: ["${SIGN}"]
      approver: ann
    - {name: d, url: "https://hooks.example.com/", secrets: ["${SIGN}"], form: template, template_file: none.tmpl}
    - {name: e, url: "https://hooks.example.com/", secrets: ["${SIGN}"], form: template, template: "{{${HIDDEN}"}
`)
	env := map[string]string{
		"SIGN": "whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB", "HIDDEN": "hidden-value", "SPOOL_TOKEN": "a-token-of-this-server",
	}
	got := command(env, "check", file)
	for _, want := range []string{
		":5: webhooks.endpoints[0].url: must be an https URL; http is for this machine",
		":7: webhooks.endpoints[1].url: must not lead there: ",
		":10: webhooks.endpoints[1].template: line 1",
		":14: webhooks.endpoints[2].approver: needs auth.stream_token_keys, which sign the links",
		":15: webhooks.endpoints[3].template_file: no such file or directory",
		":16: webhooks.endpoints[4].template: is not valid",
	} {
		if !strings.Contains(got.stderr, file+want) {
			t.Errorf("no %q in\n%s", want, got.stderr)
		}
	}
	for _, hidden := range []string{"hidden", env["SIGN"]} {
		if strings.Contains(got.stderr, hidden) {
			t.Errorf("it shows %q:\n%s", hidden, got.stderr)
		}
	}
}

// A file with endpoints and schedules says where they go, and when they come due.
func TestCheckSchedules(t *testing.T) {
	t.Parallel()

	file := writeConfig(t, `models: {m: {provider: demo}}
agents: {a: {model: m}}
auth: {tokens: [{token: a-token-of-this-server, scopes: [read]}], stream_token_keys: [0123456789abcdef0123456789abcdef]}
server: {public_url: "https://agents.example"}
webhooks:
  endpoints:
    - {name: billing, url: "https://hooks.example.com/hidden-path", secrets: [QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB], form: template, template_file: body.tmpl, approver: ann}
schedules:
  entries: [{name: once, tenant: acme, at: 2200-01-31T09:00:00Z, prompt: Now., scopes: [read, write]}]
`)
	body := filepath.Join(filepath.Dir(file), "body.tmpl")
	if err := os.WriteFile(body, []byte(`{"text": {{json .type}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := command(map[string]string{"SPOOL_DATA": t.TempDir()}, "check", file)
	for _, want := range []string{
		"webhooks  billing (hooks.example.com)\n",
		"schedules acme/once: once, at 09:00:00 on 31 January 2200 (UTC): Fri 2200-01-31 09:00 UTC\n", "problems  none\n",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("no %q in\n%s%s", want, got.stdout, got.stderr)
		}
	}
	if strings.Contains(got.stdout, "hidden") {
		t.Error(got.stdout)
	}
}

// The right of a maker is that of its token now.
func TestScheduleRights(t *testing.T) {
	t.Parallel()

	token := func(scopes ...access.Scope) access.Token {
		return access.Token{
			Token: "a-token-of-length", Principal: access.Principal{Tenant: "a", Subject: "ann", Scopes: scopes},
		}
	}
	list, err := access.Tokens([]access.Token{token(access.ScopeWrite, access.ScopeStop)})
	if err != nil {
		t.Fatal(err)
	}
	maker := makerOf(t, list)
	check := func(name string, r rights, m wire.Maker, want spool.Code) wire.Rights {
		got, err := r.mayStart(context.Background(), m)
		if (want == "") != (err == nil) || err != nil && spool.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		return got
	}
	if got := check("its token", rights{tokens: list, ownThreads: true}, maker, ""); len(got.Scopes) != 2 ||
		!got.OwnOnly ||
		got.MayNotStop {
		t.Errorf("its rights are %+v", got)
	}
	check("no token here", rights{}, maker, spool.Unavailable)
	if _, err := (rights{tokens: list, printed: true}).mayStart(t.Context(), maker); !errors.Is(err, option.ErrNoLookup) {
		t.Errorf("a token that was made for this process: %v", err)
	}
	another := maker
	another.Tenant = "b"
	check("another tenant", rights{tokens: list}, another, spool.Forbidden)
	person := wire.Maker{Tenant: spool.DefaultTenant, Kind: wire.MakerPrincipal}
	check("a principal", rights{tokens: list}, person, spool.Forbidden)
	if _, err := (rights{tokens: list}).mayStart(t.Context(), person); !errors.Is(err, option.ErrNoLookup) {
		t.Errorf("a principal: %v", err)
	}
	check("everybody", rights{open: true}, person, "")
	if err := list.Replace([]access.Token{token(access.ScopeWrite)}); err != nil {
		t.Fatal(err)
	}
	check("another token in its place", rights{tokens: list}, maker, spool.Forbidden)
	check("another one, and a token of this process", rights{tokens: list, printed: true}, maker, spool.Unavailable)
}

// makerOf returns ann of the tenant a, with the token a-token-of-length, as a maker.
func makerOf(t *testing.T, list *access.TokenList) wire.Maker {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer a-token-of-length")
	p, err := list.Authenticate(request)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Maker{Tenant: "a", Subject: "ann", Kind: wire.MakerToken, Credentials: p.Credentials}
}

// The right to an endpoint needs the scope webhooks, and approve if the endpoint has an approver.
func TestWebhookRights(t *testing.T) {
	t.Parallel()

	list, err := access.Tokens([]access.Token{{Token: "a-token-of-length", Principal: access.Principal{
		Tenant: "a", Subject: "ann", Scopes: []access.Scope{access.ScopeWebhooks},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	maker := makerOf(t, list)
	own := maker
	own.OwnOnly = true
	for name, c := range map[string]struct {
		rights   rights
		maker    wire.Maker
		approver string
		want     spool.Code
	}{
		"its token":              {rights{tokens: list}, maker, "", ""},
		"an approver":            {rights{tokens: list}, maker, "dora", spool.Forbidden},
		"own threads only":       {rights{tokens: list, ownThreads: true}, own, "", ""},
		"sees all threads still": {rights{tokens: list, ownThreads: true}, maker, "", spool.Forbidden},
		"no token here":          {rights{}, maker, "", spool.Unavailable},
	} {
		if err := c.rights.mayTell(t.Context(), c.maker, c.approver); (err == nil) != (c.want == "") ||
			err != nil && spool.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

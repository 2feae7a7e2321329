package server_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// posts counts the requests to endpoints, and answers each with a 200.
type posts struct{ atomic.Int64 }

func (p *posts) RoundTrip(r *http.Request) (*http.Response, error) {
	p.Add(1)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// What a token has made ends when the token is taken out of the file: its delayed start is refused when it comes due,
// and its endpoint gets no event.
func TestRightsEndWithToken(t *testing.T) {
	t.Parallel()

	who := func(token, subject string) access.Token {
		return access.Token{Token: token, Principal: access.Principal{
			Tenant: "a", Subject: subject, Scopes: access.AllScopes(),
		}}
	}
	const leaver = "token-of-somebody-who-leaves"
	list, err := access.Tokens([]access.Token{who(tokenA, "anna"), who(leaver, "lea")})
	if err != nil {
		t.Fatal(err)
	}
	may := func(ctx context.Context, m wire.Maker) (wire.Rights, error) {
		if p, ok := list.Holder(ctx, m.Credentials); ok && m.Kind == wire.MakerToken {
			return wire.Rights{Scopes: p.ScopeNames()}, nil
		}
		return wire.Rights{}, spool.Errorf(spool.Forbidden, "The token is not in the file any more")
	}
	var sent posts
	sender, err := webhook.NewSender(webhook.Config{Transport: &sent})
	if err != nil {
		t.Fatal(err)
	}
	vault, err := server.NewVault([][]byte{[]byte(strings.Repeat("k", 32))})
	if err != nil {
		t.Fatal(err)
	}
	b := setupOver(t, server.Config{Authenticator: list}, engine.Config{
		Schedules: option.Schedules{MayStart: may},
		Webhooks: option.Webhooks{
			Sender: sender, Vault: vault, MayTell: func(ctx context.Context, m wire.Maker, _ string) error {
				_, err := may(ctx, m)
				return err
			},
		},
	})
	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for run, token := range map[string]string{"r1": leaver, "r2": tokenA} {
		if got := b.as(t, token, http.MethodPost, runPath,
			`{"threadId":"`+run+`","runId":"`+run+`","prompt":"Hello","startAt":"`+at+`"}`); got.status != http.StatusAccepted {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	makes[wire.WebhookMade](t, b, webhooksPath, leaver,
		`{"name":"hers","url":"https://hooks.example.com/in","events":["run.completed"]}`)
	if err := list.Replace([]access.Token{who(tokenA, "anna")}); err != nil {
		t.Fatal(err)
	}
	b.work(t)
	for _, run := range []string{"r1", "r2"} {
		got := b.as(t, tokenA, http.MethodPatch, "/api/agent/starts/"+run, `{"startAt":"2020-01-01T00:00:00Z"}`)
		if got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	until(t, "the refusal", func() bool {
		got := b.as(t, tokenA, http.MethodGet, "/api/agent/starts/r1", "")
		return got.status == http.StatusOK && strings.Contains(got.body, `"reason":"forbidden"`) &&
			strings.Contains(got.body, "The token is not in the file any more")
	})
	until(t, "the end of the endpoint", func() bool { // r2 has told it
		got := b.as(t, tokenA, http.MethodGet, webhooksPath+"/hers", "")
		return strings.Contains(got.body, `"disabledReason":"the right of its maker has ended"`)
	})
	if n := sent.Load(); n > 0 {
		t.Errorf("%d events were sent", n)
	}
	if got := b.as(t, tokenA, http.MethodGet, "/api/agent/runs/r1", ""); got.status != http.StatusNotFound {
		t.Errorf("the run is there: %d %s", got.status, got.body)
	}
}

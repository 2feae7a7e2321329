package client_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/server"
)

// desk begins sign-ins with one ticket.
type desk struct{}

func (desk) ClientMetadata() json.RawMessage { return json.RawMessage(`{}`) }

func (desk) BeginSignIn(_ context.Context, ticket string, _ spool.Tenant, _ string) (string, *http.Cookie, error) {
	if ticket != "good" {
		return "", nil, spool.Errorf(spool.NotFound, "this link is not yours")
	}
	return "https://login.example/authorize?state=s1", &http.Cookie{Name: "sign-in", Value: "c1", MaxAge: 600}, nil
}

func (desk) FinishSignIn(*http.Request) (string, error) { return "", nil }

func TestBeginSignIn(t *testing.T) {
	t.Parallel()

	_, c := setup(t, func(_ *engine.Config, sc *server.Config) { sc.SignIns = desk{} })
	ctx := testwait.Context(t, "the sign-ins")
	s := must(c.BeginSignIn(ctx, "https://agents.example/oauth/sign-in?ticket=good"))(t)
	if s.URL != "https://login.example/authorize?state=s1" || s.Cookie == nil || s.Cookie.Value != "c1" ||
		time.Until(s.ExpiresAt) <= 0 {
		t.Errorf("sign-in %+v", s)
	}
	for link, want := range map[string]spool.Code{
		"https://agents.example/oauth/sign-in?ticket=bad": spool.NotFound,
		"https://agents.example/":                         spool.Invalid,
	} {
		if s, err := c.BeginSignIn(ctx, link); spool.CodeOf(err) != want || s != (client.SignIn{}) {
			t.Errorf("%s: %+v, %v, want %s", link, s, err, want)
		}
	}
}

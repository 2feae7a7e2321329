package enginetest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// made returns a request for an endpoint of the maker that is told when runs complete.
func made(m wire.Maker) wire.WebhookCreate {
	return wire.WebhookCreate{
		Name: "made", URL: "https://hooks.example.com/in", Maker: &m,
		WebhookFilter: wire.WebhookFilter{Events: []wire.WebhookType{wire.WebhookRunCompleted}},
	}
}

// direct is a network whose only peer is the receiver.
type direct struct{ *receiver }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// reaching returns a configuration whose endpoints all are the receiver.
func (s webhookTest) reaching(r *receiver) engine.Config {
	s.Helper()
	c := s.telling(s.config(spooltest.NewReplayModel(spooltest.Say("hi"))))
	sender, err := webhook.NewSender(webhook.Config{Transport: direct{r}})
	if err != nil {
		s.Fatal(err)
	}
	c.Webhooks.Sender = sender
	return c
}

// runs starts a run, and waits until it has ended.
func (s webhookTest) runs(e *engine.Engine, id spool.RunID) {
	s.Helper()
	s.start(e, id, "go")
	s.ended(wire.Completed)
}

// disabled waits until the endpoint is disabled for a reason.
func (s webhookTest) disabled(e *engine.Engine, reason string) {
	s.Helper()
	s.until("the end of the endpoint", func() bool {
		got, err := e.Webhook(context.Background(), chat.Tenant, "made")
		return err == nil && !got.DisabledAt.IsZero() && got.DisabledReason == reason
	})
}

// testWebhookRight has an endpoint whose maker loses the right to it. It gets nothing more, and only the maker puts it
// back, with other credentials.
func testWebhookRight(s webhookTest) {
	var r receiver
	r.status.Store(http.StatusOK)
	m := &may{}
	c := s.reaching(&r)
	c.Webhooks.MayTell = func(ctx context.Context, maker wire.Maker, approver string) error {
		_, err := m.start(ctx, maker)
		if approver != "" || maker.Credentials == "newer" {
			err = nil
		}
		return err
	}
	e := s.working(c)
	ctx := engine.WithActor(context.Background(), wire.Actor{Tenant: chat.Tenant, Subject: "ann"})
	ended := spool.Errorf(spool.Forbidden, "The token is not in the file any more")
	m.fail(ended)
	if _, err := e.CreateWebhook(ctx, chat.Tenant, made(annToken())); spool.CodeOf(err) != spool.Forbidden {
		s.Errorf("a maker without the right: %v", err)
	}
	m.fail(nil)
	if _, err := e.CreateWebhook(ctx, chat.Tenant, made(annToken())); err != nil {
		s.Fatal(err)
	}
	<-time.After(time.Second)
	s.runs(e, "r1")
	s.until("the event", func() bool { return len(r.read()) == 1 })
	m.fail(ended)
	s.runs(e, "r2")
	s.disabled(e, "the right of its maker has ended")
	s.same("events behind the right", r.read(), []string{"run.completed r1"})

	enabled, newer := false, annToken()
	newer.Credentials = "newer"
	enable := func(ctx context.Context, m wire.Maker) error {
		_, err := e.ChangeWebhook(ctx, chat.Tenant, "made", wire.WebhookChange{Disabled: &enabled, Maker: &m})
		return err
	}
	ben := engine.WithActor(context.Background(), wire.Actor{Tenant: chat.Tenant, Subject: "ben"})
	if err := enable(ben, newer); spool.CodeOf(err) != spool.Forbidden {
		s.Errorf("somebody else enables it: %v", err)
	}
	if err := enable(ctx, annToken()); spool.CodeOf(err) != spool.Forbidden {
		s.Errorf("the maker enables it with the same token: %v", err)
	}
	if err := enable(ctx, newer); err != nil {
		s.Errorf("the maker enables it with another token: %v", err)
	}
	<-time.After(time.Second)
	s.runs(e, "r3")
	s.until("the event of the other token", func() bool { return len(r.read()) == 2 })
	s.same("dead jobs", len(s.deadJobs()), 1)
}

// testWebhookAged has makers whose right nobody can look up. Their endpoints end with the age that the host allows.
func testWebhookAged(s webhookTest) {
	var r receiver
	r.status.Store(http.StatusOK)
	c := s.reaching(&r)
	person := wire.Maker{
		Tenant: chat.Tenant, Subject: "jwt", Kind: wire.MakerPrincipal, Until: s.now().Add(time.Minute),
	}
	ctx := engine.WithActor(context.Background(), wire.Actor{Tenant: chat.Tenant, Subject: "jwt"})
	if _, err := s.engine(c).CreateWebhook(ctx, chat.Tenant, made(person)); spool.CodeOf(err) != spool.Forbidden {
		s.Errorf("nobody looks it up: %v", err)
	}
	c.Webhooks.MaxAge = time.Hour
	e := s.working(c)
	if _, err := e.CreateWebhook(ctx, chat.Tenant, made(person)); err != nil {
		s.Fatal(err)
	}
	<-time.After(30 * time.Minute)
	s.runs(e, "r1")
	s.until("the event", func() bool { return len(r.read()) == 1 })
	<-time.After(30 * time.Minute)
	s.runs(e, "r2")
	s.disabled(e, "the right of its maker has ended")
	s.same("events", r.read(), []string{"run.completed r1"})
}

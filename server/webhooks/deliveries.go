package webhooks

import (
	"context"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// AttemptsInput asks for the last attempts.
type AttemptsInput struct {
	NameInput

	Limit int `default:"50" maximum:"100" minimum:"1" query:"limit"` // How many attempts.
}

// WebhookAttempts are attempts to deliver.
type WebhookAttempts struct {
	// Attempts are the attempts, the newest first. The last 100 of the last 30 days are kept.
	Attempts []wire.WebhookAttempt `json:"attempts"`
}

// Attempts answers with the last attempts to deliver events to an endpoint: the status, the time and the beginning of
// the answer. An answer to an event with a link is not kept.
func (c Controller) Attempts(ctx context.Context, in AttemptsInput) (WebhookAttempts, error) {
	list, err := c.Engine.WebhookAttempts(call.Acting(ctx), call.By(ctx).Tenant, in.Name, in.Limit)
	if list == nil {
		list = []wire.WebhookAttempt{}
	}
	return WebhookAttempts{list}, about(ctx, err)
}

// DeadInput asks for a page of the events that were not delivered.
type DeadInput struct {
	NameInput

	Limit int `default:"50" maximum:"1000" minimum:"1" query:"limit"` // The size of a page.
	// Before and BeforeID are the fields diedAt and jobId of the last event before.
	Before   time.Time `query:"before"`
	BeforeID int64     `minimum:"0"    query:"beforeId"` // See before.
}

// DeadWebhooks are events that were not delivered.
type DeadWebhooks struct {
	// Events are the events, the last one to die first. Fewer than the limit: there are no more.
	Events []wire.WebhookDead `json:"events"`
}

// Dead answers with the events that could not be delivered to an endpoint and are not tried any more, the last one
// first. They are kept for 30 days, unless the configuration says otherwise.
func (c Controller) Dead(ctx context.Context, in DeadInput) (DeadWebhooks, error) {
	list, err := c.Engine.WebhookDead(call.Acting(ctx), call.By(ctx).Tenant, in.Name, wire.JobQuery{
		Limit: in.Limit, Before: in.Before, BeforeID: in.BeforeID,
	})
	if list == nil {
		list = []wire.WebhookDead{}
	}
	return DeadWebhooks{list}, about(ctx, err)
}

// ReplayInput says which events are delivered again.
type ReplayInput struct {
	NameInput

	Body wire.WebhookReplay
}

// Replay delivers dead events of an endpoint again, with the same ids and bodies: one, or all that died since a time.
// If the answer says that there are more, ask again.
func (c Controller) Replay(ctx context.Context, in ReplayInput) (wire.WebhookReplayed, error) {
	r, err := c.Engine.ReplayWebhook(call.Acting(ctx), call.By(ctx).Tenant, in.Name, in.Body)
	return r, about(ctx, err)
}

// Test sends a sample event of the kind run.completed to an endpoint at once, with "test": true, and answers with the
// attempt, in 15 seconds at the most. A host for the webhooks of starts has no URL for it. A caller has one test at a
// time.
func (c Controller) Test(ctx context.Context, in NameInput) (wire.WebhookAttempt, error) {
	p := call.By(ctx)
	leave, err := c.Tests.enter(p.ID())
	if err != nil {
		return wire.WebhookAttempt{}, err
	}
	defer leave()
	a, err := c.Engine.PingWebhook(call.Acting(ctx), p.Tenant, in.Name)
	return a, about(ctx, err)
}

// Tests bounds the tests that run at a time: one of each principal. It is safe for concurrent use, and the zero value
// works.
type Tests struct {
	mu   sync.Mutex
	busy map[string]bool
}

func (t *Tests) enter(who string) (leave func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy[who] {
		return nil, spool.Errorf(spool.Limit, "a test of yours is under way: wait for its end")
	}
	if t.busy == nil {
		t.busy = make(map[string]bool)
	}
	t.busy[who] = true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.busy, who)
	}, nil
}

package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// WebhookAttempts returns the last attempts to tell an endpoint of events, the newest first: up to a hundred, of the
// last 30 days. A zero limit stands for all of them. An attempt may be there a moment after its event. It returns a
// [spool.NotFound] error for an endpoint that is not there, or that the actor of ctx may not see.
func (a *Admin) WebhookAttempts(
	ctx context.Context, tenant spool.Tenant, name string, limit int,
) ([]wire.WebhookAttempt, error) {
	if _, err := a.endpoints.Get(ctx, tenant, name); err != nil {
		return nil, err
	}
	return a.deliveries.Attempts(ctx, tenant, name, limit)
}

// WebhookDead lists the events that could not be delivered to an endpoint, the last one first. Of the query, Limit,
// Before and BeforeID count. It returns the errors of WebhookAttempts.
func (a *Admin) WebhookDead(
	ctx context.Context, tenant spool.Tenant, name string, q wire.JobQuery,
) ([]wire.WebhookDead, error) {
	if _, err := a.endpoints.Get(ctx, tenant, name); err != nil {
		return nil, err
	}
	return a.deliveries.Dead(ctx, tenant, name, q)
}

// ReplayWebhook delivers dead events of an endpoint again, with the same ids and bodies. It returns the errors of
// WebhookAttempts, an [spool.Invalid] error for a wrong replay, a [spool.NotFound] error for an event that is not dead,
// and a [spool.Conflict] error for an endpoint that is disabled.
func (a *Admin) ReplayWebhook(
	ctx context.Context, tenant spool.Tenant, name string, r wire.WebhookReplay,
) (wire.WebhookReplayed, error) {
	if _, err := a.endpoints.Get(ctx, tenant, name); err != nil {
		return wire.WebhookReplayed{}, err
	}
	return a.deliveries.Replay(ctx, tenant, name, r)
}

// PingWebhook sends a sample event of the kind run.completed to an endpoint at once, also if it is disabled, and
// returns the attempt. It blocks for 15 s at the most. The caller bounds how often it is called. It returns the errors
// of WebhookAttempts, and an [spool.Invalid] error if the template of the endpoint fails, and for a host for the
// webhooks of starts, which has no URL.
func (a *Admin) PingWebhook(ctx context.Context, tenant spool.Tenant, name string) (wire.WebhookAttempt, error) {
	if _, err := a.endpoints.Get(ctx, tenant, name); err != nil {
		return wire.WebhookAttempt{}, err
	}
	return a.deliveries.Ping(ctx, tenant, name)
}

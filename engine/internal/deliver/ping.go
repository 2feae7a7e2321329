package deliver

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// Ping sends a sample event of the kind run.completed to an endpoint at once, marked as a test, and returns the
// attempt, which is in the log too. It blocks until the endpoint has answered, for 15 s at the most. An endpoint that
// is disabled gets it too. It returns a [spool.NotFound] error for an endpoint that is not known, and an
// [spool.Invalid] error if its template fails, and for a host of starts. Its caller bounds how often it is called.
func (d *Deliverer) Ping(ctx context.Context, tenant spool.Tenant, name string) (wire.WebhookAttempt, error) {
	var none wire.WebhookAttempt
	a := &attempt{Delivery: store.Delivery{Job: wire.Job{Tenant: tenant, Subject: name}, Attempt: 1}}
	var err error
	if a.to, err = d.Endpoints.Find(ctx, tenant, name); err != nil {
		return none, err
	}
	if a.isHost() {
		return none, spool.Errorf(spool.Invalid, "name: the host has no URL of its own that a sample could go to")
	}
	for _, e := range wire.WebhookSamples() {
		if e.Type == wire.WebhookRunCompleted {
			a.event = e
		}
	}
	a.event.ID, a.event.Timestamp, a.event.Test = d.Random.ID("msg"), time.Now().UTC(), true
	if !a.to.Text {
		a.event.Data.Text = ""
	}
	text, err := wire.EncodeWebhook(a.event)
	if err != nil {
		return none, err
	}
	a.payload = endpoint.Event{Event: text}
	body, err := a.to.Render.Render(text)
	if err != nil {
		return none, err
	}
	sent, err := body.WithLink("")
	if err != nil {
		return none, err
	}
	began := time.Now()
	o := d.Sender.Send(ctx, a.post(sent))
	if o.Class == webhook.Ended {
		return none, o.Err
	}
	l := a.line(o, time.Since(began))
	if err := d.write(ctx, []line{l}); err != nil {
		d.Log.WarnContext(ctx, "write the log of webhooks", "error", err)
	}
	return l.WebhookAttempt, nil
}

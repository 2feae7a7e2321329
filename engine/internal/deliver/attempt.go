package deliver

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

const (
	// heldWait is the delay of an event that comes behind another one of its thread.
	heldWait = time.Second
	// storeWait is the delay behind an error of the store, which is none of the endpoint.
	storeWait = 5 * time.Second
	// unknownWait is the delay of an event whose endpoint this node cannot use: another node may have a newer file.
	// After unknownFor the event is dead.
	unknownWait = 10 * time.Minute
	unknownFor  = 24 * time.Hour
	// maxCause is the longest reason that is kept, in bytes.
	maxCause = 500
	// rightEnded is why an endpoint is disabled whose maker may not have it any more.
	rightEnded = "the right of its maker has ended"
)

// attempt is one delivery of an event.
type attempt struct {
	store.Delivery

	payload endpoint.Event
	event   wire.WebhookEvent
	to      endpoint.Endpoint
}

// Handle handles an event of [endpoint.Queue]. It returns nil or a [store.AckError]. The tenant of an event that is
// dead is noted before the event is acknowledged.
func (d *Deliverer) Handle(ctx context.Context, job store.Delivery) error {
	err := d.attempt(ctx, job)
	if done, ok := errors.AsType[*store.AckError](err); ok && done.Ack.Kind == store.AckDead {
		if err := d.died(ctx, job.Tenant); err != nil {
			d.Log.WarnContext(ctx, "note the tenant of a dead webhook event", "tenant", job.Tenant, "error", err)
		}
	}
	return err
}

// attempt tells an endpoint of an event, and returns what becomes of the event.
func (d *Deliverer) attempt(ctx context.Context, job store.Delivery) error {
	a := &attempt{Delivery: job}
	var err error
	if a.payload, a.event, err = endpoint.Decode(job.Payload); err != nil {
		return dead(spool.MessageOf(err))
	}
	if job.Attempt > webhook.MaxAttempts { // their workers have died
		return dead("its attempts were cut off")
	}
	leave, wait := d.flights.enter(ctx, target{job.Tenant, job.Subject}, d.Random)
	if leave == nil {
		return again(wait)
	}
	defer leave()
	if err := d.find(ctx, a); err != nil {
		return err
	}
	switch held, err := d.held(ctx, a); {
	case err != nil:
		return d.troubled(ctx, a, "read the events before a webhook event", err)
	case held:
		return again(heldWait)
	}
	body, err := d.body(ctx, a)
	if err != nil {
		return err
	}
	sent, err := d.link(ctx, a, body)
	if err != nil {
		return err
	}
	began := time.Now()
	outcome := d.Sender.Send(ctx, a.post(sent))
	return d.settle(ctx, a, outcome, time.Since(began), body)
}

// isHost reports whether the job is for the webhook of a start.
func (a *attempt) isHost() bool { return strings.HasPrefix(a.Subject, endpoint.HostSubject("")) }

// find gets the endpoint, or says what becomes of an event without one.
func (d *Deliverer) find(ctx context.Context, a *attempt) (err error) {
	gone := "no configuration has the endpoint any more"
	if a.isHost() {
		if a.payload.URL, err = d.Endpoints.OpenURL(a.Tenant, a.payload.URL); err == nil {
			a.to, err = d.Endpoints.Host(a.Tenant, a.payload.URL)
		} else {
			gone = "its URL is encrypted with a key that no configuration has any more"
		}
		a.to.URL = a.payload.URL
	} else {
		a.to, err = d.Endpoints.Find(ctx, a.Tenant, a.Subject)
	}
	missing := spool.CodeOf(err) == spool.NotFound || a.isHost() && spool.CodeOf(err) == spool.Invalid
	switch {
	case err == nil && !a.to.DisabledAt.IsZero():
		return dead("the endpoint is disabled")
	case err == nil:
		return d.checkMaker(ctx, a)
	case missing && !a.isHost() && !a.payload.FromFile:
		return &store.AckError{Ack: store.Ack{Kind: store.AckDone}} // somebody has removed it
	case missing && time.Since(a.event.Timestamp) >= unknownFor:
		return dead(gone)
	case missing, spool.CodeOf(err) == spool.Internal && ctx.Err() == nil:
		d.Log.WarnContext(ctx, "an endpoint cannot be told here", "tenant", a.Tenant, "endpoint", a.Subject, "error", err)
		return again(unknownWait)
	default:
		return d.troubled(ctx, a, "read an endpoint", err)
	}
}

// checkMaker says what becomes of an event whose endpoint's maker may not have it any more.
func (d *Deliverer) checkMaker(ctx context.Context, a *attempt) error {
	err := d.Endpoints.MayTell(ctx, a.Tenant, a.to)
	switch {
	case spool.CodeOf(err) == spool.Forbidden:
		d.disable(ctx, a, rightEnded)
		return dead(rightEnded)
	case err != nil:
		return d.troubled(ctx, a, "look up the right of an endpoint's maker", err)
	}
	return nil
}

// disable takes the endpoint of an event out of use.
func (d *Deliverer) disable(ctx context.Context, a *attempt, reason string) {
	if err := d.Endpoints.Disable(ctx, a.Tenant, a.Subject, reason); err != nil {
		d.Log.WarnContext(ctx, "disable an endpoint", "tenant", a.Tenant, "endpoint", a.Subject, "reason", reason,
			"error", err)
	}
}

// link puts the link into a body that has a place for one.
func (d *Deliverer) link(ctx context.Context, a *attempt, body webhook.Body) (webhook.Sent, error) {
	link := ""
	if body.Linked() {
		q := a.event.Data.Question
		if d.Link == nil || a.to.Approver == "" || q == nil || q.Digest == "" {
			return webhook.Sent{}, dead("its body has a link, and the endpoint has no approver")
		}
		var err error
		link, err = d.Link(ctx, option.WebhookLink{
			Key: a.Thread(), ThreadCreatedAt: a.event.Data.ThreadCreatedAt, Call: q.ToolCallID, Digest: q.Digest,
			Endpoint: a.Subject, MadeBy: a.to.MadeBy, EndpointCreatedAt: a.to.CreatedAt,
			Approver: a.to.Approver, ExpiresAt: q.ExpiresAt,
		})
		if err != nil {
			return webhook.Sent{}, d.troubled(ctx, a, "make the link of a webhook event", err)
		}
	}
	sent, err := body.WithLink(link)
	if err != nil {
		err = dead(spool.MessageOf(err))
	}
	return sent, err
}

func (a *attempt) post(body webhook.Sent) webhook.Post {
	return webhook.Post{
		ID: a.event.ID, URL: a.to.URL, Listed: a.to.FromFile || a.isHost(), Signer: a.to.Signer, Body: body,
	}
}

// settle returns what becomes of the event behind an outcome, and notes the attempt for the log.
func (d *Deliverer) settle(
	ctx context.Context, a *attempt, o webhook.Outcome, took time.Duration, body webhook.Body,
) error {
	if o.Class == webhook.Ended {
		return again(0)
	}
	ack := store.Ack{Kind: store.AckDone}
	wait, more := webhook.Wait(o, a.Attempt, d.Random.Float)
	switch {
	case o.Class == webhook.Delivered:
	case o.Class == webhook.Gone:
		ack = store.Ack{Kind: store.AckDead, Cause: bounded(spool.MessageOf(o.Err))}
		if !a.isHost() {
			d.disable(ctx, a, ack.Cause)
		}
	case more:
		ack = store.Ack{Kind: store.AckRelease, After: wait}
	default:
		ack = store.Ack{Kind: store.AckDead, Cause: bounded(spool.MessageOf(o.Err))}
	}
	l := a.line(o, took)
	if ack.Kind == store.AckRelease {
		l.NextAt = l.At.Add(wait)
	} else if ack.Kind == store.AckDead && o.Class != webhook.Gone {
		l.Result = resultDead
	}
	if ack.Kind == store.AckDone && body.ContentType != "" && a.rendered() {
		l.body = bodyKey(a.Subject, a.event.ID)
	}
	d.mu.Lock()
	d.decided[claim{a.JobID, a.Token}] = l
	d.mu.Unlock()
	return &store.AckError{Ack: ack}
}

// acked writes the log of an attempt whose acknowledgement has the store, or has been refused.
func (d *Deliverer) acked(j store.Delivery, err error) {
	key := claim{j.JobID, j.Token}
	d.mu.Lock()
	l, ok := d.decided[key]
	delete(d.decided, key)
	d.mu.Unlock()
	if !ok {
		return
	}
	if err != nil {
		l.body = "" // somebody may still need it
	}
	d.journal.add(l)
}

// resultDead is the result of an attempt that was the last one.
const resultDead = "dead"

// line returns the line of the log.
func (a *attempt) line(o webhook.Outcome, took time.Duration) line {
	l := line{tenant: a.Tenant, subject: a.Subject, WebhookAttempt: wire.WebhookAttempt{
		EventID: a.event.ID, Type: a.event.Type, ThreadID: a.event.Data.ThreadID, Attempt: a.Attempt,
		At: time.Now().UTC(), DurationMS: took.Milliseconds(), Result: string(o.Class), Status: o.Status, Answer: o.Answer,
	}}
	if o.Err != nil {
		l.Error = bounded(spool.MessageOf(o.Err))
	}
	return l
}

// troubled returns what becomes of an event when something failed that is not the endpoint's fault.
func (d *Deliverer) troubled(ctx context.Context, a *attempt, what string, err error) error {
	if ctx.Err() != nil {
		return again(0)
	}
	d.Log.WarnContext(ctx, what, "tenant", a.Tenant, "endpoint", a.Subject, "event", a.event.ID, "error", err)
	return again(storeWait)
}

// again lets an event come back after a time. The delivery does not count.
func again(after time.Duration) error {
	return &store.AckError{Ack: store.Ack{Kind: store.AckRelease, After: after, Refund: true}}
}

// dead gives an event up.
func dead(cause string) error {
	return &store.AckError{Ack: store.Ack{Kind: store.AckDead, Cause: bounded(cause)}}
}

// bounded cuts a reason that is too long.
func bounded(text string) string {
	if len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "") + "…"
	}
	return text
}

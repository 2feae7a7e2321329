// Package notify finds the events that a commit tells to endpoints, and writes a job for each event and endpoint in the
// commit's own transaction. It knows the endpoints from memory.
package notify

import (
	"context"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Hook finds the events of commits. It is safe for concurrent use. A nil Hook finds none.
type Hook struct {
	Book   *endpoint.Book
	Random random.Source
	// Wake wakes the workers that deliver events.
	Wake func()
}

// New returns a hook, or nil if nothing is told to anybody.
func New(book *endpoint.Book, from random.Source, live store.Live) *Hook {
	if book == nil {
		return nil
	}
	return &Hook{
		Book: book, Random: from, Wake: func() { live.Wake(store.EventsTopic, store.WakeJobs, nil) },
	}
}

// Deferred returns a hook for transactions that somebody else commits. Call wake after that commit.
func (h *Hook) Deferred() (deferred *Hook, wake func()) {
	if h == nil {
		return nil, func() {}
	}
	added := false
	return &Hook{Book: h.Book, Random: h.Random, Wake: func() { added = true }}, func() {
		if added {
			h.Wake()
		}
	}
}

// CheckWebhook returns an [spool.Invalid] error unless the webhook of a start is told of events: see
// [endpoint.Book.Host].
func (h *Hook) CheckWebhook(tenant spool.Tenant, url string) error {
	var book *endpoint.Book
	if h != nil {
		book = h.Book
	}
	_, err := book.Host(tenant, url)
	return err
}

// SealWebhook returns what the store keeps of the webhook of a start: see [endpoint.Book.SealURL].
func (h *Hook) SealWebhook(tenant spool.Tenant, url string) (string, error) {
	return h.book().SealURL(tenant, url)
}

// OpenWebhook returns the URL of what SealWebhook has returned: see [endpoint.Book.OpenURL].
func (h *Hook) OpenWebhook(tenant spool.Tenant, kept string) (string, error) {
	return h.book().OpenURL(tenant, kept)
}

// book returns the book, or nil, which keeps URLs as they are.
func (h *Hook) book() *endpoint.Book {
	if h == nil {
		return nil
	}
	return h.Book
}

// Told is what one transaction tells. It is for one transaction, which the store may run several times. A nil Told
// tells nothing.
type Told struct {
	hook    *Hook
	targets []endpoint.Target
	added   bool
}

// Begin returns what a transaction that begins now tells. It reads the endpoints of the tenant again if they are older
// than a second, and returns the error of the read. The transaction then must not begin.
func (h *Hook) Begin(ctx context.Context, tenant spool.Tenant) (*Told, error) {
	if h == nil {
		return nil, nil //nolint:nilnil // it tells nothing
	}
	targets, err := h.Book.Targets(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return &Told{hook: h, targets: targets}, nil
}

// Committed wakes the workers if the transaction has added events. Call it after the commit.
func (t *Told) Committed() {
	if t != nil && t.added {
		t.hook.Wake()
	}
}

// Paused is a schedule that has paused by itself.
type Paused struct {
	// Schedule is the name of the schedule, and Agent its agent.
	Schedule, Agent string
	// Reason is why it has paused, for a person.
	Reason string
	// Owner is the subject whose schedule it is, for endpoints that get only what their makers own.
	Owner string
}

// Paused writes the event about a schedule that pauses in this transaction.
func (t *Told) Paused(tx store.Tx, p Paused) error {
	if t == nil {
		return nil
	}
	t.added = false
	return t.send(tx, Event{Type: wire.WebhookSchedulePaused, Data: wire.WebhookData{
		Agent: p.Agent, Schedule: &wire.WebhookSchedule{Name: p.Schedule, Reason: p.Reason},
	}}, p.Owner)
}

// write writes the events of a commit on a thread. Nil: the transaction has not read the thread.
func (t *Told) write(tx store.Tx, c Commit, of *wire.Thread) error {
	all, err := Events(c)
	if err != nil || len(all) == 0 {
		return err
	}
	if of == nil {
		made, err := tx.Thread()
		if err != nil {
			return err
		}
		of = &made
	}
	for _, e := range all {
		e.Data.ThreadID, e.Data.ThreadCreatedAt, e.Data.Labels = of.ID, of.CreatedAt, of.Labels
		if err := t.send(tx, e, of.Owner); err != nil {
			return err
		}
	}
	return nil
}

// send writes an event for each endpoint that wants it, all with one id.
func (t *Told) send(tx store.Tx, e Event, owner string) error {
	d := &e.Data
	var wants []endpoint.Target
	for _, target := range t.targets {
		if target.Match(e.Type, d.Agent, d.Labels) && (!target.OwnOnly || owner != "" && target.Owner == owner) {
			wants = append(wants, target)
		}
	}
	if len(wants) == 0 && e.Webhook == "" {
		return nil
	}
	told := wire.WebhookEvent{ID: t.hook.Random.ID("msg"), Type: e.Type, Timestamp: tx.Now(), Data: e.Data}
	bodies := bodies{tx: tx, event: told, answerable: e.Answerable}
	var jobs []wire.Job
	add := func(subject string, target endpoint.Target, url string) error {
		payload, err := bodies.payload(target, url)
		jobs = append(jobs, wire.Job{
			Subject: subject, Queue: endpoint.Queue, Key: "webhook:" + told.ID + ":" + subject, Payload: payload,
		})
		return err
	}
	for _, target := range wants {
		if err := add(target.Name, target, ""); err != nil {
			return err
		}
	}
	if e.Webhook != "" {
		if err := add(endpoint.SubjectOf(e.Webhook), endpoint.Target{}, e.Webhook); err != nil {
			return err
		}
	}
	t.added = true
	return tx.Write(store.Changes{Jobs: jobs})
}

// bodies are the forms of one event: with and without the text, and with and without a link.
type bodies struct {
	tx         store.Tx
	event      wire.WebhookEvent
	answerable bool
	text       *string // the last answer of the run, once it was read
	made       map[form]json.RawMessage
}

// form is what the payload of an event depends on, besides the event.
type form struct {
	text, link, fromFile bool
	url                  string
}

// payload returns the payload of the job for a target, which is the same for all targets of a form.
func (b *bodies) payload(target endpoint.Target, url string) (json.RawMessage, error) {
	f := form{target.Text && b.hasText(), target.Link && b.answerable, target.FromFile, url}
	if made := b.made[f]; made != nil {
		return made, nil
	}
	e := b.event
	if f.text {
		answer, err := b.answer()
		if err != nil {
			return nil, err
		}
		e.Data.Text = answer
	}
	if f.link {
		e.Data.Link = wire.WebhookLinkMark
	}
	body, err := wire.EncodeWebhook(e)
	if err != nil {
		return nil, err
	}
	if b.made == nil {
		b.made = make(map[form]json.RawMessage)
	}
	b.made[f] = endpoint.Event{Event: body, URL: url, FromFile: f.fromFile}.Encode()
	return b.made[f], nil
}

// hasText reports whether the event is about a run that may have answered.
func (b *bodies) hasText() bool {
	return b.event.Data.RunID != "" && b.event.Type != wire.WebhookRunStarted
}

// answer returns the last answer of the run.
func (b *bodies) answer() (string, error) {
	if b.text != nil {
		return *b.text, nil
	}
	own := spool.AgentID("")
	messages, err := b.tx.Messages(store.MessageQuery{
		Role: spool.RoleAssistant, Agent: &own, Run: b.event.Data.RunID, Limit: 1,
	})
	if err != nil {
		return "", err
	}
	text := ""
	if len(messages) > 0 {
		text = messages[0].Text()
	}
	b.text = &text
	return text, nil
}

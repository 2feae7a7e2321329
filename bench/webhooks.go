package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

const (
	// mostUntold and mostTold are how much CPU a run may take, beside one without endpoints: with an endpoint that wants
	// none of its events, and with three that want all.
	mostUntold, mostTold = 1.05, 1.15
	// mostDelivery is how much CPU a delivery may take, beside a bare claim, post and acknowledgement.
	mostDelivery = 1.5
	// webhookQueue is the queue of deliveries, and bareQueue that of the bare arm.
	webhookQueue, bareQueue = "spool.webhooks", "bench"
)

// newReceiver answers every post with a 200.
func newReceiver(options) (*served, error) {
	public := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	return &served{public: public, control: http.NewServeMux(), close: func() error { return nil }}, nil
}

// measureWebhooks measures what events cost the runs that have them, and what a delivery costs.
func measureWebhooks(b *bench) (_ *section, err error) {
	m := &webhookMeasure{b: b, runs: size(b, 100, 3), events: size(b, 1000, 5)}
	s := &section{
		title: "Webhooks",
		how: fmt.Sprintf("CPU of this process. A run has one tool call, and is carried out by `Engine.HandleJob` on a SQLite file; %d of each kind in a round. "+
			"Events are written in the run's commits, and delivered later. Then a worker delivers %s events to a receiver in another process. Beside it, a bare loop claims "+
			"as many events of the same size from the same file, posts each to the same receiver, and acknowledges it, as many at once.", m.runs, number(float64(m.events))),
	}
	if m.db, err = sqlite.Open(b.newFile("webhooks"), &sqlite.Options{Exclusive: true}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.db.Close()) }()
	if m.receiver, err = b.spawn("receiver", options{}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.receiver.stop()) }()
	if m.sender, err = webhook.NewSender(webhook.Config{Listed: []string{"127.0.0.1"}}); err != nil {
		return nil, err
	}
	defer m.sender.Close()
	never := wire.WebhookFilter{Events: []wire.WebhookType{wire.WebhookSchedulePaused}}
	if err := b.interleave(1,
		func() error { return m.run(&m.without) },
		func() error { return m.run(&m.untold, never) },
		func() error { return m.run(&m.told, wire.WebhookFilter{}, wire.WebhookFilter{}, wire.WebhookFilter{}) },
		m.deliver, m.bare,
	); err != nil {
		return nil, err
	}
	s.rows = []row{
		{"run without endpoints", "ms of CPU", m.without},
		{"run with an endpoint that wants no event of it", "ms of CPU", m.untold},
		{"run with three endpoints that want all", "ms of CPU", m.told},
		{"delivery", "µs of CPU", m.delivery},
		{"bare claim, post and acknowledgement", "µs of CPU", m.ofBare},
	}
	s.goals = []goal{
		ratioGoal("Run with an endpoint that wants none of its events beside one without", m.untold, m.without, mostUntold, false),
		ratioGoal("Run with three endpoints beside one without", m.told, m.without, mostTold, false),
		ratioGoal("Delivery beside a bare claim, post and acknowledgement", m.delivery, m.ofBare, mostDelivery, false),
	}
	return s, nil
}

// webhookMeasure collects one number per round for each arm.
type webhookMeasure struct {
	b            *bench
	db           *sqlite.DB
	receiver     *child
	sender       *webhook.Sender
	runs, events int

	without, untold, told, delivery, ofBare sample
}

// engine returns an engine with an endpoint for each filter.
func (m *webhookMeasure) engine(filters ...wire.WebhookFilter) (*engine.Engine, error) {
	c := engine.Config{
		SingleProcess: true,
		Agents: []spool.Agent{{Name: "bench", Model: "stepper", Tools: []spool.Tool{{
			ToolSpec: spool.ToolSpec{Name: "look"}, Call: looks,
		}}}},
		Models: map[string]spool.Model{"stepper": stepper(2)},
		Log:    warnings(),
	}
	for i, f := range filters {
		c.Webhooks.Sender = m.sender
		c.Webhooks.Endpoints = append(c.Webhooks.Endpoints, option.WebhookEndpoint{
			Name: fmt.Sprintf("endpoint-%d", i), URL: "http://" + m.receiver.Public + "/", Filter: f,
			Secrets: []string{"whsec_" + strings.Repeat("MfKQ9r8G", 4)},
		})
	}
	return engine.New(m.db.Backend(), c)
}

// run measures runs with endpoints.
func (m *webhookMeasure) run(into *sample, filters ...wire.WebhookFilter) error {
	e, err := m.engine(filters...)
	if err != nil {
		return err
	}
	defer e.Close()
	took, err := m.execute(e, m.runs)
	*into = append(*into, took.Seconds()*1000/float64(m.runs))
	return errors.Join(err, m.forget())
}

// execute carries out runs, and returns the CPU that they took.
func (m *webhookMeasure) execute(e *engine.Engine, runs int) (time.Duration, error) {
	steps := stepMeasure{b: m.b, db: m.db, e: e, steps: 2}
	begun := cpuTime()
	for range runs {
		_, err := steps.run(spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(spool.NewID("thr"))})
		if err != nil {
			return 0, err
		}
	}
	return cpuTime() - begun, nil
}

// forget removes the events that nobody delivers.
func (m *webhookMeasure) forget() error {
	jobs, err := m.left(webhookQueue)
	if err != nil {
		return err
	}
	var keys []string
	for _, j := range jobs {
		keys = append(keys, j.Key)
	}
	return m.db.Update(m.b.ctx, spool.ThreadKey{Tenant: spool.DefaultTenant}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{CancelJobs: keys})
	})
}

func (m *webhookMeasure) left(queue string) ([]wire.QueuedJob, error) {
	return m.db.Jobs(m.b.ctx, wire.JobQuery{Tenant: spool.DefaultTenant, Queue: &queue})
}

// deliver measures a worker that delivers events, one of each thread.
func (m *webhookMeasure) deliver() error {
	e, err := m.engine(wire.WebhookFilter{Events: []wire.WebhookType{wire.WebhookRunCompleted}})
	if err != nil {
		return err
	}
	defer e.Close()
	if _, err := m.execute(e, m.events); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(m.b.ctx)
	worked := make(chan error, 1)
	begun := cpuTime()
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	for {
		jobs, err := m.left(webhookQueue)
		if err != nil || len(jobs) == 0 {
			m.delivery = append(m.delivery, float64((cpuTime()-begun).Microseconds())/float64(m.events))
			cancel()
			return errors.Join(err, <-worked)
		}
		if err := m.b.wait(50 * time.Millisecond); err != nil {
			cancel()
			return errors.Join(err, <-worked)
		}
	}
}

// bare measures a loop that does the least.
func (m *webhookMeasure) bare() error {
	payload, err := json.Marshal(map[string]string{"event": strings.Repeat("x", 500)}) //nolint:mnd // as an event has
	if err != nil {
		return err
	}
	jobs := make([]wire.Job, m.events)
	for i := range jobs {
		jobs[i] = wire.Job{Queue: bareQueue, Key: fmt.Sprintf("bench-%d", i), Subject: "endpoint-0", Payload: payload}
	}
	if err := m.db.Update(m.b.ctx, spool.ThreadKey{Tenant: spool.DefaultTenant}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Jobs: jobs})
	}); err != nil {
		return err
	}
	begun := cpuTime()
	for done := 0; done < m.events; {
		taken, _, err := m.db.Claim(m.b.ctx, store.ClaimQuery{Limit: 4, Lease: time.Minute, Queues: []string{bareQueue}})
		if err != nil {
			return err
		}
		if len(taken) == 0 {
			return errors.New("the bare events are gone")
		}
		if err := m.post(taken); err != nil {
			return err
		}
		done += len(taken)
	}
	m.ofBare = append(m.ofBare, float64((cpuTime()-begun).Microseconds())/float64(m.events))
	return nil
}

// post posts events at once, and acknowledges each.
func (m *webhookMeasure) post(taken []store.Delivery) error {
	var all sync.WaitGroup
	failed := make([]error, len(taken))
	for i, d := range taken {
		all.Go(func() {
			failed[i] = request(m.b.ctx, http.MethodPost, "http://"+m.receiver.Public+"/", d.Payload, nil)
			failed[i] = errors.Join(failed[i], m.db.Ack(m.b.ctx, d, store.Ack{Kind: store.AckDone}))
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// tomorrow is a network whose peers all want to be asked again in a day.
type tomorrow struct{}

func (tomorrow) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"86400"}}, Body: http.NoBody, Request: r,
	}, nil
}

// receiver is the peer of an endpoint. It notes what it gets, and answers with its status. A status of zero hangs.
type receiver struct {
	status atomic.Int64

	mu  sync.Mutex
	got []wire.WebhookEvent
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var e wire.WebhookEvent
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.got = append(r.got, e)
	r.mu.Unlock()
	if status := int(r.status.Load()); status != 0 {
		w.WriteHeader(status)
		return
	}
	<-req.Context().Done()
}

// read returns the events so far.
func (r *receiver) read() (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.got {
		lines = append(lines, fmt.Sprintf("%s %s", e.Type, e.Data.RunID))
	}
	return lines
}

// receiving returns a configuration whose endpoint "desk" is the receiver.
func (s webhookTest) receiving(c engine.Config, r *receiver) engine.Config {
	s.Helper()
	network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	transport := &http.Transport{DialContext: network.dial}
	go func() { _ = server.Serve(network) }()
	s.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
	})
	c = s.telling(c, option.WebhookEndpoint{Name: "desk"})
	sender, err := webhook.NewSender(webhook.Config{Listed: []string{"127.0.0.1"}, Transport: transport})
	if err != nil {
		s.Fatal(err)
	}
	c.Webhooks.Sender, c.Webhooks.Endpoints[0].URL = sender, "http://127.0.0.1/in"
	return c
}

// testWebhookDelivered ends the process whose endpoint hangs. The next process delivers the events, in their order, and
// the log has them.
func testWebhookDelivered(s webhookTest) {
	var r receiver
	config := s.receiving(s.config(spooltest.NewModel(spooltest.Say("hi"))), &r)
	first := s.engine(config)
	stop := s.work(first)
	s.start(first, "r1", "go")
	s.ended(wire.Completed)
	s.until("an attempt", func() bool { return len(r.read()) > 0 })
	stop()
	r.status.Store(http.StatusOK)
	r.mu.Lock()
	r.got = nil
	r.mu.Unlock()

	second := s.engine(config)
	var none mailbox
	stop = s.workWith(second, none.only(nil)) // such a worker delivers nothing
	stop()
	s.same("events of a worker of other events", len(r.read()), 0)
	s.work(second)
	s.until("all events", func() bool {
		q := s.jobs()
		return q.Ready+q.Delayed+q.InFlight == 0
	})
	s.same("events", r.read(), []string{"run.started r1", "run.completed r1"})
	s.until("the log", func() bool {
		log, err := second.WebhookAttempts(context.Background(), chat.Tenant, "desk", 0)
		return err == nil && len(log) == 2 && log[0].Result == "delivered" && log[0].Status == http.StatusOK
	})
}

// testWebhookReplayed has an endpoint that is gone, and comes back. Its events come again with a replay, and with the
// redrive of their jobs.
func testWebhookReplayed(s webhookTest) {
	var r receiver
	r.status.Store(http.StatusGone)
	config := s.receiving(s.config(spooltest.NewModel(spooltest.Say("hi"))), &r)
	e := s.engine(config)
	s.work(e)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	ctx := context.Background()
	var dead []wire.WebhookDead
	s.until("two dead events", func() bool {
		var err error
		if dead, err = e.WebhookDead(ctx, chat.Tenant, "desk", wire.JobQuery{}); err != nil {
			s.Fatal(err)
		}
		return len(dead) == 2
	})
	_, err := e.ReplayWebhook(ctx, chat.Tenant, "desk", wire.WebhookReplay{Since: time.Unix(1, 0)})
	if spool.CodeOf(err) != spool.Conflict {
		s.Errorf("the replay of a disabled endpoint: %v", err)
	}
	r.status.Store(http.StatusOK)
	enabled := false
	if _, err := e.ChangeWebhook(ctx, chat.Tenant, "desk", wire.WebhookChange{Disabled: &enabled}); err != nil {
		s.Fatal(err)
	}
	before := len(r.read())
	done, err := e.ReplayWebhook(ctx, chat.Tenant, "desk", wire.WebhookReplay{EventID: dead[0].EventID})
	if err != nil || done.Events != 1 {
		s.Errorf("the replay: %+v, %v", done, err)
	}
	redriven, err := e.Redrive(ctx, chat.Tenant, dead[1].JobID)
	if err != nil || !redriven.Accepted {
		s.Errorf("the redrive: %+v, %v", redriven, err)
	}
	s.until("both events", func() bool { return len(r.read()) == before+2 })
	got := r.read()[before:]
	slices.Sort(got)
	s.same("events", got, []string{"run.completed r1", "run.started r1"})
	if _, err := e.WebhookAttempts(ctx, "other", "desk", 0); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("the log of another tenant: %v", err)
	}
}

// testWebhookHost has a host of starts that is gone, and comes back. Its attempts and its dead events can be seen by
// those who see all threads, and replayed.
func testWebhookHost(s webhookTest) {
	const host = "@127.0.0.1"
	var r receiver
	r.status.Store(http.StatusGone)
	config := s.receiving(s.config(spooltest.NewModel(spooltest.Say("hi"))), &r)
	config.Webhooks.Endpoints = nil
	config.Webhooks.Hosts = []option.WebhookHost{
		{Host: "127.0.0.1", Tenant: chat.Tenant, Secrets: []string{webhookSecret}},
	}
	e := s.engine(config)
	s.work(e)
	s.startAs(e, chat, wire.StartRequest{
		RunID: "r1", Prompt: "go", StartOptions: wire.StartOptions{Webhook: "http://127.0.0.1/in?key=hidden"},
	})
	s.ended(wire.Completed)
	ctx := context.Background()
	var dead []wire.WebhookDead
	s.until("two dead events", func() bool {
		var err error
		if dead, err = e.WebhookDead(ctx, chat.Tenant, host, wire.JobQuery{}); err != nil {
			s.Fatal(err)
		}
		return len(dead) == 2
	})
	var attempts []wire.WebhookAttempt
	s.until("the log", func() bool {
		var err error
		if attempts, err = e.WebhookAttempts(ctx, chat.Tenant, host, 0); err != nil {
			s.Fatal(err)
		}
		return len(attempts) == 2
	})
	r.status.Store(http.StatusOK)
	before := len(r.read())
	done, err := e.ReplayWebhook(ctx, chat.Tenant, host, wire.WebhookReplay{Since: time.Unix(1, 0)})
	if err != nil || done.Events != 2 {
		s.Errorf("the replay: %+v, %v", done, err)
	}
	s.until("both events", func() bool { return len(r.read()) == before+2 })
	list, err := e.Webhooks(ctx, chat.Tenant)
	if err != nil || len(list) != 1 || list[0].Name != host || !list[0].FromFile || !list[0].Host {
		s.Errorf("the endpoints are %+v, %v", list, err)
	}
	if text, err := json.Marshal([]any{list, dead, attempts}); err != nil || bytes.Contains(text, []byte("hidden")) {
		s.Errorf("the URL is in %s, %v", text, err)
	}
	if _, err := e.PingWebhook(ctx, chat.Tenant, host); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("a test: %v", err)
	}
	disabled := true
	_, err = e.ChangeWebhook(ctx, chat.Tenant, host, wire.WebhookChange{Disabled: &disabled})
	if spool.CodeOf(err) != spool.Forbidden || spool.CodeOf(e.RemoveWebhook(ctx, chat.Tenant, host)) != spool.Forbidden {
		s.Errorf("a change: %v", err)
	}
	own := engine.WithActor(ctx, wire.Actor{Tenant: chat.Tenant, Subject: "eve", OwnOnly: true})
	_, noLog := e.WebhookAttempts(own, chat.Tenant, host, 0)
	_, noDead := e.WebhookDead(own, chat.Tenant, host, wire.JobQuery{})
	_, noReplay := e.ReplayWebhook(own, chat.Tenant, host, wire.WebhookReplay{Since: time.Unix(1, 0)})
	_, noTest := e.PingWebhook(own, chat.Tenant, host)
	_, noOther := e.WebhookAttempts(ctx, "other", host, 0)
	noChange := e.RemoveWebhook(own, chat.Tenant, host)
	for i, err := range []error{noLog, noDead, noReplay, noTest, noOther, noChange} {
		if spool.CodeOf(err) != spool.NotFound {
			s.Errorf("of who may not see it, %d: %v", i, err)
		}
	}
}

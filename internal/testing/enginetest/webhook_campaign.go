package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// mostRefusals is how often the receiver of a campaign fails an event at the most, so that a campaign need not wait for
// the later attempts.
const mostRefusals = 2

// eventReceiver is an endpoint of a campaign, which fails, hangs, and asks for later attempts.
type eventReceiver struct {
	campaign *campaign
	name     string
	// leaves is whether it says once in a while that it is gone.
	leaves bool

	mu       sync.Mutex
	links    int
	refusals map[string]int               // by the id of the event
	bodies   map[string]string            // by the id, without the link
	taken    map[string]wire.WebhookEvent // by the id
	wrong    []string
}

// receivers are the network of a campaign's sender, by the paths of their URLs: what they get, they have been sent.
type receivers map[string]*eventReceiver

// RoundTrip implements [http.RoundTripper].
func (r receivers) RoundTrip(q *http.Request) (*http.Response, error) { return r[q.URL.Path].get(q) }

// receive gives the campaign an endpoint that is told of everything, and perhaps another one that leaves.
func (c *campaign) receive(leaving bool) {
	c.received = c.receiver("receiver")
	network := receivers{"/all": c.received}
	at := option.WebhookEndpoint{
		Name: "all", Tenant: chat.Tenant, URL: "http://127.0.0.1/all", Approver: "ann", Text: true,
		Secrets: []string{"whsec_" + strings.Repeat("MfKQ9r8G", 4)},
	}
	endpoints := []option.WebhookEndpoint{at}
	if leaving {
		c.leaving = c.receiver("leaving receiver")
		c.leaving.leaves = true
		network["/leaving"] = c.leaving
		at.Name, at.URL = "leaving", "http://127.0.0.1/leaving"
		endpoints = append(endpoints, at)
	}
	sender, err := webhook.NewSender(webhook.Config{Listed: []string{"127.0.0.1"}, Transport: network})
	if err != nil {
		c.Fatal(err)
	}
	c.config.Webhooks = option.Webhooks{Sender: sender, Link: c.received.link, Endpoints: endpoints}
}

func (c *campaign) receiver(name string) *eventReceiver {
	return &eventReceiver{
		campaign: c, name: name, refusals: make(map[string]int), bodies: make(map[string]string),
		taken: make(map[string]wire.WebhookEvent),
	}
}

var linkOf = regexp.MustCompile(`https://link\.example/\d+`)

// link returns another link for each attempt.
func (r *eventReceiver) link(context.Context, option.WebhookLink) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links++
	return "https://link.example/" + strconv.Itoa(r.links), nil
}

// get answers a request.
func (r *eventReceiver) get(q *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	id := q.Header.Get("Webhook-Id")
	wait, refuse, hear := r.decide(id)
	select {
	case <-time.After(wait):
	case <-q.Context().Done():
		return nil, q.Context().Err()
	}
	if hear {
		r.hear(id, body)
	}
	status := http.StatusOK
	header := make(http.Header)
	switch refuse {
	case 1:
		status = http.StatusInternalServerError
	case 2:
		status = http.StatusTooManyRequests
		header.Set("Retry-After", "3")
	case 3:
		return nil, errors.New("the connection was cut")
	case gone:
		status = http.StatusGone
	}
	return &http.Response{
		StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: q,
	}, nil
}

// gone is a refusal after which the endpoint is disabled.
const gone = 4

// decide returns how long an attempt takes, how it fails, if it does, and whether the receiver has got the event. One
// that fails may have got it.
func (r *eventReceiver) decide(id string) (wait time.Duration, refuse int, hear bool) {
	c := r.campaign
	wait = time.Duration(c.n(1500, r.name, id)) * time.Millisecond
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaves && c.n(8, r.name+" leaves", id) == 0 {
		r.refusals[id]++
		return wait, gone, c.n(2, r.name+" hears", id) == 0
	}
	if r.refusals[id] >= mostRefusals || c.n(3, r.name+" fails", id) > 0 {
		return wait, 0, true
	}
	r.refusals[id]++
	if c.n(6, r.name+" hangs", id) == 0 {
		return time.Hour, 0, false
	}
	return wait, 1 + c.n(3, r.name+" answers", id), c.n(2, r.name+" hears", id) == 0
}

// hear notes an event, whose body must be that of the other attempts.
func (r *eventReceiver) hear(id string, body []byte) {
	var event wire.WebhookEvent
	if err := json.Unmarshal(body, &event); err != nil || event.ID != id {
		r.faultf("the event %s cannot be read (%v): %s", id, err, body)
		return
	}
	text := linkOf.ReplaceAllString(string(body), "LINK")
	r.mu.Lock()
	first, again := r.bodies[id]
	r.bodies[id], r.taken[id] = text, event
	r.mu.Unlock()
	if again && first != text {
		r.faultf("the event %s has two bodies:\n%s\n%s", id, first, text)
	}
}

func (r *eventReceiver) faultf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

const eventQueue = "spool.webhooks"

// settleEvents waits until nothing is left to be delivered, and compares what the receivers have got with what the
// record says.
func (c *campaign) settleEvents() {
	if c.received == nil {
		return
	}
	c.Helper()
	c.deliverAll()
	if c.leaving != nil {
		c.comeBack()
	}
	dead, err := c.backend.Store.Jobs(context.Background(), wire.JobQuery{
		Tenant: chat.Tenant, Queue: new(eventQueue), State: wire.JobDead,
	})
	if err != nil || len(dead) > 0 {
		c.Errorf("%d events were given up (%v): %+v", len(dead), err, dead)
	}
	want := c.expectedEvents()
	got := c.received.compare(want)
	if len(want) == 0 || len(got) == 0 {
		c.Errorf("the thread had %d kinds of events, and the receiver has %d", len(want), len(got))
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] < want[key] {
			c.Errorf("the receiver has %d events %q, and the thread had %d", got[key], key, want[key])
		}
	}
	if c.leaving != nil {
		c.leaving.compare(want)
	}
}

// deliverAll waits until no event waits for an attempt. Attempts whose workers died count too, so that a refused event
// may come again after hours.
func (c *campaign) deliverAll() {
	c.Helper()
	undelivered := func() (latest time.Time) {
		left, err := c.backend.Store.Jobs(context.Background(), wire.JobQuery{Tenant: chat.Tenant, Queue: new(eventQueue)})
		if err != nil {
			c.Fatal(err)
		}
		for _, j := range left {
			if latest = c.now().Add(time.Second); j.DueAt.After(latest) {
				return j.DueAt
			}
		}
		return latest
	}
	begun := c.now()
	for latest := undelivered(); !latest.IsZero(); latest = undelivered() {
		if c.now().Sub(begun) > 24*time.Hour {
			c.Fatal("waited a day for the delivery of all events")
		}
		<-time.After(latest.Sub(c.now()))
	}
}

// comeBack has the endpoint that has left enabled, and its dead events replayed.
func (c *campaign) comeBack() {
	c.Helper()
	ctx, r := context.Background(), c.leaving
	dead, err := c.some().WebhookDead(ctx, chat.Tenant, "leaving", wire.JobQuery{})
	if err != nil {
		c.Fatal(err)
	}
	r.mu.Lock()
	r.leaves = false
	for _, e := range dead { // some came when it had left
		r.refusals[e.EventID]++
	}
	r.mu.Unlock()
	if _, err := c.some().ChangeWebhook(ctx, chat.Tenant, "leaving", wire.WebhookChange{Disabled: new(bool)}); err != nil {
		c.Fatal(err)
	}
	done, err := c.some().ReplayWebhook(ctx, chat.Tenant, "leaving", wire.WebhookReplay{Since: time.Unix(1, 0)})
	if err != nil || done.Events != len(dead) {
		c.Errorf("of %d dead events, %d came back, %v", len(dead), done.Events, err)
	}
	c.deliverAll()
}

// compare counts what a receiver has got, and checks that the thread had at least as many of each, and that what it has
// refused came again.
func (r *eventReceiver) compare(want map[string]int) (got map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range r.wrong {
		r.campaign.Error(text)
	}
	for _, id := range slices.Sorted(maps.Keys(r.refusals)) {
		if _, ok := r.taken[id]; !ok {
			r.campaign.Errorf("the %s has refused the event %s, and never got it", r.name, id)
		}
	}
	got = make(map[string]int)
	for _, e := range r.taken {
		got[eventKey(e.Type, e.Data.RunID, e.Data.Question)]++
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		budget := want[key] == 0 && strings.HasPrefix(key, string(wire.WebhookRunBudgetReached))
		if got[key] > want[key] && !budget {
			r.campaign.Errorf("the %s has %d events %q, and the thread had %d", r.name, got[key], key, want[key])
		}
	}
	return got
}

func eventKey(kind wire.WebhookType, run spool.RunID, q *wire.WebhookQuestion) string {
	if q != nil && kind != wire.WebhookRunBudgetReached {
		return string(kind) + " " + string(q.ToolCallID)
	}
	return string(kind) + " " + string(run)
}

// expectedEvents counts the transitions that the record and the runs tell.
func (c *campaign) expectedEvents() map[string]int {
	want := make(map[string]int)
	for _, e := range c.entriesOf(chat) {
		kind := map[wire.EntryType]wire.WebhookType{
			wire.EntryInputRequired: wire.WebhookRunWaiting, wire.EntryInputExpiring: wire.WebhookRunExpiring,
			wire.EntryInputExpired: wire.WebhookRunExpired,
		}[e.Type]
		if kind == "" {
			continue
		}
		var p struct{ ToolCallID spool.ToolCallID }
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			c.Fatal(err)
		}
		want[eventKey(kind, e.RunID, &wire.WebhookQuestion{ToolCallID: p.ToolCallID})]++
	}
	for _, run := range c.runsOf(chat) {
		if run.Depth > 0 || run.StopReason == wire.StopSteered {
			continue
		}
		if run.Segments > 0 {
			want[eventKey(wire.WebhookRunStarted, run.ID, nil)]++
		}
		if kind := endOf(run); kind != "" {
			want[eventKey(kind, run.ID, nil)]++
		}
	}
	return want
}

func endOf(run store.RunRow) wire.WebhookType {
	return map[wire.State]wire.WebhookType{
		wire.Completed: wire.WebhookRunCompleted, wire.Failed: wire.WebhookRunFailed,
		wire.Cancelled: wire.WebhookRunCancelled,
	}[run.State]
}

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

// eventReceiver is the endpoint of a campaign, which fails, hangs, and asks for later attempts. It is the network of
// the sender: what it gets, it has been sent.
type eventReceiver struct {
	campaign *campaign

	mu       sync.Mutex
	links    int
	refusals map[string]int               // by the id of the event
	bodies   map[string]string            // by the id, without the link
	taken    map[string]wire.WebhookEvent // by the id
	wrong    []string
}

// receive gives the campaign an endpoint that is told of everything.
func (c *campaign) receive() {
	c.received = &eventReceiver{
		campaign: c, refusals: make(map[string]int), bodies: make(map[string]string),
		taken: make(map[string]wire.WebhookEvent),
	}
	sender, err := webhook.NewSender(webhook.Config{Listed: []string{"127.0.0.1"}, Transport: c.received})
	if err != nil {
		c.Fatal(err)
	}
	c.config.Webhooks = option.Webhooks{
		Sender: sender, Link: c.received.link,
		Endpoints: []option.WebhookEndpoint{{
			Name: "all", Tenant: chat.Tenant, URL: "http://127.0.0.1/all", Approver: "ann", Text: true,
			Secrets: []string{"whsec_" + strings.Repeat("MfKQ9r8G", 4)},
		}},
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

// RoundTrip implements [http.RoundTripper].
func (r *eventReceiver) RoundTrip(q *http.Request) (*http.Response, error) {
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
	}
	return &http.Response{
		StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: q,
	}, nil
}

// decide returns how long an attempt takes, how it fails, if it does, and whether the receiver has got the event. One
// that fails may have got it.
func (r *eventReceiver) decide(id string) (wait time.Duration, refuse int, hear bool) {
	c := r.campaign
	wait = time.Duration(c.n(1500, "receiver", id)) * time.Millisecond
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refusals[id] >= mostRefusals || c.n(3, "receiver fails", id) > 0 {
		return wait, 0, true
	}
	r.refusals[id]++
	if c.n(6, "receiver hangs", id) == 0 {
		return time.Hour, 0, false
	}
	return wait, 1 + c.n(3, "receiver answers", id), c.n(2, "receiver hears", id) == 0
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

// settleEvents waits until nothing is left to be delivered, and compares what the receiver has got with what the record
// says.
func (c *campaign) settleEvents() {
	if c.received == nil {
		return
	}
	c.Helper()
	queue := "spool.webhooks"
	undelivered := func() (latest time.Time) {
		left, err := c.backend.Store.Jobs(context.Background(), wire.JobQuery{Tenant: chat.Tenant, Queue: &queue})
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
	// Attempts whose workers died count too, so that a refused event may come again after hours.
	begun := c.now()
	for latest := undelivered(); !latest.IsZero(); latest = undelivered() {
		if c.now().Sub(begun) > 24*time.Hour {
			c.Fatal("waited a day for the delivery of all events")
		}
		<-time.After(latest.Sub(c.now()))
	}
	dead, err := c.backend.Store.Jobs(context.Background(), wire.JobQuery{
		Tenant: chat.Tenant, Queue: &queue, State: wire.JobDead,
	})
	if err != nil || len(dead) > 0 {
		c.Errorf("%d events were given up (%v): %+v", len(dead), err, dead)
	}
	r := c.received
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range r.wrong {
		c.Error(text)
	}
	got := make(map[string]int)
	for _, e := range r.taken {
		got[eventKey(e.Type, e.Data.RunID, e.Data.Question)]++
	}
	want := c.expectedEvents()
	if len(want) == 0 || len(got) == 0 {
		c.Errorf("the thread had %d kinds of events, and the receiver has %d", len(want), len(got))
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			c.Errorf("the receiver has %d events %q, and the thread had %d", got[key], key, want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if want[key] == 0 && !strings.HasPrefix(key, string(wire.WebhookRunBudgetReached)) {
			c.Errorf("the receiver has %d events %q, and the thread had none", got[key], key)
		}
	}
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

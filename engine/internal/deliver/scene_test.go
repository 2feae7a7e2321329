package deliver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/engine/internal/worker"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/inprocess"
	signing "github.com/spoolhq/spool/server/verify/webhook"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

const (
	acme   spool.Tenant = "acme"
	secret              = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	keep                = 30 * 24 * time.Hour
)

// scene is a store, the endpoints of a tenant, and the peers behind them, each a server of HTTP in the test's bubble.
type scene struct {
	t      *testing.T
	db     store.Store
	live   store.Live
	sender *webhook.Sender
	// network leads to the peers.
	network http.RoundTripper
	link    func(context.Context, option.WebhookLink) (string, error)
	// right is the answer about the right of each endpoint's maker.
	right error

	mu        sync.Mutex
	log       bytes.Buffer
	endpoints map[string]endpoint.Endpoint
	got       []received
	// under counts the requests that a peer has not answered yet, and most is the greatest number of them.
	under, most map[string]int
	// former is whether the tenant has no endpoint any more.
	former bool
}

// RoundTrip counts requests.
func (s *scene) RoundTrip(r *http.Request) (*http.Response, error) {
	count := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.under[r.URL.Path] += n
		s.most[r.URL.Path] = max(s.most[r.URL.Path], s.under[r.URL.Path])
	}
	count(1)
	defer count(-1)
	return s.network.RoundTrip(r)
}

// received is a request that a peer got.
type received struct {
	to, id, body, signature string
	at                      time.Duration
}

func newScene(t *testing.T, peers map[string]http.HandlerFunc) *scene {
	t.Helper()

	s := &scene{
		t: t, db: memory.New(nil).Store, live: inprocess.NewLive(0), endpoints: make(map[string]endpoint.Endpoint),
		under: make(map[string]int), most: make(map[string]int),
	}
	mux := http.NewServeMux()
	began := time.Now()
	verifier, err := signing.New(signing.Config{Secrets: []string{secret}})
	s.ok("verifier", err)
	for name, handle := range peers {
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				err = verifier.Verify(r, body)
			}
			if err != nil {
				t.Errorf("%s got %s: %v", name, body, err)
			}
			s.mu.Lock()
			s.got = append(s.got, received{
				name, r.Header.Get("Webhook-Id"), string(body), r.Header.Get("Webhook-Signature"), time.Since(began),
			})
			s.mu.Unlock()
			handle(w, r)
		})
		s.add(name, webhook.FormConfig{})
	}
	network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	transport := &http.Transport{DialContext: network.dial}
	s.network = transport
	go func() { _ = server.Serve(network) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
	})
	s.sender, err = webhook.NewSender(webhook.Config{Listed: []string{"127.0.0.1"}, Transport: s})
	s.ok("sender", err)
	return s
}

func (s *scene) ok(what string, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
}

// add adds an endpoint of the configuration.
func (s *scene) add(name string, form webhook.FormConfig) {
	signer, err := webhook.NewSigner("secrets", []string{secret})
	s.ok("signer", err)
	rendered, err := webhook.NewForm(form)
	s.ok("form", err)
	s.change(name, func(e *endpoint.Endpoint) {
		e.Name, e.URL, e.FromFile, e.Signer, e.Render = name, "http://127.0.0.1/"+name+"?key=hidden", true, signer, rendered
		e.Form = string(form.Form)
	})
}

func (s *scene) change(name string, change func(e *endpoint.Endpoint)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.endpoints[name]
	change(&e)
	s.endpoints[name] = e
}

// The scene is the [Endpoints] of its deliverers.

func (s *scene) Find(_ context.Context, tenant spool.Tenant, name string) (endpoint.Endpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.endpoints[name]
	if !ok || tenant != acme {
		return e, spool.Errorf(spool.NotFound, "no endpoint")
	}
	return e, nil
}

func (s *scene) Host(tenant spool.Tenant, url string) (endpoint.Endpoint, error) {
	if !strings.HasPrefix(url, "http://127.0.0.1/") {
		return endpoint.Endpoint{}, spool.Errorf(spool.Invalid, "the host is not listed")
	}
	e, err := s.Find(s.t.Context(), tenant, "host")
	e.URL = ""
	return e, err
}

// MayTell answers with the right of the scene.
func (s *scene) MayTell(context.Context, spool.Tenant, endpoint.Endpoint) error { return s.right }

func (s *scene) OpenURL(_ spool.Tenant, kept string) (string, error) {
	if strings.HasPrefix(kept, "sealed:") {
		return "", spool.Errorf(spool.Invalid, "no key")
	}
	return kept, nil
}

func (s *scene) Disable(_ context.Context, _ spool.Tenant, name, reason string) error {
	s.change(name, func(e *endpoint.Endpoint) { e.DisabledAt, e.DisabledReason = time.Now(), reason })
	return nil
}

func (s *scene) Tenants(context.Context) ([]spool.Tenant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.former {
		return nil, nil
	}
	return []spool.Tenant{acme}, nil
}

// Write takes the log.
func (s *scene) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(line)
}

// deliverer returns the deliveries of one process.
func (s *scene) deliverer() *Deliverer {
	return New(Config{
		Store: s.db, Live: s.live, Log: slog.New(slog.NewTextHandler(s, nil)), Endpoints: s, Sender: s.sender, Link: s.link,
		Keep: keep,
	})
}

// work starts deliveries, and returns a function that ends them.
func (s *scene) work(d *Deliverer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, s.worker()) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
}

func (s *scene) worker() worker.Config {
	return worker.Config{
		Store: s.db, Live: s.live, Log: slog.New(slog.NewTextHandler(s, nil)), Lease: 30 * time.Second,
		Poll: 10 * time.Minute, SweepEvery: time.Second, Claimed: func(context.Context, store.Delivery) {},
	}
}

// run delivers for a time.
func (s *scene) run(d time.Duration) {
	stop := s.work(s.deliverer())
	pass(d)
	stop()
}

// event is an event of a thread, whose version orders it.
func event(id string, thread spool.ThreadID, version int64) wire.WebhookEvent {
	for _, e := range wire.WebhookSamples() {
		if e.Type == wire.WebhookRunCompleted {
			e.ID, e.Timestamp = id, time.Now()
			e.Data.ThreadID, e.Data.Version = thread, version
			return e
		}
	}
	panic("no sample")
}

// question is an event about a question that waits for a day.
func question(id string) wire.WebhookEvent {
	for _, e := range wire.WebhookSamples() {
		if e.Type == wire.WebhookRunWaiting {
			e.ID, e.Timestamp, e.Data.Question.ExpiresAt = id, time.Now(), time.Now().Add(24*time.Hour)
			return e
		}
	}
	panic("no sample")
}

// tell writes events for an endpoint.
func (s *scene) tell(to string, events ...wire.WebhookEvent) {
	s.t.Helper()
	for _, e := range events {
		text, err := wire.EncodeWebhook(e)
		s.ok("encode", err)
		s.put(e, to, endpoint.Event{Event: text})
	}
	s.live.Wake(store.EventsTopic, store.WakeJobs, nil)
}

func (s *scene) put(e wire.WebhookEvent, to string, payload endpoint.Event) {
	s.t.Helper()
	s.ok("write", s.db.Update(s.t.Context(), spool.ThreadKey{Tenant: acme, ID: e.Data.ThreadID}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Jobs: []wire.Job{{
			Key: e.ID + " " + to, Queue: endpoint.Queue, Subject: to, Payload: payload.Encode(),
		}}})
	}))
}

// ids returns what a peer got, with the times.
func (s *scene) ids(peer string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := []string{}
	for _, r := range s.got {
		if r.to == peer {
			ids = append(ids, fmt.Sprintf("%s %s", r.id, r.at.Round(time.Second)))
		}
	}
	return ids
}

func (s *scene) requests() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// jobs returns the event ids of jobs, with their causes.
func (s *scene) jobs(state wire.JobState) []string {
	s.t.Helper()
	all, err := s.db.Jobs(s.t.Context(), wire.JobQuery{Tenant: acme, State: state})
	s.ok("jobs", err)
	ids := []string{}
	for _, j := range all {
		_, e, err := endpoint.Decode(j.Payload)
		s.ok("decode", err)
		ids = append(ids, strings.TrimSuffix(e.ID+": "+j.Cause, ": "))
	}
	return ids
}

// dump returns everything that the store has about webhooks, and the log.
func (s *scene) dump() string {
	s.t.Helper()
	var all strings.Builder
	for _, state := range []wire.JobState{"", wire.JobDead} {
		jobs, err := s.db.Jobs(s.t.Context(), wire.JobQuery{Tenant: acme, State: state})
		s.ok("jobs", err)
		for _, j := range jobs {
			fmt.Fprintf(&all, "%+v %s\n", j, j.Payload)
		}
	}
	for _, kind := range []string{bodyKind, logKind} {
		rows, err := s.db.Rows(s.t.Context(), store.RowQuery{Tenant: acme, Kind: kind})
		s.ok("rows", err)
		for _, r := range rows {
			fmt.Fprintf(&all, "%s %s\n", r.Key, r.Value)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all.Write(s.log.Bytes())
	return all.String()
}

func (s *scene) attempts(name string) []string {
	s.t.Helper()
	all, err := s.deliverer().Attempts(s.t.Context(), acme, name, 0)
	s.ok("attempts", err)
	lines := []string{}
	for _, a := range all {
		next := ""
		if !a.NextAt.IsZero() {
			next = " again"
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf(
			"%s %d %s %d %s%s%s", a.EventID, a.Attempt, a.Result, a.Status, a.Answer, a.Error, next)))
	}
	return lines
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// pipes is a network in memory, which a bubble can wait for.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// answer returns a peer that answers with a status.
func answer(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// hang is a peer that never answers.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// pass lets time pass.
func pass(d time.Duration) { <-time.After(d) }

// ackOf returns what a handler has decided.
func ackOf(t *testing.T, err error) store.Ack {
	t.Helper()
	decided, ok := err.(*store.AckError) //nolint:errorlint // the handler returns no other
	if !ok {
		t.Fatalf("%v is no decision", err)
	}
	return decided.Ack
}

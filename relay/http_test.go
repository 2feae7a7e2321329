package relay_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/relay"
	"github.com/spoolhq/spool/server/verify/webhook"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var delivery = store.Delivery{
	Job:   wire.Job{Tenant: "a", ThreadID: "t1", RunID: "r1", Agent: "assistant", DueAt: time.Unix(1, 0)},
	JobID: 7, Token: 3, Attempt: 2,
}

// serve listens on loopback, which the default transport may reach by the URL's own host.
func serve(t *testing.T, handle http.HandlerFunc) *relay.Relay {
	t.Helper()

	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	r, err := relay.New(relay.Config{URL: s.URL + "/in?key=hidden", Secrets: []string{secret}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDeliver(t *testing.T) {
	t.Parallel()

	verifier, err := webhook.New(webhook.Config{Secrets: []string{secret}})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	r := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verifier.Verify(r, body)
		}
		var job wire.Job
		if err == nil {
			err = json.Unmarshal(body, &job)
		}
		if job.RunID != "r1" || !job.DueAt.IsZero() || r.Method != http.MethodPost ||
			r.Header.Get("Content-Type") != "application/json" || r.URL.String() != "/in?key=hidden" {
			t.Errorf("%s %s with %v: %s", r.Method, r.URL, r.Header, body)
		}
		got <- err
	})
	result, err := r.Deliver(t.Context(), delivery)
	if err != nil || !result.Accepted {
		t.Fatalf("Deliver = %+v, %v", result, err)
	}
	if len(got) == 0 {
		t.Fatal("nothing was sent")
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// A connection that is cut, a redirect and a context that ends are errors, which tell nobody
// the URL.
func TestDeliverFails(t *testing.T) {
	t.Parallel()

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		handle http.HandlerFunc
		want   string
	}{
		"Cut": {
			t.Context(), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			"the receiver of pushed jobs cannot be reached",
		},
		"Redirected": {t.Context(), redirect, "the receiver of pushed jobs answered 307 Temporary Redirect"},
		"Ended":      {gone, func(http.ResponseWriter, *http.Request) {}, "the receiver of pushed jobs cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			result, err := serve(t, c.handle).Deliver(c.ctx, delivery)
			if result.Accepted || spool.CodeOf(err) != spool.Unavailable || spool.MessageOf(err) != c.want {
				t.Errorf("Deliver = %+v, %v", result, err)
			}
			if err != nil && strings.Contains(err.Error(), "hidden") {
				t.Errorf("the error tells the URL: %v", err)
			}
		})
	}
}

func redirect(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/other" {
		return // it would be taken
	}
	http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
}

// Two outboxes that count alike push messages of different names.
func TestMessageID(t *testing.T) {
	t.Parallel()

	ids := make(chan string, 1)
	r := serve(t, func(_ http.ResponseWriter, r *http.Request) { ids <- r.Header.Get(webhook.HeaderID) })
	id := func(change func(d *store.Delivery)) string {
		d := delivery
		change(&d)
		if _, err := r.Deliver(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if len(ids) == 0 {
			t.Fatal("nothing was sent")
		}
		return <-ids
	}
	first := id(func(*store.Delivery) {})
	same := id(func(d *store.Delivery) { d.Token, d.Attempt, d.DueAt = 4, 3, time.Unix(2, 0) })
	if first != same {
		t.Errorf("another attempt is %s, the first %s", same, first)
	}
	for name, change := range map[string]func(d *store.Delivery){
		"Number": func(d *store.Delivery) { d.JobID = 8 },
		"Run":    func(d *store.Delivery) { d.RunID = "r2" },
	} {
		if other := id(change); other == first {
			t.Errorf("%s: another job has the id %s too", name, other)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		config relay.Config
		want   string
	}{
		"NoURL":    {relay.Config{Secrets: []string{secret}}, "URL must be an http or https URL"},
		"OtherURL": {relay.Config{URL: "ftp://hidden", Secrets: []string{secret}}, "URL must be an http or https URL"},
		"NoHost":   {relay.Config{URL: "http://:80/hidden", Secrets: []string{secret}}, "URL must be an http or https URL"},
		"BadHost": {
			relay.Config{URL: "http://*.hidden/", Secrets: []string{secret}}, "URL must have a host name or an IP address",
		},
		"NoSecrets": {relay.Config{URL: consumer}, "Secrets is required"},
		"BadSecret": {
			relay.Config{URL: consumer, Secrets: []string{"hidden"}},
			`Secrets[0] must be base64, with or without "whsec_" before it`,
		},
		"Timeout": {relay.Config{URL: consumer, Secrets: []string{secret}, Timeout: -1}, "Timeout must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, err := relay.New(c.config); spool.CodeOf(err) != spool.Invalid || err.Error() != c.want {
				t.Errorf("New = %v, want %s", err, c.want)
			}
		})
	}
}

package webhook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	signing "github.com/spoolhq/spool/server/verify/webhook"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// delivery is a request as it arrived, and the secret with which a receiver looks at it.
type delivery struct {
	Name     string            `json:"name"`
	Secret   string            `json:"secret"`
	Headers  map[string]string `json:"headers"`
	Body     []byte            `json:"body"`
	accepted bool
}

// clock is so much ahead of the machine's.
type clock time.Duration

func (c clock) Now() time.Time { return time.Now().Add(time.Duration(c)) }

// deliver has a sender post an event with the secrets, and returns what arrived.
func deliver(t *testing.T, e wire.WebhookEvent, ahead time.Duration, secrets ...string) delivery {
	t.Helper()

	var got delivery
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var err error
		if got.Body, err = io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		got.Headers = make(map[string]string)
		for name := range r.Header {
			got.Headers[strings.ToLower(name)] = r.Header.Get(name)
		}
	}))
	defer server.Close()
	sender, err := webhook.NewSender(webhook.Config{Listed: []string{"127.0.0.1"}, Clock: clock(ahead)})
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	signer, err := signing.NewSigner(secrets)
	if err != nil {
		t.Fatal(err)
	}
	form, err := webhook.NewForm(webhook.FormConfig{})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := wire.EncodeWebhook(e)
	if err != nil {
		t.Fatal(err)
	}
	body, err := form.Render(payload)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := body.WithLink("https://agents.example/links/x")
	if err != nil {
		t.Fatal(err)
	}
	outcome := sender.Send(t.Context(), webhook.Post{ID: e.ID, URL: server.URL, Listed: true, Signer: signer, Body: sent})
	if outcome.Class != webhook.Delivered {
		t.Fatalf("%s: %v", outcome.Class, outcome.Err)
	}
	got.Secret, got.accepted = secrets[0], true
	return got
}

// deliveries are good ones of each kind of event, and ones that a receiver has to refuse.
func deliveries(t *testing.T) []delivery {
	t.Helper()

	secret, other := signing.NewSecret(), signing.NewSecret()
	var all []delivery
	add := func(name string, d delivery, change func(d *delivery)) {
		d.Name = name
		if change != nil {
			change(&d)
		}
		all = append(all, d)
	}
	for _, e := range wire.WebhookSamples() {
		add(string(e.Type), deliver(t, e, 0, secret), nil)
	}
	e := wire.WebhookSamples()[1]
	e.Data.Text = "é, € and 😀: \u2028 \"<&>\" \\"
	good := deliver(t, e, 0, secret)
	add("letters", good, nil)
	add("rotated, old", deliver(t, e, 0, secret, other), nil)
	add("rotated, new", deliver(t, e, 0, other, secret), nil)
	add("nearly late", deliver(t, e, -4*time.Minute, secret), nil)
	add("nearly early", deliver(t, e, 4*time.Minute, secret), nil)
	add("late", deliver(t, e, -5*time.Minute-10*time.Second, secret), func(d *delivery) { d.accepted = false })
	add("early", deliver(t, e, 6*time.Minute, secret), func(d *delivery) { d.accepted = false })
	add("other secret", good, func(d *delivery) { d.Secret, d.accepted = other, false })
	add("altered body", good, func(d *delivery) {
		d.Body, d.accepted = bytes.Replace(d.Body, []byte(`"r1"`), []byte(`"r2"`), 1), false
	})
	add("longer body", good, func(d *delivery) { d.Body, d.accepted = append(bytes.Clone(d.Body), ' '), false })
	for header, value := range map[string]string{
		"webhook-id": "msg_other", "webhook-timestamp": "", "webhook-signature": "v1,bm9uZQ==",
	} {
		add("altered "+header, good, func(d *delivery) {
			headers := maps.Clone(d.Headers)
			headers[header], d.Headers, d.accepted = value, headers, false
		})
	}
	return all
}

// check compares what a library says of the deliveries, a line each.
func check(t *testing.T, all []delivery, said string) {
	t.Helper()

	lines := strings.Split(strings.TrimSpace(said), "\n")
	if len(lines) != len(all) {
		t.Fatalf("%d deliveries, the library says:\n%s", len(all), said)
	}
	for i, d := range all {
		want := d.Name + " refused"
		if d.accepted {
			want = d.Name + " accepted"
		}
		if strings.TrimSpace(lines[i]) != want {
			t.Errorf("the library says %q, want %q", lines[i], want)
		}
	}
}

func TestGo(t *testing.T) {
	t.Parallel()

	var said strings.Builder
	all := deliveries(t)
	for _, d := range all {
		w, err := standardwebhooks.NewWebhook(d.Secret)
		if err != nil {
			t.Fatal(err)
		}
		headers := http.Header{}
		for name, value := range d.Headers {
			headers.Set(name, value)
		}
		verdict := " accepted\n"
		if w.Verify(d.Body, headers) != nil {
			verdict = " refused\n"
		}
		said.WriteString(d.Name + verdict)
	}
	check(t, all, said.String())
}

func TestTypeScript(t *testing.T) {
	t.Parallel()

	if _, err := os.Stat("../node_modules/standardwebhooks/package.json"); err != nil {
		missing(t, "standardwebhooks of npm is not installed (make deps/npm does)")
	}
	all := deliveries(t)
	check(t, all, run(t, all, "node", "verify.mjs"))
}

func TestPython(t *testing.T) {
	t.Parallel()

	python, err := filepath.Abs("../clients/.venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(python); err != nil {
		if why, err := os.ReadFile("../clients/.venv-skipped"); err == nil {
			t.Skip(strings.TrimSpace(string(why)))
		}
		missing(t, "test/clients/.venv is not there (make deps/python makes it)")
	}
	all := deliveries(t)
	check(t, all, run(t, all, python, "verify.py"))
}

// missing says what is not tested. It fails where nothing may be skipped.
func missing(t *testing.T, why string) {
	t.Helper()

	if os.Getenv("SPOOL_TEST_REQUIRE") != "" {
		t.Fatal(why)
	}
	t.Skip(why + ": skipped")
}

// run has a program read the deliveries, and returns what it prints.
func run(t *testing.T, all []delivery, program string, args ...string) string {
	t.Helper()

	input, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Stdin = bytes.NewReader(input)
	out, err := command.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%s: %v\n%s%s", program, err, out, failed.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

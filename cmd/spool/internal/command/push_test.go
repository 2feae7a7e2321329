package command

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spoolhq/spool/server/verify/webhook"
	"github.com/spoolhq/spool/wire"
)

const pushSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// outside is a queue that takes jobs from a process and has a bad start.
type outside struct {
	verifier *webhook.Verifier
	taken    chan string
	asked    atomic.Int32
}

// ServeHTTP implements [http.Handler].
func (o *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = o.verifier.Verify(r, body)
	}
	if err == nil && r.Header.Get("X-Key") != "hidden-header" {
		err = errors.New("there is no key")
	}
	switch {
	case err != nil:
		w.WriteHeader(http.StatusUnauthorized)
	case o.asked.Add(1) == 1:
		w.WriteHeader(http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusAccepted)
		o.taken <- string(body)
	}
}

// configured writes a configuration that pushes to url.
func configured(t *testing.T, url string) string {
	t.Helper()

	file := filepath.Join(t.TempDir(), "spool.yaml")
	text := "queue:\n  push: {url: '" + url + "', secrets: [" + pushSecret +
		"], headers: {X-Key: hidden-header}}\n  verify:\n    secret: {secrets: [hidden-shared-secret]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A process that pushes executes only what it is delivered.
func TestServePush(t *testing.T) {
	t.Parallel()

	verifier, err := webhook.New(webhook.Config{Secrets: []string{pushSecret}})
	if err != nil {
		t.Fatal(err)
	}
	queue := &outside{verifier: verifier, taken: make(chan string, 10)}
	listening := httptest.NewServer(queue)
	t.Cleanup(listening.Close)
	p := start(t, t.TempDir(), "--config", configured(t, listening.URL+"/in?key=hidden-key"))
	if want := "  jobs    pushed to " + strings.TrimPrefix(
		listening.URL, "http://",
	) + "\n"; !strings.Contains(p.banner, want) {
		t.Errorf("the banner lacks %q:\n%s", want, p.banner)
	}
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"hello"}`)

	var job string
	select {
	case job = <-queue.taken:
	case <-time.After(patience):
		t.Fatal("nothing was pushed")
	}
	if history := p.get(t, "/api/agent/history?threadId=t1"); !strings.Contains(history, `"state":"QUEUED"`) {
		t.Errorf("before the delivery: %s", history)
	}
	r, err := http.NewRequestWithContext(patiently(t), http.MethodPost, p.url+"/api/queue/agent-run",
		strings.NewReader(job))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer hidden-shared-secret")
	if got := read(t, r); got != `{"accepted":true}` {
		t.Errorf("delivery: %s", got)
	}
	var w watcher
	w.watch(t, p, func(f wire.Frame) bool {
		frame, err := json.Marshal(f) // a snapshot, or a notice
		return err == nil && strings.Contains(string(frame), `"state":"COMPLETED"`)
	})
	completed(t, p)
	if code := p.signal(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if told := p.banner + p.stderr.String(); strings.Contains(told, "hidden") || strings.Contains(told, pushSecret[6:]) {
		t.Errorf("a secret is told:\n%s", told)
	}
}

// A mistake in the section is told with its place, without a secret.
func TestServePushMistakes(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ url, secret, want string }{
		"Secret": {
			"https://queue.example.com/in", "hidden",
			`queue.push: secrets[0] must be base64, with or without "whsec_" before it`,
		},
		"Host": {"https://*.hidden/", pushSecret, "queue.push: url must have a host name or an IP address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			file := configured(t, c.url)
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, []byte(strings.Replace(string(text), pushSecret, c.secret, 1)), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := command(nil, "serve", "--config", file)
			if got.code != exitUsage || !strings.HasPrefix(got.stderr, "spool: "+file+":2: "+c.want+"\n") ||
				strings.Contains(got.stderr, "hidden") {
				t.Errorf("%+v, want %s", got, c.want)
			}
		})
	}
}

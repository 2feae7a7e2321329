package command

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spoolhq/spool/server/verify/webhook"
	"github.com/spoolhq/spool/wire"
)

// A queue of the configuration may deliver by any of its schemes, nobody else may, and
// neither the banner nor the log has a secret.
func TestServeQueue(t *testing.T) {
	t.Parallel()

	const (
		signing = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		shared  = "hidden-shared-secret"
		job     = `{"threadId":"t1","runId":"r1","agent":"assistant"}`
		path    = "/api/queue/agent-run"
		refused = `{"error":"the delivery is not signed by the queue","code":"unauthorized"}`
		taken   = `{"accepted":true}`
	)
	file := filepath.Join(t.TempDir(), "spool.yaml")
	text := "queue:\n  verify:\n    webhook: {secrets: [" + signing + "]}\n    secret: {secrets: [" + shared +
		"], header: X-Queue-Secret}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, t.TempDir(), "--config", file)
	if want := "  queue   webhook, secret\n"; !strings.Contains(p.banner, want) {
		t.Errorf("the banner lacks %q:\n%s", want, p.banner)
	}
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"hello"}`)

	deliver := func(body string, header http.Header) string {
		r, err := http.NewRequestWithContext(patiently(t), http.MethodPost, p.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		return read(t, r)
	}
	signer, err := webhook.NewSigner([]string{signing})
	if err != nil {
		t.Fatal(err)
	}
	signed := http.Header{}
	if err := signer.Sign(signed, "msg_1", time.Now(), []byte(job)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body   string
		header http.Header
		want   string
	}{
		"Signed":    {job, signed, taken},
		"WithKey":   {job, http.Header{"X-Queue-Secret": {shared}}, taken},
		"Unsigned":  {job, http.Header{}, refused},
		"OtherBody": {job + " ", signed, refused},
		"WrongKey":  {job, http.Header{"X-Queue-Secret": {shared + "0"}}, refused},
	} {
		if got := deliver(c.body, c.header); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	var w watcher
	if !w.watch(t, p, func(f wire.Frame) bool {
		// In a snapshot, or in a notice: the run may be over by now.
		frame, err := json.Marshal(f)
		return err == nil && strings.Contains(string(frame), `"state":"COMPLETED"`)
	}) {
		t.Fatal("the stream ended")
	}
	completed(t, p)
	if code := p.signal(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	for _, hidden := range []string{signing[6:], shared} {
		if strings.Contains(p.banner+p.stderr.String(), hidden) {
			t.Errorf("%s is told:\n%s%s", hidden, p.banner, p.stderr)
		}
	}
}

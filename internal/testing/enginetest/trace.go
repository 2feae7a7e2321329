package enginetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// trace has a line for each thing that has happened in a campaign: what the campaign did, the port
// calls in order with their faults, and finally the record, the runs, the messages and each client's
// frames. It includes ids and times. A nil trace records nothing.
type trace struct {
	began time.Time

	mu   sync.Mutex
	text bytes.Buffer
}

func newTrace() *trace { return &trace{began: time.Now()} }

// addf adds a line, which begins with the time since the start.
func (t *trace) addf(format string, args ...any) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(&t.text, "%s ", time.Since(t.began))
	_, _ = fmt.Fprintf(&t.text, format, args...)
	_ = t.text.WriteByte('\n')
}

// call adds a port call.
func (t *trace) call(as, name, subject string, kind spooltest.FaultKind, err error) {
	if t == nil {
		return
	}
	line := strings.TrimSpace(as + " " + name + " " + subject)
	if kind != 0 {
		line += ", " + kind.String()
	}
	if err != nil {
		line += ": " + string(spool.CodeOf(err))
	}
	t.addf("%s", line)
}

// end adds the final contents of a history, when nothing changes it any more.
func (t *trace) end(h *spooltest.History) {
	if t == nil {
		return
	}
	for _, d := range h.Threads {
		t.addf("thread %s", asJSON(d.Thread))
		for _, r := range d.Runs {
			t.addf("run %s", asJSON(r))
		}
		for _, e := range d.Entries {
			t.addf("entry %s", asJSON(e))
		}
		for _, m := range d.Messages {
			t.addf("message %s", asJSON(m))
		}
	}
	for _, client := range h.Clients {
		for _, f := range client.Frames {
			t.addf("client %s %s", client.Name, asJSON(f))
		}
	}
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// hash returns a short name of the trace.
func (t *trace) hash() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := sha256.Sum256(t.text.Bytes())
	return hex.EncodeToString(sum[:8])
}

func (t *trace) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Split(strings.TrimSuffix(t.text.String(), "\n"), "\n")
}

// report says which trace a seed has given, and writes it to the folder of SPOOL_TRACE.
func (t *trace) report(test *testing.T, seed uint64) {
	test.Helper()
	if t == nil {
		return
	}
	hash := t.hash()
	test.Logf("seed %d: trace %s of %d lines", seed, hash, len(t.lines()))
	if folder := os.Getenv("SPOOL_TRACE"); folder != "" {
		file := filepath.Join(folder, fmt.Sprintf("%d-%s.txt", seed, hash))
		if err := os.WriteFile(file, []byte(strings.Join(t.lines(), "\n")+"\n"), 0o600); err != nil {
			test.Error(err)
		}
	}
}

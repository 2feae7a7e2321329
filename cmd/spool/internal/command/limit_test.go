package command

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a caller may do is bounded by the configuration, and by more than anybody needs
// without one.
func TestServeLimits(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "spool.yaml")
	if err := os.WriteFile(
		file,
		[]byte("limits: {starts_per_minute: 2, open_streams: 3, max_wait: 45s, disconnect_grace: 9s, max_queue_depth: 4, max_queue_depth_per_tenant: 3, concurrency: 7, running_per_tenant: 6, wall_time: 0s}\n"),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	set, err := loadSetup(options{listen: "127.0.0.1:0", config: file}, os.LookupEnv, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if l := set.server.Limits; l.StartsPerMinute != 2 || l.OpenStreams != 3 || set.engine.Limits.QueueDepth != 4 ||
		set.server.MaxWait != 45*time.Second || set.server.DisconnectGrace != 9*time.Second {
		t.Errorf("limits %+v, depth %d", l, set.engine.Limits.QueueDepth)
	}
	if w := set.work; w.Concurrency != 7 || w.PerTenant != 6 || set.engine.Limits.TenantDepth != 3 ||
		set.engine.Limits.WallTime >= 0 {
		t.Errorf("workers %+v, depth of a tenant %d", w, set.engine.Limits.TenantDepth)
	}
	if set, err = loadSetup(options{listen: "127.0.0.1:0"}, os.LookupEnv, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if l := set.server.Limits; l.StartsPerMinute < 1000 || l.EventsPerMinute < 100 || l.OpenStreams < 1000 ||
		set.engine.Limits.QueueDepth < 10_000 || set.engine.Limits.TenantDepth >= set.engine.Limits.QueueDepth {
		t.Errorf("without a configuration: limits %+v, depth %d", l, set.engine.Limits.QueueDepth)
	}

	p := start(t, t.TempDir(), "--config", file)
	for i, want := range []string{
		`"accepted":true`, `"reason":"active_run"`, `{"error":"too many starts: 2 a minute are allowed","code":"limit"}`,
	} {
		r, err := http.NewRequestWithContext(patiently(t), http.MethodPost, p.url+"/api/agent/run",
			strings.NewReader(`{"threadId":"t1","prompt":"slow 30"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if got := read(t, r); !strings.Contains(got, want) {
			t.Errorf("start %d: %s", i, got)
		}
	}
}

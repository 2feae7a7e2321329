package anthropic_test

import (
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/anthropic"
)

// A call is charged by how long its cache keeps what it writes, and by its service tier.
func TestBilling(t *testing.T) {
	t.Parallel()

	for cache, want := range map[anthropic.Cache]time.Duration{
		"": 0, anthropic.CacheShort: 0, anthropic.CacheLong: time.Hour, anthropic.CacheOff: 0,
	} {
		m, err := anthropic.New(anthropic.Config{Model: "claude-opus-5", APIKey: "key", Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		tier, got := m.Describe().Billing(spool.ModelRequest{Extra: map[string]any{"service_tier": "batch"}})
		if tier != "batch" || got != want {
			t.Errorf("%q: %q, %s, want %s", cache, tier, got, want)
		}
	}
}

package spool_test

import (
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// The warning comes when a fifth of the time is left, but no more than an hour before the end.
func TestExpiryWarn(t *testing.T) {
	t.Parallel()
	for ttl, want := range map[time.Duration]time.Duration{
		15 * time.Minute:   3 * time.Minute,
		5 * time.Hour:      time.Hour,
		6 * time.Hour:      time.Hour,
		7 * 24 * time.Hour: time.Hour,
	} {
		if got := (spool.Expiry{}).Or(ttl).Warn; got != want {
			t.Errorf("%s: the warning comes %s before the end, want %s", ttl, got, want)
		}
	}
	if got := (spool.Expiry{Warn: 2 * time.Hour}).Or(24 * time.Hour).Warn; got != 2*time.Hour {
		t.Errorf("the tool's own warning comes %s before the end", got)
	}
}

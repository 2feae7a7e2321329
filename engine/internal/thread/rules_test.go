package thread

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// The delay doubles up to a bound, and a provider can ask for a longer one, up to another bound.
func TestRetryDelay(t *testing.T) {
	t.Parallel()
	rules := newScene(t).rules
	for _, c := range []struct {
		attempts int
		cause    error
		want     time.Duration
	}{
		{1, nil, time.Second},
		{2, errors.New("no"), 2 * time.Second},
		{6, nil, 32 * time.Second},
		{7, nil, time.Minute},
		{99, nil, time.Minute},
		{1, spool.RetryAfter(time.Minute), time.Minute},
		{2, fmt.Errorf("a hook: %w", spool.RetryAfter(time.Second)), 2 * time.Second},
		{1, &spool.ModelError{After: 10 * time.Minute}, 10 * time.Minute},
		{1, &spool.ModelError{After: 2 * time.Hour}, time.Hour},
	} {
		if got := rules.RetryDelay(c.attempts, c.cause); got != c.want {
			t.Errorf("attempt %d after %v waits %s, want %s", c.attempts, c.cause, got, c.want)
		}
	}
	rules.Random.From = full{}
	if got := rules.RetryDelay(2, nil); got < 2*time.Second || got > 2500*time.Millisecond || got == 2*time.Second {
		t.Errorf("a random part makes it %s", got)
	}
}

// full reads the largest numbers.
type full struct{}

func (full) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0xff
	}
	return len(p), nil
}

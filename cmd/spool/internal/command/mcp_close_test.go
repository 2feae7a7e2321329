package command

import (
	"testing"
	"testing/synctest"
	"time"
)

// closer takes some time to close.
type closer time.Duration

func (c closer) Close() error {
	<-time.After(time.Duration(c))
	return nil
}

// TestCloseAll closes slow servers side by side, and leaves one that does not end.
func TestCloseAll(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		closeAll([]closer{closer(3 * time.Second), closer(4 * time.Second), closer(4 * time.Second)}, 10*time.Second)
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("took %s", took)
		}
		closeAll([]closer{closer(3 * time.Second), closer(time.Minute)}, 10*time.Second)
		if took := time.Since(began); took != 14*time.Second {
			t.Errorf("took %s", took)
		}
		<-time.After(time.Minute) // a bubble ends with its goroutines
	})
}

package calls

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// TestBounded checks that bounded returns the error of its function whenever the function ends in time. Many calls run
// side by side, so that functions end before bounded waits for them.
func TestBounded(t *testing.T) {
	t.Parallel()
	want := errors.New("the call is pending")
	var all sync.WaitGroup
	for range 5000 {
		all.Go(func() {
			if err := bounded(t.Context(), func(context.Context) error { return want }); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
	all.Wait()
}

package webhook

import (
	"errors"
	"testing"
)

// What does not fit is not kept, so that a template that writes for ever takes no memory and ends.
func TestBounded(t *testing.T) {
	t.Parallel()

	b := &bounded{left: 20}
	for i, want := range []error{nil, nil, errTooLarge, errTooLarge} {
		if n, err := b.Write([]byte("8 bytes.")); !errors.Is(err, want) || (n == 8) != (want == nil) {
			t.Errorf("write %d: %d, %v", i, n, err)
		}
	}
	if b.Len() != 16 {
		t.Errorf("%d bytes are kept", b.Len())
	}
}

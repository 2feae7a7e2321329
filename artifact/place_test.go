package artifact

import (
	"io"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

// TestOtherPlace saves data that the tenant has in a place that is not configured any more: for another thread, and for
// the same one. Both are read afterwards.
func TestOtherPlace(t *testing.T) {
	t.Parallel()

	w := newWorld(t, onMemory, nil)
	save := func(s *Store, key spool.ThreadKey) spool.Artifact {
		t.Helper()
		a, err := s.SaveArtifact(t.Context(), key, spool.NewArtifact{Key: "k", Data: strings.NewReader("data")})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	w.make(chat)
	w.make(other)
	save(w.Store, chat)
	w.data = newBlobs(t)
	elsewhere := w.other(nil)
	for _, key := range []spool.ThreadKey{other, chat} {
		a := save(elsewhere, key)
		_, data, err := elsewhere.OpenArtifact(t.Context(), key, a.ID)
		if err != nil {
			t.Fatalf("of %s: %v", key.ID, err)
		}
		if text, err := io.ReadAll(data); err != nil || string(text) != "data" {
			t.Errorf("of %s: %q, %v", key.ID, text, err)
		}
	}
	if bytes, err := elsewhere.Bytes(t.Context(), chat.Tenant); err != nil || bytes != 4 {
		t.Errorf("the tenant has %d bytes, %v", bytes, err)
	}
}

package memory_test

import (
	"sync"
	"testing"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

// features hold as long as the backend is handed on.
var features = spooltest.Features{Durable: true, CrossProcess: true}

// handedOn returns an [spooltest.Open] that gives each test one backend, however often it
// opens it.
func handedOn() spooltest.Open {
	var made sync.Map
	return func(t *testing.T, clock store.Clock) store.Backend {
		t.Helper()
		once, _ := made.LoadOrStore(t, sync.OnceValue(func() store.Backend {
			return memory.New(&memory.Options{Clock: clock})
		}))
		backend, ok := once.(func() store.Backend)
		if !ok {
			t.Fatal("something else is stored")
		}
		return backend()
	}
}

func TestStore(t *testing.T) {
	t.Parallel()

	spooltest.TestStore(t, handedOn(), features)
}

func TestQueue(t *testing.T) {
	t.Parallel()

	spooltest.TestQueue(t, handedOn(), features)
}

func TestLive(t *testing.T) {
	t.Parallel()

	spooltest.TestLive(t, func(*testing.T) store.Live { return memory.New(nil).Live })
}

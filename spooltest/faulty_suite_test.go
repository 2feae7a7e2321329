package spooltest_test

import (
	"sync"
	"testing"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

// faultyFeatures hold as long as the backend is handed on.
var faultyFeatures = spooltest.Features{Durable: true, CrossProcess: true}

// openFaulty returns an [spooltest.Open] that gives each test one backend, however often it
// opens it, through a [spooltest.Faulty] of its own each time. Nothing is planned, which must
// change nothing.
func openFaulty() spooltest.Open {
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
		return spooltest.NewFaulty(backend()).Backend()
	}
}

func TestFaultyStore(t *testing.T) {
	t.Parallel()

	spooltest.TestStore(t, openFaulty(), faultyFeatures)
}

func TestFaultyQueue(t *testing.T) {
	t.Parallel()

	spooltest.TestQueue(t, openFaulty(), faultyFeatures)
}

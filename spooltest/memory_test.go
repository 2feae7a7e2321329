package spooltest_test

import (
	"sync"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// features hold as long as the backend is handed on.
var features = spooltest.Features{Durable: true, CrossProcess: true}

// handedOn returns an [spooltest.Open] that gives each test one backend, however often it
// opens it, through a wrapper of its own each time.
func handedOn(wrap func(spool.Backend) spool.Backend) spooltest.Open {
	var made sync.Map
	return func(t *testing.T, clock spool.Clock) spool.Backend {
		t.Helper()
		once, _ := made.LoadOrStore(t, sync.OnceValue(func() spool.Backend { return spooltest.NewMemory(clock) }))
		backend, ok := once.(func() spool.Backend)
		if !ok {
			t.Fatal("something else is stored")
		}
		return wrap(backend())
	}
}

func plain(b spool.Backend) spool.Backend { return b }

// faulty wraps with nothing planned, which must change nothing.
func faulty(b spool.Backend) spool.Backend { return spooltest.NewFaulty(b).Backend() }

func TestMemoryStore(t *testing.T) {
	t.Parallel()

	spooltest.TestStore(t, handedOn(plain), features)
}

func TestMemoryQueue(t *testing.T) {
	t.Parallel()

	spooltest.TestQueue(t, handedOn(plain), features)
}

func TestMemoryStreams(t *testing.T) {
	t.Parallel()

	spooltest.TestStreams(t, func(*testing.T) spool.Streams { return spooltest.NewMemory(nil).Streams })
}

func TestMemoryBus(t *testing.T) {
	t.Parallel()

	spooltest.TestBus(t, func(*testing.T) spool.Bus { return spooltest.NewMemory(nil).Bus })
}

func TestFaultyStore(t *testing.T) {
	t.Parallel()

	spooltest.TestStore(t, handedOn(faulty), features)
}

func TestFaultyQueue(t *testing.T) {
	t.Parallel()

	spooltest.TestQueue(t, handedOn(faulty), features)
}

package spooltest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testStoreTallyBytes checks that the bytes of a tenant grow with each write, by at least its length
// and not by many times that, and are zero after all threads were deleted.
func testStoreTallyBytes(s *storeTest) {
	const size = 100_000
	long := strings.Repeat("x", size)
	key, foreign := thread("t"), spool.ThreadKey{Tenant: "other", ID: "t"}
	bytes := func(tenant spool.Tenant) int64 {
		s.Helper()
		return s.tally(tenant).Bytes
	}
	var last int64
	grows := func(what string, least, most int64) {
		s.Helper()
		now := bytes(key.Tenant)
		if by := now - last; by < least || by > most {
			s.Errorf("%s: the bytes have grown by %d, want from %d to %d", what, by, least, most)
		}
		last = now
	}
	put := func(tx store.Tx, state wire.State) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{State: state}})
	}
	say := func(id spool.MessageID, role spool.Role) func(tx store.Tx) error {
		return func(tx store.Tx) error {
			return tx.Write(store.Changes{Messages: []*spool.Message{{ID: id, Role: role, Content: spool.TextContent(long)}}})
		}
	}
	s.same("of nothing", bytes(key.Tenant), int64(0))
	s.queued(key, "r")
	s.write(foreign, func(tx store.Tx) error { return put(tx, wire.Idle) })
	grows("a start", 0, 20_000)
	s.write(key, say("a", spool.RoleUser))
	grows("a message", size, 2*size)
	s.write(key, say("b", spool.RoleTool))
	grows("a result", size, 3*size)
	s.write(key, func(tx store.Tx) error {
		payload, err := json.Marshal(long)
		return errors.Join(err, tx.Write(store.Changes{Entries: []*wire.Entry{{Type: "A", Payload: payload}}}))
	})
	grows("an entry", size, 2*size)
	failure := errors.New("no")
	s.is("Update", s.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
		return errors.Join(say("c", spool.RoleUser)(tx), failure)
	}), failure)
	grows("a transaction that failed", 0, 0)

	// The turn of a waiting run counts once, whether it is already a message or not.
	wait := store.RunRow{
		Run:      wire.Run{ID: "w", State: wire.Queued, QueuePosition: 1},
		RunState: store.RunState{Wait: &store.Wait{WhenBusy: spool.BusyEnqueue, Content: spool.TextContent(long)}},
	}
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{NewRuns: []store.RunRow{wait}}) })
	grows("a turn that waits", size, 2*size)
	s.write(key, func(tx store.Tx) error {
		first, err := store.FindRun(tx, "r")
		first.State = wire.Completed
		wait.QueuePosition, wait.Wait = 0, &store.Wait{WhenBusy: spool.BusyEnqueue}
		return errors.Join(err, tx.Write(store.Changes{Runs: []store.RunRow{first, wait}}), say("c", spool.RoleUser)(tx))
	})
	grows("a turn that waits no more", -10_000, 10_000)

	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{NewRuns: []store.RunRow{{
			Run:      wire.Run{ID: "c", State: wire.Completed},
			RunState: store.RunState{Client: &wire.ClientInput{Context: []wire.ClientContext{{Value: long}}}},
		}}})
	})
	grows("what a client brings", size, 2*size)

	// Many small steps and the end of the run: after that, no bytes may be missing.
	for range 200 {
		s.write(key, func(tx store.Tx) error {
			return tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}})
		})
	}
	grows("small steps", 0, 200_000)
	s.write(key, func(tx store.Tx) error { return put(tx, wire.Completed) })
	grows("the end of the run", 0, 100_000)

	// Dropped messages stay as a branch, with the same size.
	s.drops(key, "b", "w")
	grows("dropped messages", 0, 10_000)
	if others := bytes(foreign.Tenant); others <= 0 || others > 20_000 {
		s.Errorf("the other tenant has %d bytes", others)
	}
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	s.same("without threads", bytes(key.Tenant), int64(0))
	if bytes(foreign.Tenant) <= 0 {
		s.Error("the other tenant's bytes are gone as well")
	}
	s.queued(key, "again")
	s.write(key, say("a", spool.RoleUser))
	s.write(key, func(tx store.Tx) error {
		return errors.Join(say("b", spool.RoleUser)(tx), tx.Write(store.Changes{DeleteThread: true}))
	})
	s.same("of a thread that was written and deleted at once", bytes(key.Tenant), int64(0))
}

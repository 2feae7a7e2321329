package enginetest

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testLaterImported has a start as an import brings it. It comes due and starts nothing, ends a month later, and starts
// once it was moved.
func testLaterImported(s laterTest) {
	e := s.engine(s.talking())
	ctx := context.Background()
	s.startAs(e, chat, wire.StartRequest{Prompt: "x", RunID: "r1", StartAt: s.at(soon)})
	rows := store.RowQuery{Tenant: chat.Tenant, Kind: engine.DelayedStartRows, Key: "r1", Limit: 1}
	read := func() store.Row {
		found, err := s.backend.Store.Rows(ctx, rows)
		if err != nil || len(found) != 1 {
			s.Fatalf("%+v, %v", found, err)
		}
		return found[0]
	}
	imported := read()
	value, err := engine.ImportedDelayedStart(imported.Value, s.now())
	if err != nil {
		s.Fatal(err)
	}
	imported.Value = value
	err = s.backend.Store.Update(ctx, spool.ThreadKey{Tenant: chat.Tenant}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Rows: []store.Row{imported}})
	})
	if err != nil {
		s.Fatal(err)
	}
	s.same("delayed starts", s.waiting(e), "r1 "+string(chat.ID)+" ximported;")
	s.work(e)
	s.until("no job", func() bool { return s.jobs().Ready+s.jobs().Delayed+s.jobs().InFlight == 0 })
	const month = 30 * 24 * time.Hour
	if left := read().ExpiresAt.Sub(s.now()); left > month || left < month-time.Hour {
		s.Errorf("it can be seen for %s", left)
	}
	s.same("runs", s.runs(chat), 0)
	if _, err := e.MoveDelayedStart(ctx, chat.Tenant, "r1", s.at(0)); err != nil {
		s.Fatal(err)
	}
	s.until("the run", func() bool { return s.runs(chat) == 1 })
	s.ended(wire.Completed)
	s.same("delayed starts", s.waiting(e), "")
}

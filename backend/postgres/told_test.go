package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Another process is told of a ticket before the ticket is committed. A transaction of the thread then waits until that
// one is over, and sees what has become of it.
func TestToldOfATicketBeforeItsCommit(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]struct {
		sql   string
		saved bool
	}{
		"Committed":  {"SELECT", true},
		"RolledBack": {"SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'spool.tally'::regclass AND NOT granted", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t, nil)
			starter, worker := openURL(t, url, nil), openURL(t, url, nil)
			starter.Live()
			told := make(chan wire.Job, 1)
			if _, err := worker.Live().Subscribe(t.Context(), store.JobsTopic, func(_ store.WakeKind, notice []byte) {
				if ticket, ok := store.NoticedTicket(notice); ok {
					told <- ticket
				}
			}); err != nil {
				t.Fatal(err)
			}
			for !starter.live.outbox.isReady() {
				if err := t.Context().Err(); err != nil {
					t.Fatal(err)
				}
			}

			// The sums of the tenant are the last that a transaction writes.
			gate, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer gate.Close(t.Context())
			hold := func(sql string) {
				t.Helper()
				if _, err := gate.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			hold("BEGIN; LOCK TABLE spool.tally IN EXCLUSIVE MODE")
			started := make(chan error, 1)
			key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}
			go func() {
				started <- starter.Update(t.Context(), key, 0, func(tx store.Tx) error {
					return tx.Write(store.Changes{
						Thread: &wire.Thread{State: wire.Queued, RunID: "r"},
						Jobs:   []wire.Job{{RunID: "r", Agent: "a", Subject: "ann", Kind: wire.JobStart, Key: "run:r:1"}},
					})
				})
			}()
			ticket := testwait.For(t, told, "the ticket")
			if ticket.Thread() != key || ticket.Subject != "ann" || ticket.Key != "run:r:1" || ticket.DueAt.IsZero() {
				t.Errorf("the worker was told of %+v", ticket)
			}
			found := make(chan error, 1)
			go func() {
				found <- worker.Update(t.Context(), key, 0, func(tx store.Tx) error {
					_, err := tx.Thread()
					return err
				})
			}()
			hold(then.sql)
			hold("COMMIT")
			if err := testwait.For(t, started, "the start"); (err == nil) != then.saved {
				t.Errorf("the start: %v", err)
			}
			if err := testwait.For(t, found, "the thread"); (err == nil) != then.saved || err != nil && spool.CodeOf(err) != spool.NotFound {
				t.Errorf("the transaction behind the start: %v", err)
			}
		})
	}
}

// A ticket is told only if the process can tell it at once, and not if it is due later or an event.
func TestTicketsThatAreNotTold(t *testing.T) {
	t.Parallel()
	db := openFresh(t)
	l := db.live // nothing sends
	l.tellOf([]wire.Job{{RunID: "r"}})
	if n := len(l.outbox.drain()); n != 0 {
		t.Errorf("%d wake-ups wait before the outbox is ready", n)
	}
	l.outbox.setReady()
	l.tellOf(nil)
	l.tellOf([]wire.Job{{RunID: "r", Payload: make([]byte, store.MaxNoticeBytes)}})
	if n := len(l.outbox.drain()); n != 0 {
		t.Errorf("%d wake-ups wait, and there was nothing to tell", n)
	}
	l.outbox.setReady()
	l.tellOf([]wire.Job{{RunID: "r"}})
	l.tellOf([]wire.Job{{RunID: "q"}})
	if n := len(l.outbox.drain()); n != 1 {
		t.Errorf("%d wake-ups wait, want the first ticket alone", n)
	}
}

// Wake-ups are not in the server's log. Their numbers are, so that none comes again after a crash.
func TestWakesAreNotLogged(t *testing.T) {
	t.Parallel()
	db := openFresh(t)
	var kept []string
	err := db.read(t.Context(), `SELECT relname || ' ' || relpersistence::text FROM pg_class
		WHERE relnamespace = 'spool'::regnamespace AND relname IN ('wake', 'wake_id_seq') ORDER BY relname`,
		func(r *row) { kept = append(kept, r.Text()) })
	if err != nil || len(kept) != 2 || kept[0] != "wake u" || kept[1] != "wake_id_seq p" {
		t.Errorf("%q, %v", kept, err)
	}
}

package spooltest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testStoreMessageTurns compares queries of user turns with the result of a plain loop, while turns
// leave the view and come back.
func testStoreMessageTurns(s *storeTest) {
	key := thread("t")
	var added []spool.Message
	add := func(entries int, messages ...spool.Message) {
		s.write(key, func(tx store.Tx) error {
			var errs []error
			for range entries {
				errs = append(errs, tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}}))
			}
			for i := range messages {
				m := messages[i]
				errs = append(errs, tx.Write(store.Changes{Messages: []*spool.Message{&m}}))
				messages[i] = m
			}
			return errors.Join(errs...)
		})
		added = append(added, messages...)
	}
	turn := func(id spool.MessageID) spool.Message {
		return spool.Message{ID: id, ThreadID: key.ID, Role: spool.RoleUser, Content: spool.TextContent(string(id))}
	}
	brief, answer := turn("brief"), turn("answer")
	brief.AgentID, answer.Role = "nested", spool.RoleAssistant

	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
	// Later turns have lower ids, so the order cannot come from the ids.
	add(0, turn("z"), turn("y"))
	add(2, answer, turn("x"), brief)
	s.turns(key, added)
	s.write(key, func(tx store.Tx) error {
		return errors.Join(
			tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}}),
			tx.Write(store.Changes{Drop: &store.Drop{From: "y", Seq: 3}}),
		)
	})
	s.turns(key, added)
	add(0, turn("w"))
	add(1, turn("v"))
	s.turns(key, added)
	s.write(key, func(tx store.Tx) error {
		return errors.Join(
			tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}}),
			tx.Write(store.Changes{Drop: &store.Drop{From: "w", Seq: 5}, Restore: 3}),
		)
	})
	add(0, turn("u"))
	s.turns(key, added)

	s.read(thread("other"), func(v store.View) error {
		got, err := v.Messages(store.MessageQuery{Turns: true})
		s.same("turns of a thread that is not there", len(got), 0)
		return err
	})
}

// turns checks queries of user turns. Added has all turns.
func (s *storeTest) turns(key spool.ThreadKey, added []spool.Message) {
	s.Helper()
	s.read(key, func(v store.View) error {
		for _, after := range []spool.MessageID{"", "z", "y", "answer", "x", "v", "unknown"} {
			for since := range int64(6) {
				for before := range int64(6) {
					for limit := range 3 {
						q := store.MessageQuery{Turns: true, After: after, SinceSeq: since, BeforeSeq: before, Limit: limit}
						got, err := v.Messages(q)
						if err != nil {
							return err
						}
						s.same(fmt.Sprintf("messages of %+v", q), got, turnsOf(added, q))
					}
				}
			}
		}
		return nil
	})
}

func turnsOf(added []spool.Message, q store.MessageQuery) []spool.Message {
	found := []spool.Message{}
	from := slices.IndexFunc(added, func(m spool.Message) bool { return m.ID == q.After }) + 1
	for _, m := range added[from:] {
		full := q.Limit > 0 && len(found) == q.Limit
		if ofUser(m) && m.AfterSeq >= q.SinceSeq && (q.BeforeSeq == 0 || m.AfterSeq < q.BeforeSeq) && !full {
			found = append(found, m)
		}
	}
	return found
}

package spooltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// signature is provider data with all that package json escapes. A store keeps it byte for byte.
var signature = json.RawMessage("{\"x\":{\"model\":\"m\",\"s\":\"<x>& \\u2029\\u003c\",\"n\":12345678901234567890,\"e\":1.0e2}}")

func testStoreMessageRoundTrip(s *storeTest) {
	key := thread("t")
	full := spool.Message{
		ID: "m1", ThreadID: "t", AgentID: "agent", Role: spool.RoleAssistant, RunID: "r", ClientMessageID: "client",
		CreatedAt: s.clock.Now().Add(-time.Hour),
		Content: spool.Content{
			{Type: spool.PartReasoning, Text: "hm", Provider: signature},
			{Type: spool.PartProvider, Provider: signature},
			{Type: spool.PartText, Text: "a\u2028“b”\x00c"},
			{Type: spool.PartImage, Image: "data:image/png;base64,AA==", MIMEType: "image/png"},
			{Type: spool.PartToolCall, ToolCallID: "c", ToolName: "tool", Args: json.RawMessage(`{"n":12345678901234567890}`)},
			{Type: spool.PartToolResult, ToolCallID: "c", ToolName: "tool", Result: json.RawMessage(`null`)},
		},
	}
	plain := spool.Message{ID: "m2", ThreadID: "t", Role: spool.RoleUser, Content: spool.TextContent("")}
	s.write(key, func(tx store.Tx) error {
		first, second := full, plain
		err := errors.Join(
			tx.Write(store.Changes{
				Thread:  &wire.Thread{State: wire.Idle},
				Entries: []*wire.Entry{wire.NewEntry("A", "", nil), wire.NewEntry("A", "", nil)},
			}),
			tx.Write(store.Changes{Messages: []*spool.Message{&first, &second}}),
		)
		s.same("AfterSeq that was set", first.AfterSeq, int64(2))
		s.same("CreatedAt that was not set", first.CreatedAt, full.CreatedAt)
		s.same("CreatedAt that was set", second.CreatedAt, tx.Now())
		return err
	})
	full.AfterSeq, plain.AfterSeq, plain.CreatedAt = 2, 2, s.clock.Now()
	s.same("messages", s.all(key, "").Messages, []spool.Message{full, plain})
	s.read(key, func(v store.View) error {
		m, err := store.FindMessage(v, "m1")
		s.same("message", m, full)
		for _, p := range m.Content[:2] {
			if string(p.Provider) != string(signature) {
				s.Errorf("provider data %s became %s", signature, p.Provider)
			}
		}
		_, unknown := store.FindMessage(v, "m3")
		s.fails("an unknown message", unknown, spool.NotFound)
		// No other field applies.
		one, queryErr := v.Messages(store.MessageQuery{
			ID: "m2", Role: spool.RoleTool, After: "m2", Turns: true, Branch: 9, SinceSeq: 99,
		})
		s.same("one message", one, []spool.Message{plain})
		return errors.Join(err, queryErr)
	})
}

// testStoreMessageQuery compares every combination of a query's fields with the result of a plain loop.
func testStoreMessageQuery(s *storeTest) {
	key := thread("t")
	roles := []spool.Role{spool.RoleUser, spool.RoleAssistant, spool.RoleTool, spool.RoleSystem}
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
	for i := range 9 {
		s.write(key, func(tx store.Tx) error {
			// Later messages have lower ids, so the order cannot come from the ids.
			m := &spool.Message{ID: spool.MessageID(fmt.Sprintf("m%d", 9-i)), Role: roles[i%len(roles)]}
			if i > 4 {
				m.AgentID = "nested"
			}
			if i%3 > 0 {
				m.RunID = "r1"
			}
			err := tx.Write(store.Changes{Messages: []*spool.Message{m}})
			if i%2 == 0 {
				err = errors.Join(err, tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}}))
			}
			return err
		})
	}
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Drop: &store.Drop{From: "m1", Seq: 6}}) })
	all := s.all(key, "").Messages

	ids := []spool.MessageID{"", "m9", "m5", "m2", "m1", "unknown"}
	for _, after := range ids {
		for _, before := range ids {
			var queries []store.MessageQuery
			for _, role := range []spool.Role{"", spool.RoleUser, spool.RoleTool, spool.RoleSystem} {
				for _, since := range []int64{0, 3, 9} {
					q := store.MessageQuery{After: after, Before: before, SinceSeq: since, Role: role}
					queries = append(queries, q)
					for _, agent := range []spool.AgentID{"", "nested"} {
						q.Agent = &agent
						queries = append(queries, q)
					}
				}
				for _, agent := range []spool.AgentID{"", "nested"} {
					queries = append(queries, store.MessageQuery{After: after, Before: before, Role: role, Run: "r1", Agent: &agent})
				}
			}
			s.messages(key, all, queries...)
		}
	}
}

// messages compares queries, each with several limits, with the result of a plain loop. One view answers them all.
func (s *storeTest) messages(key spool.ThreadKey, all []spool.Message, queries ...store.MessageQuery) {
	s.Helper()
	s.read(key, func(v store.View) error {
		for _, q := range queries {
			selected := selectMessages(all, q)
			for _, q.Limit = range []int{0, 2} {
				want := selected
				if q.Limit > 0 && q.Limit < len(want) {
					want = want[len(want)-q.Limit:]
				}
				got, err := v.Messages(q)
				if err != nil {
					return err
				}
				s.same(fmt.Sprintf("messages of %+v", q), got, want)
				if encoded, ok := v.(store.EncodedMessages); ok {
					s.encoded(encoded, q, want)
				}
			}
		}
		return nil
	})
}

// selectMessages returns the messages that a query without a limit selects.
func selectMessages(all []spool.Message, q store.MessageQuery) (selected []spool.Message) {
	at := func(id spool.MessageID) int {
		return slices.IndexFunc(all, func(m spool.Message) bool { return m.ID == id })
	}
	for i, m := range all {
		after, before := at(q.After), at(q.Before)
		if i > after && (before < 0 || i < before) && m.AfterSeq >= q.SinceSeq && (q.Role == "" || m.Role == q.Role) &&
			(q.Run == "" || m.RunID == q.Run) && (q.Agent == nil || m.AgentID == *q.Agent) {
			selected = append(selected, m)
		}
	}
	return selected
}

// encoded compares the messages of a store that keeps them encoded with the wanted ones.
func (s *storeTest) encoded(v store.EncodedMessages, q store.MessageQuery, want []spool.Message) {
	s.Helper()
	ids, err := v.MessageIDs(q)
	if err != nil {
		s.Errorf("ids of %+v: %v", q, err)
	}
	s.same(fmt.Sprintf("ids of %+v", q), ids, each(want, func(m spool.Message) spool.MessageID { return m.ID }))
	if q.Limit > 0 {
		return
	}
	got := []spool.Message{}
	err = v.EachMessage(q, func(m spool.Message, content []byte) error {
		if m.Content != nil {
			s.Errorf("message %s has content beside its encoded one", m.ID)
		}
		got = append(got, m)
		return json.Unmarshal(content, &got[len(got)-1].Content)
	})
	if err != nil {
		s.Errorf("encoded messages of %+v: %v", q, err)
	}
	s.same(fmt.Sprintf("encoded messages of %+v", q), got, want)
	full := errors.New("enough")
	if err = v.EachMessage(q, func(spool.Message, []byte) error { return full }); len(want) > 0 && !errors.Is(err, full) {
		s.Errorf("the callback's error became %v", err)
	}
}

func each[T, U any](all []T, of func(T) U) []U {
	out := make([]U, len(all))
	for i, v := range all {
		out[i] = of(v)
	}
	return out
}

func testStoreDropMessages(s *storeTest) {
	key, other := thread("t"), thread("other")
	add := func(key spool.ThreadKey, ids ...spool.MessageID) {
		s.write(key, func(tx store.Tx) error {
			_, err := tx.Thread()
			if err != nil {
				err = tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})
			}
			for _, id := range ids {
				err = errors.Join(
					err,
					tx.Write(store.Changes{Messages: []*spool.Message{{ID: id, Role: spool.RoleUser}}}),
				)
			}
			return err
		})
	}
	view := func(key spool.ThreadKey, q store.MessageQuery) (ids string) {
		s.read(key, func(v store.View) error {
			all, err := v.Messages(q)
			ids = compare.Joined(all, func(m spool.Message) spool.MessageID { return m.ID })
			return err
		})
		return ids
	}
	add(key, "a", "b", "c", "d")
	add(other, "a", "b", "c")

	s.write(key, func(tx store.Tx) error {
		err := tx.Write(store.Changes{Drop: &store.Drop{From: "c", Seq: 1}})
		_, gone := store.FindMessage(tx, "c")
		s.fails("Message in the transaction", gone, spool.NotFound)
		return err
	})
	s.same("messages", view(key, store.MessageQuery{}), "ab")
	s.same("messages of the other thread", view(other, store.MessageQuery{}), "abc")
	s.same("After a dropped one", view(key, store.MessageQuery{After: "c"}), "ab")
	s.same("Before a dropped one", view(key, store.MessageQuery{Before: "d"}), "ab")
	s.read(key, func(v store.View) error {
		_, err := store.FindMessage(v, "d")
		s.fails("Message", err, spool.NotFound)
		_, err = store.FindMessage(v, "b")
		return err
	})
	s.refuses("a dropped message", key, errNotFound, store.Changes{Drop: &store.Drop{From: "d", Seq: 2}})

	add(key, "e", "f")
	s.same("messages with new ones", view(key, store.MessageQuery{}), "abef")
	s.same("After", view(key, store.MessageQuery{After: "b"}), "ef")
	s.same("Limit", view(key, store.MessageQuery{Limit: 3}), "bef")
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Drop: &store.Drop{From: "a", Seq: 3}}) })
	s.same("messages without the first", view(key, store.MessageQuery{}), "")
}

func testStoreDropUnknown(s *storeTest) {
	drop := store.Changes{Drop: &store.Drop{From: "m", Seq: 1}}
	s.refuses("a message of no thread", thread("t"), errNotFound, drop)
	s.says(thread("other"), "m")
	s.refuses("a message of another thread", thread("t"), errNotFound, drop)
	s.same("messages of the other thread", len(s.all(thread("other"), "").Messages), 1)
}

package spooltest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// says adds user turns whose text is their id, and creates the thread if necessary.
func (s *storeTest) says(key spool.ThreadKey, ids ...spool.MessageID) {
	s.Helper()
	s.write(key, func(tx store.Tx) error {
		_, err := tx.Thread()
		if err != nil {
			err = tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})
		}
		for _, id := range ids {
			m := &spool.Message{ID: id, Role: spool.RoleUser, Content: spool.TextContent("says " + string(id))}
			err = errors.Join(err, tx.Write(store.Changes{Messages: []*spool.Message{m}}))
		}
		return err
	})
}

// drops removes messages from the view together with an entry, as the engine does, and returns the new
// branch.
func (s *storeTest) drops(key spool.ThreadKey, from spool.MessageID, run spool.RunID) (id wire.BranchID) {
	s.Helper()
	s.write(key, func(tx store.Tx) error {
		entry := wire.NewEntry(wire.EntryMessagesDropped, run, nil)
		err := tx.Write(store.Changes{Entries: []*wire.Entry{entry}})
		id = wire.BranchID(entry.Seq)
		return errors.Join(err, tx.Write(store.Changes{Drop: &store.Drop{From: from, Seq: entry.Seq}}))
	})
	return id
}

func (s *storeTest) restores(key spool.ThreadKey, id wire.BranchID) {
	s.Helper()
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Restore: id}) })
}

// tree returns a short text with the view, and each branch after its base.
func (s *storeTest) tree(key spool.ThreadKey) string {
	s.Helper()
	id := func(m spool.Message) spool.MessageID { return m.ID }
	c := s.all(key, "")
	lines := []string{compare.Joined(c.Messages, id)}
	for i, b := range c.Branches {
		line := fmt.Sprintf("%d: %s>%s", b.ID, b.BaseMessageID, compare.Joined(c.Branched[i], id))
		if b.BaseBranchID != 0 {
			line += fmt.Sprintf(" in %d", b.BaseBranchID)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

func testStoreBranches(s *storeTest) {
	key, other := thread("t"), thread("other")
	s.says(key, "a", "b", "c", "d")
	s.says(other, "a", "b", "c", "d")
	first := s.drops(key, "c", "r")
	made := s.clock.Now()
	s.same("the branch", s.all(key, "").Branches, []wire.Branch{{
		ID: first, FromMessageID: "c", BaseMessageID: "b", Preview: "says c", MessageCount: 2, CreatedAt: made, RunID: "r",
	}})
	s.clock.Advance(time.Minute)
	s.says(key, "e")
	s.drops(key, "a", "")
	all := s.all(key, "").Branches
	s.same("the newest branch", all[0], wire.Branch{
		ID: 2, FromMessageID: "a", Preview: "says a", MessageCount: 3, CreatedAt: s.clock.Now(),
	})
	s.same("the first branch", all[1], wire.Branch{
		ID: first, FromMessageID: "c", BaseMessageID: "b", BaseBranchID: 2, Preview: "says c", MessageCount: 2,
		CreatedAt: made, RunID: "r",
	})
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Messages: []*spool.Message{
				{ID: "f", Role: spool.RoleSystem, Content: spool.TextContent("not f")},
				{ID: "g", Role: spool.RoleUser, AgentID: "nested", Content: spool.TextContent("not g")},
				{ID: "h", Role: spool.RoleUser, Content: spool.TextContent("  says h\nand more")},
				{ID: "i", Role: spool.RoleUser, Content: spool.TextContent("not i")},
			},
		})
	})
	s.drops(key, "i", "")
	s.drops(key, "f", "")
	for i, want := range []string{"says h", "not i", "says a", "says c"} {
		s.same("the preview", s.all(key, "").Branches[i].Preview, want)
	}
	s.same("the other thread", s.tree(other), "abcd")
	s.same("a branch of the other thread", len(s.branched(other, store.MessageQuery{Branch: first})), 0)
}

func (s *storeTest) branched(key spool.ThreadKey, q store.MessageQuery) (messages []spool.Message) {
	s.Helper()
	s.read(key, func(v store.View) (err error) {
		messages, err = v.Messages(q)
		return err
	})
	return messages
}

// testStoreBranchQuery compares queries of a branch with the result of a plain loop.
func testStoreBranchQuery(s *storeTest) {
	key := thread("t")
	s.says(key, "a", "b", "c", "d", "e", "f")
	before := s.all(key, "").Messages
	id := s.drops(key, "c", "")
	s.says(key, "g", "h")
	all := s.branched(key, store.MessageQuery{Branch: id})
	s.same("the branch's messages", all, before[2:])
	ids := []spool.MessageID{"", "a", "c", "d", "f", "g", "unknown"}
	for _, after := range ids {
		var queries []store.MessageQuery
		for _, before := range ids {
			for _, role := range []spool.Role{"", spool.RoleUser, spool.RoleTool} {
				queries = append(queries, store.MessageQuery{Branch: id, After: after, Before: before, Role: role})
			}
		}
		s.messages(key, all, queries...)
	}
	s.same("an unknown branch", len(s.branched(key, store.MessageQuery{Branch: 99})), 0)
	s.read(key, func(v store.View) error {
		_, err := store.FindMessage(v, "c")
		s.fails("Message of a branch", err, spool.NotFound)
		return nil
	})
}

// testStoreBranchRestored switches between two branches: each must be unchanged.
func testStoreBranchRestored(s *storeTest) {
	key := thread("t")
	s.says(key, "a", "b", "c")
	before := s.all(key, "").Messages
	old := s.drops(key, "b", "")
	s.says(key, "d", "e")
	after := s.all(key, "").Messages
	for range 2 {
		var next wire.BranchID
		s.write(key, func(tx store.Tx) error {
			entry := wire.NewEntry(wire.EntryMessagesDropped, "", nil)
			err := errors.Join(
				tx.Write(store.Changes{Entries: []*wire.Entry{entry}}),
				tx.Write(store.Changes{Drop: &store.Drop{From: "d", Seq: entry.Seq}, Restore: old}),
			)
			next = wire.BranchID(entry.Seq)
			m, getErr := store.FindMessage(tx, "c")
			s.same("Message in the transaction", m.ID, spool.MessageID("c"))
			return errors.Join(err, getErr)
		})
		s.same("the messages of before", s.all(key, "").Messages, before)
		s.same("the tree", s.tree(key), fmt.Sprintf("abc, %d: a>de", next))
		old = s.drops(key, "b", "")
		s.restores(key, next)
		s.same("the messages of later", s.all(key, "").Messages, after)
		s.same("the tree", s.tree(key), fmt.Sprintf("ade, %d: a>bc", old))
	}
	s.says(key, "f")
	s.same("the tree", s.tree(key), fmt.Sprintf("adef, %d: a>bc", old))
	s.same("Limit", compare.Joined(s.branched(key, store.MessageQuery{Limit: 2}),
		func(m spool.Message) spool.MessageID { return m.ID }), "ef")
	s.same("After", compare.Joined(s.branched(key, store.MessageQuery{After: "d"}),
		func(m spool.Message) spool.MessageID { return m.ID }), "ef")
	s.same("After one of a branch", len(s.branched(key, store.MessageQuery{After: "c"})), 4)
}

// testStoreBranchNested makes branches that begin in another branch.
func testStoreBranchNested(s *storeTest) {
	key := thread("t")
	s.says(key, "a", "b", "c")
	s.drops(key, "c", "")
	s.says(key, "d")
	s.drops(key, "b", "")
	s.says(key, "e")
	s.same("the tree", s.tree(key), "ae, 2: a>bd, 1: b>c in 2")
	s.drops(key, "a", "")
	s.same("the tree", s.tree(key), ", 3: >ae, 2: a>bd in 3, 1: b>c in 2")
	s.restores(key, 3)
	s.drops(key, "e", "")
	s.restores(key, 2)
	s.same("the tree", s.tree(key), "abd, 4: a>e, 1: b>c")
	s.drops(key, "d", "")
	s.restores(key, 1)
	s.same("the tree", s.tree(key), "abc, 5: b>d, 4: a>e")
	s.says(key, "f")
	s.drops(key, "c", "")
	s.restores(key, 5)
	s.same("the tree", s.tree(key), "abd, 6: b>cf, 4: a>e")
}

// testStoreBranchRefused makes changes that must be refused: wrong restores, and duplicates of
// messages. They must change nothing.
func testStoreBranchRefused(s *storeTest) {
	key, other := thread("t"), thread("other")
	restore := func(id wire.BranchID) store.Changes { return store.Changes{Restore: id} }
	drop := func(from spool.MessageID, seq int64) store.Changes {
		return store.Changes{Drop: &store.Drop{From: from, Seq: seq}}
	}
	s.says(other, "a", "b")
	s.drops(other, "b", "")
	s.refuses("a branch of no thread", thread("none"), errNotFound, restore(1))
	s.says(key, "a", "b", "c")
	s.refuses("another thread's branch", key, errNotFound, restore(1))
	id := s.drops(key, "c", "")
	s.says(key, "d")
	s.refuses("a branch after another message", key, store.ErrBranchBase, restore(id))
	s.refuses("an unknown branch", key, errNotFound, restore(99))
	s.refuses("the seq of a branch", key, store.ErrBranchUsed, drop("d", int64(id)))
	s.refuses("a message of a branch", key, errNotFound, drop("c", 9))
	for _, used := range []spool.MessageID{"a", "c"} { // in the view, and in a branch
		s.refuses("a used id", key, store.ErrMessageIDUsed, store.Changes{Messages: []*spool.Message{{ID: used}}})
	}
	s.refuses("an id twice", key, store.ErrMessageIDUsed, store.Changes{Messages: []*spool.Message{{ID: "e"}, {ID: "e"}}})
	s.same("the tree", s.tree(key), "abd, 1: b>c")
	s.drops(key, "b", "")
	s.refuses("a branch within another", key, store.ErrBranchBase, restore(id))
	s.same("the tree", s.tree(key), "a, 2: a>bd, 1: b>c in 2")
	s.restores(key, 2)
	s.refuses("a branch again", key, errNotFound, restore(2))
	s.same("the tree of the other thread", s.tree(other), "a, 1: a>b")
}

package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/wire"
)

// testSnapshotEncoded takes an encoded snapshot after each write, including an edit and a restored
// branch, and compares its bytes with those of an unshared snapshot.
func testSnapshotEncoded(s snapshotTest) {
	m, _ := talking()
	c := s.config(m, plain("look", "1"), approved("send", "2"))
	c.Stream.FlushEvery = -1
	reader := s.engine(c)
	taken := 0
	b := s.join()
	p := &probing{Store: b.Store, Live: b.Live}
	p.after = func() { taken += s.sameEncoded(reader) }
	b.Store, b.Live = probingStore{p}, probingLive{p}
	e := s.over(b, c)
	s.start(e, "r1", "go <on> & on\u2028")
	one := func() {
		if _, err := e.HandleJob(context.Background(), ticket("r1")); err != nil {
			s.Error(err)
		}
	}
	one()
	s.answer(e, "c3", true, "")
	one()
	s.ended(wire.Completed)
	if taken < 200 {
		s.Errorf("%d snapshots were compared", taken)
	}
	other := s.working(s.config(echo()))
	branchTest(s).said(other, "one", "two", "three")
	s.sameEncoded(reader)
	before := s.messagesOf(chat)
	branchTest(s).edited(other, len(before)-4, "2")
	s.sameEncoded(reader)
	branchTest(s).restored(other, s.branchesOf(chat)[0].ID)
	if got := s.messagesOf(chat); len(got) != len(before) {
		s.Errorf("%d messages of %d are back", len(got), len(before))
	}
	if s.sameEncoded(reader) == 0 {
		s.Error("nothing was compared")
	}
}

// testSnapshotEncodedPage takes pages of a thread whose messages are not kept yet.
func testSnapshotEncodedPage(s snapshotTest) {
	e := s.working(s.config(echo()))
	branchTest(s).said(e, "one", "two", "three")
	messages := s.messagesOf(chat)
	for _, o := range []wire.SnapshotOptions{
		{Limit: 1},
		{Limit: 3},
		{Limit: len(messages)},
		{Limit: 2, Before: messages[4].ID},
		{Limit: 9, Before: messages[1].ID},
		{Limit: 2, LastMessageID: messages[1].ID},
		{Limit: 2, Before: messages[0].ID},
	} {
		fresh := s.engine(s.config(echo()))
		page, err := fresh.EncodedSnapshot(context.Background(), chat, &o)
		if err != nil {
			s.Fatalf("a page of %+v: %v", o, err)
		}
		text := bytes.Join(page.Pieces, nil)
		page.Release()
		snap, err := fresh.Snapshot(context.Background(), chat, &o)
		want, encodeErr := json.Marshal(snap)
		if err != nil || encodeErr != nil || !bytes.Equal(text, want) {
			s.Errorf("the page of %+v is\n%s\nand not\n%s, %v", o, text, want, errors.Join(err, encodeErr))
		}
	}
}

// sameEncoded compares encoded snapshots with unshared ones, for each last message that a client may
// have. It returns how many it has compared.
func (s snapshotTest) sameEncoded(e *engine.Engine) (compared int) {
	s.Helper()
	now := s.all(chat, "")
	if !now.Found {
		return 0
	}
	all := []wire.SnapshotOptions{
		{}, {Limit: 1}, {Limit: 3}, {LastMessageID: "unknown"}, {LastMessageID: "unknown", Before: "unknown"},
	}
	for _, m := range now.Messages {
		all = append(all, wire.SnapshotOptions{LastMessageID: m.ID}, wire.SnapshotOptions{Before: m.ID},
			wire.SnapshotOptions{Before: m.ID, Limit: 2}, wire.SnapshotOptions{LastMessageID: m.ID, Before: now.Messages[0].ID})
	}
	alone := func(o wire.SnapshotOptions) []byte {
		snap, err := e.Snapshot(context.Background(), chat, &o)
		text, encodeErr := json.Marshal(snap)
		if err != nil || encodeErr != nil {
			s.Errorf("snapshot: %v, %v", err, encodeErr)
		}
		return text
	}
	compared += s.sameFormed(e)
	for _, o := range all {
		before := alone(o)
		shared, err := e.EncodedSnapshot(context.Background(), chat, &o)
		if err != nil {
			s.Errorf("encoded snapshot of %+v: %v", o, err)
			return compared
		}
		text := bytes.Join(shared.Pieces, nil)
		shared.Release()
		if !bytes.Equal(before, alone(o)) {
			continue // another goroutine has written meanwhile
		}
		compared++
		if !bytes.Equal(text, before) || shared.Size != int64(len(text)) {
			s.Errorf("the encoded snapshot of %+v is\n%s\nand not\n%s", o, text, before)
			return compared
		}
	}
	return compared
}

// sameFormed compares a snapshot in another form with an unshared one. It returns how many it has
// compared.
func (s snapshotTest) sameFormed(e *engine.Engine) int {
	s.Helper()
	alone := func() (*wire.Snapshot, []byte) {
		snap, err := e.Snapshot(context.Background(), chat, nil)
		text, encodeErr := json.Marshal(snap)
		if err != nil || encodeErr != nil {
			s.Errorf("snapshot: %v, %v", err, encodeErr)
		}
		return snap, text
	}
	want, before := alone()
	formed, err := e.FormedSnapshot(context.Background(), chat, numbered(0))
	if err != nil {
		s.Errorf("formed snapshot: %v", err)
		return 0
	}
	defer formed.Release()
	rest := *formed.Snapshot
	rest.Messages = nil
	got, err := json.Marshal(rest)
	if _, after := alone(); err != nil || !bytes.Equal(before, after) {
		return 0 // another goroutine has written meanwhile
	}
	var text []byte
	var form wire.SnapshotForm = numbered(0)
	at := []int{0} // where each message ends
	for _, m := range want.Messages {
		text, form, _ = form.AppendMessage(text, m)
		at = append(at, len(text))
	}
	same := func(what string, pieces [][]byte, want []byte) {
		s.Helper()
		if got := bytes.Join(pieces, nil); !bytes.Equal(got, bytes.TrimPrefix(want, []byte(","))) {
			s.Errorf("%s in another form are\n%s\nand not\n%s", what, got, want)
		}
	}
	same("all messages", formed.All(), text)
	same("two messages", formed.First(min(2, len(want.Messages))), text[:at[min(2, len(want.Messages))]])
	saved := 0
	for saved < len(want.Messages) && want.Messages[saved].AfterSeq == 0 {
		saved++
	}
	same("the messages before the record", formed.Before(0), text[:at[saved]])
	want.Messages = nil
	wanted, err := json.Marshal(want)
	if err != nil || !bytes.Equal(got, wanted) || formed.Shared != form {
		s.Errorf("beside the messages it has\n%s\n(%v) and not\n%s\n(%v)", got, formed.Shared, wanted, form)
	}
	return 1
}

// numbered encodes each message after its number, and leaves out messages of tools.
type numbered int

func (n numbered) AppendMessage(b []byte, m spool.Message) ([]byte, wire.SnapshotForm, error) {
	if m.Role == spool.RoleTool {
		return b, n + 1, nil
	}
	text, err := json.Marshal([]any{n, m.ID, m.Content})
	return append(append(b, ','), text...), n + 1, err
}

func (n numbered) Finish(*wire.Snapshot) (shared any, size int64, err error) { return n, 0, nil }

package enginetest

import (
	"context"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func testBranchRefused(s branchTest) {
	e := s.working(s.config(echo()))
	s.notRestored(e, chat, 1, wire.ReasonNotFound, "Thread not found")
	if s.all(chat, "").Found {
		s.Error("a refused restore made its thread")
	}
	s.said(e, "one")
	s.edited(e, 0, "1")
	before := s.all(chat, "")
	id := before.Branches[0].ID
	s.notRestored(e, chat, id+1, wire.ReasonNotFound, "Branch not found")
	s.notRestored(e, chat, 0, wire.ReasonNotFound, "Branch not found")
	s.notRestored(e, spool.ThreadKey{Tenant: "umbrella", ID: chat.ID}, id, wire.ReasonNotFound, "Thread not found")
	s.same("the thread", s.all(chat, ""), before)
	s.restored(e, id)
	s.notRestored(e, chat, id, wire.ReasonNotFound, "Branch not found")
}

// testBranchActive restores while a run is queued, runs, and waits for a person.
func testBranchActive(s branchTest) {
	gate := make(chan struct{})
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if r.Messages[0].Text() != "go" {
			return spooltest.Say("yes")
		}
		t := spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})
		t.Gate = gate
		if spooltest.StepOf(r) > 0 {
			t = spooltest.Say("done")
		}
		return t
	})
	e := s.engine(s.config(m, approved("send", "1")))
	stop := s.work(e)
	s.said(e, "one")
	s.edited(e, 0, "1")
	stop()
	turn := s.messagesOf(chat)[0].ID
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r", EditMessageID: turn})
	refused := func() {
		s.Helper()
		before := s.all(chat, "r")
		s.notRestored(e, chat, before.Branches[1].ID, wire.ReasonActiveRun, "Thread has an active run")
		s.same("the branches", s.branchesOf(chat), before.Branches)
	}
	refused()
	s.work(e)
	s.becomes(wire.Running)
	refused()
	close(gate)
	s.becomes(wire.WaitingForInput)
	refused()
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.restored(e, s.branchesOf(chat)[1].ID)
	s.lines("messages", s.script(), "user one", "assistant yes")
}

// testBranchRace restores at once: one branch twice, and two other branches.
func testBranchRace(s branchTest) {
	e := s.working(s.config(echo()))
	s.said(e, "one")
	s.edited(e, 0, "1")
	s.edited(e, 0, "I")
	for range 5 {
		all := s.branchesOf(chat)
		ids := []wire.BranchID{all[0].ID, all[0].ID, all[1].ID}
		results := make([]wire.RestoreResult, len(ids))
		errs := make([]error, len(ids))
		done := make(chan int)
		for i, id := range ids {
			go func() {
				results[i], errs[i] = e.RestoreBranch(context.Background(), chat, id)
				done <- i
			}()
		}
		for range ids {
			if i := receive(s, done, bubbleWait, "the end of the goroutine"); errs[i] != nil {
				s.Error(errs[i])
			}
		}
		if results[0].Accepted == results[1].Accepted || !results[2].Accepted {
			s.Errorf("results: %+v", results)
		}
		if got := s.all(chat, ""); len(got.Messages) != 2 || len(got.Branches) != 2 {
			s.Errorf("messages %q and branches %q", s.script(), s.branches(e))
		}
	}
}

// testBranchRaceStart starts and restores at once. Either the start comes after the restore and answers
// the restored messages, or the restore is refused.
func testBranchRaceStart(s branchTest) {
	e := s.working(s.config(echo()))
	s.said(e, "one")
	s.edited(e, 0, "1")
	for i := range 8 {
		branch := s.branchesOf(chat)[0]
		shown := s.messagesOf(chat)[0].Text()
		result := make(chan wire.RestoreResult)
		go func() {
			if i%2 == 0 {
				<-time.After(time.Microsecond)
			}
			r, err := e.RestoreBranch(context.Background(), chat, branch.ID)
			if err != nil {
				s.Error(err)
			}
			result <- r
		}()
		s.said(e, "more"+string(rune('a'+i)))
		r := receive(s, result, bubbleWait, "the result")
		want := shown
		switch {
		case r.Accepted:
			want = branch.Preview
		case r.Reason != wire.ReasonActiveRun:
			s.Errorf("the restore: %+v", r)
		}
		if got := s.messagesOf(chat)[0].Text(); got != want {
			s.Errorf("the thread begins with %q, want %q: %+v", got, want, r)
		}
	}
}

// testBranchFaults causes a fault at each call of a restore. The restore happens completely or not at
// all, and can be repeated until it succeeds.
func testBranchFaults(s branchTest) {
	c := s.config(echo())
	worker := s.working(c)
	s.said(worker, "one")
	s.edited(worker, 0, "1")
	for _, kind := range []spooltest.FaultKind{
		spooltest.FailBefore, spooltest.FailAfter, spooltest.CrashBefore, spooltest.CrashAfter, spooltest.Rerun,
	} {
		before := s.all(chat, "")
		id := before.Branches[0].ID
		f := spooltest.NewFaulty(s.join())
		f.Plan(spooltest.Fault{Call: 1, On: "Store.Update", Kind: kind})
		e := s.over(f.Backend(), c)
		r, err := e.RestoreBranch(context.Background(), chat, id)
		after := s.all(chat, "")
		switch happened := kind != spooltest.FailBefore && kind != spooltest.CrashBefore; {
		case (err == nil) != (kind == spooltest.Rerun) || r.Accepted != (kind == spooltest.Rerun):
			s.Errorf("%s: %+v, %v", kind, r, err)
		case !happened:
			s.same("the thread after "+kind.String(), after, before)
			s.restored(worker, id)
		default:
			s.same("the messages after "+kind.String(), after.Messages, before.Branched[0])
			s.same("the branch after "+kind.String(), after.Branched, [][]spool.Message{before.Messages})
			s.notRestored(worker, chat, id, wire.ReasonNotFound, "Branch not found")
		}
		e.Close()
	}
}

// testBranchFollow has three clients across a restore: one is connected, one comes back later, and one
// asks for a snapshot.
func testBranchFollow(s branchTest) {
	e := s.working(s.config(echo()))
	s.said(e, "one", "two")
	first := s.messagesOf(chat)
	s.edited(e, 2, "2")
	seen := s.threadOf(chat).LastSeq
	id := s.branchesOf(chat)[0].ID
	stop := s.watch(e, &spooltest.Client{Name: "live"}, wire.FollowOptions{})
	<-time.After(quiet)
	s.restored(e, id)
	<-time.After(100 * time.Millisecond) // the client is woken and does not have to poll
	var live []string
	var at *wire.Cursor // of the client before the restore
	for _, f := range stop() {
		switch {
		case f.Cursor == nil:
		case f.Cursor.Seq <= seen:
			at = f.Cursor
		default:
			live = append(live, frameLine(f))
		}
	}
	s.lines("the record", s.record()[seen:], "MESSAGES_DROPPED", "MESSAGES_RESTORED")
	if len(live) != 3 || !strings.HasSuffix(live[2], "snapshot") { // the snapshot has the messages
		s.Errorf("a live client saw %q", live)
	}
	var later []string
	for _, f := range s.collect(e, chat, wire.FollowOptions{Cursor: at}) {
		if f.Cursor != nil {
			later = append(later, frameLine(f))
		}
	}
	s.lines("a client that comes back", later, live...)
	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	s.same("the snapshot", snap.Messages, first)
	if snap.LastEventSeq != seen+2 {
		s.Errorf("the snapshot is of seq %d, want %d", snap.LastEventSeq, seen+2)
	}
	// A client whose last message has left the view gets all messages; another one gets the rest.
	for last, n := range map[spool.MessageID]int{"": 4, first[1].ID: 2, first[3].ID: 0} {
		snap, err := e.Snapshot(context.Background(), chat, &wire.SnapshotOptions{LastMessageID: last})
		if err != nil || len(snap.Messages) != n {
			s.Errorf("after %q: %d messages, %v, want %d", last, len(snap.Messages), err, n)
		}
	}
	gone := s.all(chat, "").Branched[0][1].ID
	if snap, err := e.Snapshot(context.Background(), chat, &wire.SnapshotOptions{LastMessageID: gone}); err != nil ||
		len(snap.Messages) != 4 {
		s.Errorf("after one that has left: %+v, %v", snap, err)
	}
}

func testBranchDeleted(s branchTest) {
	e := s.working(s.config(echo()))
	s.said(e, "one")
	s.edited(e, 0, "1")
	id := s.branchesOf(chat)[0].ID
	if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
		s.Fatalf("delete: %+v, %v", r, err)
	}
	s.notRestored(e, chat, id, wire.ReasonNotFound, "Thread not found")
	s.history.Starts = nil
	s.said(e, "anew")
	if got := s.branches(e); len(got) > 0 {
		s.Errorf("branches: %q", got)
	}
	s.view(func(v store.View) error {
		messages, err := v.Messages(store.MessageQuery{Branch: id})
		if len(messages) > 0 {
			s.Errorf("there are %d messages of the thread before", len(messages))
		}
		return err
	})
}

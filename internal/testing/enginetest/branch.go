package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// branchTest is the fixture of the cases about branches.
type branchTest struct{ *engineTest }

var branchTests = map[string]func(s branchTest){
	"BackAndForth": testBranchBackAndForth,
	"Listed":       testBranchListed,
	"Nested":       testBranchNested,
	"Rollback":     testBranchRollback,
	"GoesOn":       testBranchGoesOn,
	"ToolCalls":    testBranchToolCalls,
	"Refused":      testBranchRefused,
	"Active":       testBranchActive,
	"Race":         testBranchRace,
	"RaceStart":    testBranchRaceStart,
	"Faults":       testBranchFaults,
	"Follow":       testBranchFollow,
	"Shown":        testBranchShown,
	"Deleted":      testBranchDeleted,
}

// said runs the prompts one after another, each to its end.
func (s branchTest) said(e *engine.Engine, prompts ...string) {
	s.Helper()
	for _, prompt := range prompts {
		s.start(e, spool.RunID("r-"+prompt), prompt)
		s.ended(wire.Completed)
	}
}

// edited replaces the nth message of the view, and waits for the answer.
func (s branchTest) edited(e *engine.Engine, nth int, prompt string) {
	s.Helper()
	turn := s.messagesOf(chat)[nth].ID
	s.startAs(e, chat, wire.StartRequest{Prompt: prompt, RunID: spool.RunID("r-" + prompt), EditMessageID: turn})
	s.ended(wire.Completed)
}

// restored restores a branch, which must be accepted, and returns the new branch of the replaced
// messages.
func (s branchTest) restored(e *engine.Engine, id wire.BranchID) wire.BranchID {
	s.Helper()
	r, err := e.RestoreBranch(context.Background(), chat, id)
	if err != nil || !r.Accepted || r.BranchID != id {
		s.Fatalf("restore %d: %+v, %v", id, r, err)
	}
	return r.DroppedBranchID
}

// notRestored restores a branch, which must be refused.
func (s branchTest) notRestored(e *engine.Engine, key spool.ThreadKey, id wire.BranchID, reason, text string) {
	s.Helper()
	r, err := e.RestoreBranch(context.Background(), key, id)
	want := wire.RestoreResult{BranchID: id, Reason: reason, Error: text}
	if err != nil || r != want {
		s.Errorf("restore %d: %+v, %v, want %+v", id, r, err, want)
	}
}

// branches returns a line for each branch that the engine lists.
func (s branchTest) branches(e *engine.Engine) (lines []string) {
	s.Helper()
	all, err := e.Branches(context.Background(), chat)
	if err != nil {
		s.Fatal(err)
	}
	for _, b := range all {
		line := fmt.Sprintf("%d %s: %d", b.ID, b.Preview, b.MessageCount)
		if !b.Restorable() {
			line += fmt.Sprintf(" in %d", b.BaseBranchID)
		}
		lines = append(lines, line)
	}
	return lines
}

// testBranchBackAndForth restores the messages that an edit has replaced, and then the others again.
// Everything must be unchanged, also in a later process.
func testBranchBackAndForth(s branchTest) {
	c := s.config(echo())
	e := s.engine(c)
	stop := s.work(e)
	s.said(e, "one", "two", "three")
	first := s.messagesOf(chat)
	s.edited(e, 2, "2")
	second := s.messagesOf(chat)
	s.lines("messages", s.script(), "user one", "assistant re: one", "user 2", "assistant re: 2")
	usage, err := e.Usage(context.Background(), chat)
	if err != nil {
		s.Fatal(err)
	}
	runs := s.runsOf(chat)
	id := s.branchesOf(chat)[0].ID
	for range 2 {
		id = s.restored(e, id)
		s.same("the first messages", s.messagesOf(chat), first)
		s.lines("branches", s.branches(e), fmt.Sprintf("%d 2: 2", id))
		stop()
		e.Close()
		e = s.engine(c)
		stop = s.work(e)
		id = s.restored(e, id)
		s.same("the second messages", s.messagesOf(chat), second)
		s.lines("branches", s.branches(e), fmt.Sprintf("%d two: 4", id))
	}
	s.same("the runs", s.runsOf(chat), runs)
	if again, err := e.Usage(context.Background(), chat); err != nil ||
		again.Tokens.TotalTokens != usage.Tokens.TotalTokens {
		s.Errorf("usage: %+v, %v, want %+v", again, err, usage)
	}
	s.lines("record", s.record()[len(s.record())-2:], "MESSAGES_DROPPED", "MESSAGES_RESTORED")
	last := s.entriesOf(chat)
	told := last[len(last)-1]
	want := fmt.Sprintf(`{"branchId":%d,"count":2,"fromMessageId":"%s"}`, id-2, second[2].ID)
	if got := string(compare.Canonical(told.Payload)); got != want || told.RunID != "" {
		s.Errorf("the entry says %s of %q, want %s", got, told.RunID, want)
	}
}

func testBranchListed(s branchTest) {
	e := s.working(s.config(echo()))
	if _, err := e.Branches(context.Background(), chat); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("no thread: %v", err)
	}
	s.said(e, "one", "two")
	if all, err := e.Branches(context.Background(), chat); err != nil || all == nil || len(all) > 0 {
		s.Errorf("no branch: %v, %v", all, err)
	}
	before := s.messagesOf(chat)
	s.edited(e, 2, "2")
	all, err := e.Branches(context.Background(), chat)
	if err != nil || len(all) != 1 {
		s.Fatalf("branches: %v, %v", all, err)
	}
	b := all[0]
	entry := s.entriesOf(chat)[b.ID-1]
	want := wire.Branch{
		ID: b.ID, FromMessageID: before[2].ID, BaseMessageID: before[1].ID, Preview: "two", MessageCount: 2,
		CreatedAt: entry.CreatedAt, RunID: "r-2",
	}
	s.same("branch", b, want)
	if entry.Type != wire.EntryMessagesDropped {
		s.Errorf("the branch is named after %+v", entry)
	}
	got, err := e.Branch(context.Background(), chat, b.ID, nil)
	if err != nil {
		s.Error(err)
	}
	s.same("the branch", got, wire.BranchMessages{Branch: b, Messages: before[2:]})
	got, err = e.Branch(context.Background(), chat, b.ID, &wire.BranchOptions{Before: before[3].ID, Limit: 3})
	if err != nil {
		s.Error(err)
	}
	s.same("a page", got.Messages, before[2:3])
	for what, key := range map[string]spool.ThreadKey{
		"no such branch": chat, "no such thread": {Tenant: "umbrella", ID: "chat"},
	} {
		if _, err := e.Branch(context.Background(), key, b.ID+1, nil); spool.CodeOf(err) != spool.NotFound {
			s.Errorf("%s: %v", what, err)
		}
	}
}

// testBranchNested edits an edited turn, and restores a branch whose base has left the view.
func testBranchNested(s branchTest) {
	e := s.working(s.config(echo()))
	s.said(e, "one", "two")
	s.edited(e, 2, "2") // one two -> one 2
	s.edited(e, 2, "II")
	inner := s.branchesOf(chat)[1].ID
	s.edited(e, 0, "1")
	s.lines("messages", s.script(), "user 1", "assistant re: 1")
	outer := s.branchesOf(chat)[0].ID
	before := s.all(chat, "")
	s.notRestored(e, chat, inner, wire.ReasonNotRestorable, fmt.Sprintf("Branch %d has to be restored first", outer))
	s.same("the thread", s.all(chat, ""), before)
	s.restored(e, outer)
	s.lines("messages", s.script(), "user one", "assistant re: one", "user II", "assistant re: II")
	s.restored(e, inner)
	s.lines("messages", s.script(), "user one", "assistant re: one", "user two", "assistant re: two")
	if got := s.branches(e); len(got) != 3 ||
		slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "in") }) {
		s.Errorf("branches: %q", got)
	}
}

func testBranchRollback(s branchTest) {
	m := gated(make(chan struct{}))
	e := s.working(s.config(m))
	s.start(e, "r0", "zero")
	s.ended(wire.Completed)
	waitTest(s).talks(e, m)
	waitTest(s).busy(e, "r2", spool.BusyRollback)
	s.ended(wire.Completed)
	branch := s.branchesOf(chat)[0]
	if branch.RunID != "r2" {
		s.Errorf("the branch: %+v", branch)
	}
	s.restored(e, branch.ID)
	if got := s.script(); len(got) < 3 || got[2] != "user r1!" {
		s.Errorf("messages: %q", got)
	}
	if r := s.run("r1"); r.State != wire.Cancelled {
		s.Errorf("the run: %+v", r)
	}
}

// testBranchGoesOn continues restored messages, and edits them again.
func testBranchGoesOn(s branchTest) {
	m := echo()
	e := s.working(s.config(m))
	s.said(e, "one")
	s.edited(e, 0, "1")
	s.restored(e, s.branchesOf(chat)[0].ID)
	s.said(e, "two")
	s.lines("messages", s.script(), "user one", "assistant re: one", "user two", "assistant re: two")
	if asked := m.Requests()[2].Messages; len(asked) != 3 || asked[0].Text() != "one" {
		s.Errorf("the model was asked with %d messages", len(asked))
	}
	s.edited(e, 0, "I")
	if got := s.branches(e); len(got) != 2 || !strings.HasSuffix(got[0], "one: 4") || !strings.HasSuffix(got[1], "1: 2") {
		s.Errorf("branches: %q", got)
	}
}

// testBranchToolCalls has the same call id in two branches, from a model that counts from one in each.
// Whichever branch is shown, a call has one result, right after it, and a later call with the same id
// gets another result.
func testBranchToolCalls(s branchTest) {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == spool.RoleUser {
			return spooltest.Turn{Text: []string{"for " + last.Text()}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}}
		}
		return spooltest.Say("done")
	})
	e := s.working(s.config(m, plain("look", "1")))
	s.said(e, "one")
	s.edited(e, 0, "1")
	both := []spool.ToolCallID{s.messagesOf(chat)[1].ToolCalls()[0].ToolCallID}
	s.restored(e, s.branchesOf(chat)[0].ID)
	both = append(both, s.messagesOf(chat)[1].ToolCalls()[0].ToolCallID)
	if both[0] != "c1" || both[1] != "c1" {
		s.Errorf("the calls of the branches: %q", both)
	}
	s.said(e, "two")
	s.restored(e, s.branchesOf(chat)[0].ID)
	s.said(e, "three")
	for _, r := range m.Requests() {
		seen := make(map[spool.ToolCallID]bool)
		for i, asked := range r.Messages {
			for _, call := range asked.ToolCalls() {
				if seen[call.ToolCallID] {
					s.Errorf("call %s is there twice", call.ToolCallID)
				}
				seen[call.ToolCallID] = true
				results := r.Messages[i+1].ToolResults()
				if len(results) != 1 || results[0].ToolCallID != call.ToolCallID || string(results[0].Result) != "1" {
					s.Errorf("after call %s: %+v", call.ToolCallID, results)
				}
			}
		}
	}
	if calls := s.messagesOf(chat); len(calls) != 8 || calls[5].ToolCalls()[0].ToolCallID == "c1" {
		s.Errorf("messages: %q", s.script())
	}
}

package spooltest

import (
	"encoding/json"
	"errors"

	"github.com/spoolhq/spool"
)

// testStoreTenantsApart gives two tenants threads with the same ids and with rows of every kind. What
// one tenant reads must not change when the other one writes.
func testStoreTenantsApart(s *storeTest) {
	ours, theirs := thread("t"), spool.ThreadKey{Tenant: "other", ID: "t"}
	s.write(ours, func(tx spool.Tx) error { return furnish(tx, ours) })
	alone := s.queries(ours)
	s.write(theirs, func(tx spool.Tx) error { return furnish(tx, theirs) })
	for name, rows := range s.queries(ours) {
		s.same("what we read beside the other tenant: "+name, rows, alone[name])
	}
	both := s.queries(theirs)
	s.same("the runs that wait", both["waiting"], []string{"next other", "later other"})
	s.write(ours, func(tx spool.Tx) error { return tx.Write(spool.Changes{DeleteThread: true}) })
	for name, rows := range s.queries(theirs) {
		s.same("what they read without us: "+name, rows, both[name])
	}
}

// furnish writes rows of every kind to a new thread, and two of some kinds. The texts contain the
// tenant.
func furnish(tx spool.Tx, key spool.ThreadKey) error {
	name, n := string(key.Tenant), int64(len(key.Tenant))
	turn := func(id spool.MessageID, agent spool.AgentID) *spool.Message {
		return &spool.Message{ID: id, AgentID: agent, RunID: "r", Role: spool.RoleUser, Content: spool.TextContent(string(id) + " of " + name)}
	}
	waits := func(id spool.RunID, place int64) spool.RunRow {
		return spool.RunRow{
			Run:      spool.Run{ID: id, Agent: name, State: spool.Queued, QueuePosition: place},
			RunState: spool.RunState{Wait: &spool.Wait{WhenBusy: spool.BusyEnqueue, Content: spool.TextContent(name)}},
		}
	}
	usage := func(kind spool.UsageKind, agent spool.AgentID) spool.UsageRow {
		return spool.UsageRow{RunID: "r", AgentID: agent, Agent: name, Kind: kind, Model: "m", Usage: spool.Usage{Input: &n}}
	}
	first, second := spool.NewEntry(spool.EntryMessagesDropped, "r", spool.MessagesDropped{FromMessageID: spool.MessageID(name)}), spool.NewEntry(spool.EntryMessagesDropped, "r", spool.MessagesDropped{FromMessageID: spool.MessageID(name)})
	err := errors.Join(
		putQueued(tx, "r"),
		tx.Write(spool.Changes{
			NewRuns:  []spool.RunRow{waits("later", 9), waits("next", 4), {Run: spool.Run{ID: "n", Agent: name, RootID: "r", ParentID: "r", Depth: 1, State: spool.Queued}}},
			Messages: []*spool.Message{turn("m1", ""), turn("m2", ""), turn("m3", "n"), turn("m4", "")},
			Entries:  []*spool.Entry{spool.NewEntry(spool.EntryRunStarted, "r", spool.RunStarted{RunID: spool.RunID(name)}), first, second},
		}),
	)
	if err != nil {
		return err
	}
	return errors.Join(
		tx.Write(spool.Changes{
			Drop:    &spool.Drop{From: "m4", Seq: first.Seq},
			Restore: spool.BranchID(first.Seq),
		}),
		tx.Write(spool.Changes{
			Drop:    &spool.Drop{From: "m4", Seq: second.Seq},
			Parks:   []spool.Park{{RunID: "r", ToolCallID: "c1", ToolName: "draft", State: spool.ParkOpen}, {RunID: "r", ToolCallID: "c1", ToolName: name, State: spool.ParkOpen}},
			Effects: []spool.Effect{{RunID: "r", Step: 1, ToolCallID: "c1", State: spool.EffectPending}, {RunID: "r", Step: 1, ToolCallID: "c1", State: spool.EffectDone, Result: json.RawMessage(`"` + name + `"`)}},
			Usage:   []spool.UsageRow{usage(spool.UsageStep, ""), usage(spool.UsageTool, "n")},
			Delta:   &spool.SnapshotDelta{RunID: spool.RunID(name)},
		}),
	)
}

// queries returns the result of each query of a [spool.View], for a thread that furnish has filled.
func (s *storeTest) queries(key spool.ThreadKey) map[string]any {
	s.Helper()
	found := map[string]any{"all": s.all(key, "r")}
	s.read(key, func(v spool.View) error {
		var errs []error
		keep := func(name string, rows any, err error) {
			found[name] = rows
			errs = append(errs, err)
		}
		line, err := v.Runs(spool.RunQuery{Waiting: true, Whole: true})
		names := make([]string, len(line))
		for i, r := range line {
			names[i] = string(r.ID) + " " + r.Agent
		}
		keep("waiting", names, err)
		run, err := spool.FindRun(v, "r")
		keep("run", run, err)
		newest, err := v.Runs(spool.RunQuery{Limit: 2})
		keep("newest runs", newest, err)
		nested, err := v.Runs(spool.RunQuery{RootID: "r", Whole: true})
		keep("nested", nested, err)
		message, err := spool.FindMessage(v, "m2")
		keep("message", message, err)
		for name, q := range map[string]spool.MessageQuery{
			"after": {After: "m1"}, "before": {Before: "m2"}, "since": {SinceSeq: 1}, "role": {Role: spool.RoleUser}, "of run": {Run: "r"},
			"agent": {Agent: new(spool.AgentID("n"))}, "newest": {Limit: 2}, "turns": {Turns: true}, "later turns": {Turns: true, After: "m1", Limit: 2},
			"early turns": {Turns: true, BeforeSeq: 1},
		} {
			rows, err := v.Messages(q)
			keep("messages "+name, rows, err)
		}
		for name, q := range map[string]spool.EntryQuery{
			"after": {After: 1}, "of run": {Run: "r"}, "type": {Type: spool.EntryRunStarted}, "last": {Last: true, Limit: 2},
		} {
			rows, err := v.Entries(q)
			keep("entries "+name, rows, err)
		}
		deltas, err := v.Deltas(spool.DeltaQuery{})
		keep("deltas", deltas, err)
		for name, q := range map[string]spool.UsageQuery{
			"of run": {Run: "r"}, "agent": {Agent: new(spool.AgentID("n"))}, "kind": {Kind: spool.UsageStep}, "counted": {Counted: true, Last: true},
		} {
			rows, err := v.Usage(q)
			keep("usage "+name, rows, err)
		}
		return errors.Join(errs...)
	})
	return found
}

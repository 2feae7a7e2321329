package spooltest

import (
	"encoding/json"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testStoreTenantsApart gives two tenants threads with the same ids and with rows of every kind. What
// one tenant reads must not change when the other one writes.
func testStoreTenantsApart(s *storeTest) {
	ours, theirs := thread("t"), spool.ThreadKey{Tenant: "other", ID: "t"}
	s.write(ours, func(tx store.Tx) error { return furnish(tx, ours) })
	alone := s.queries(ours)
	s.write(theirs, func(tx store.Tx) error { return furnish(tx, theirs) })
	for name, rows := range s.queries(ours) {
		s.same("what we read beside the other tenant: "+name, rows, alone[name])
	}
	both := s.queries(theirs)
	s.same("the runs that wait", both["waiting"], []string{"next other", "later other"})
	s.write(ours, func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	for name, rows := range s.queries(theirs) {
		s.same("what they read without us: "+name, rows, both[name])
	}
}

// furnish writes rows of every kind to a new thread, and two of some kinds. The texts contain the
// tenant.
func furnish(tx store.Tx, key spool.ThreadKey) error {
	name, n := string(key.Tenant), int64(len(key.Tenant))
	turn := func(id spool.MessageID, agent spool.AgentID) *spool.Message {
		return &spool.Message{
			ID: id, AgentID: agent, RunID: "r", Role: spool.RoleUser, Content: spool.TextContent(string(id) + " of " + name),
		}
	}
	waits := func(id spool.RunID, place int64) store.RunRow {
		return store.RunRow{
			Run:      wire.Run{ID: id, Agent: name, State: wire.Queued, QueuePosition: place},
			RunState: store.RunState{Wait: &store.Wait{WhenBusy: spool.BusyEnqueue, Content: spool.TextContent(name)}},
		}
	}
	usage := func(kind spool.UsageKind, agent spool.AgentID) wire.UsageRow {
		return wire.UsageRow{RunID: "r", AgentID: agent, Agent: name, Kind: kind, Model: "m", Usage: spool.Usage{Input: &n}}
	}
	first, second := wire.NewEntry(wire.EntryMessagesDropped, "r",
		wire.MessagesDropped{FromMessageID: spool.MessageID(name)}), wire.NewEntry(wire.EntryMessagesDropped, "r",
		wire.MessagesDropped{FromMessageID: spool.MessageID(name)})
	err := errors.Join(
		putQueued(tx, "r"),
		tx.Write(store.Changes{
			NewRuns: []store.RunRow{
				waits("later", 9), waits("next", 4),
				{Run: wire.Run{ID: "n", Agent: name, RootID: "r", ParentID: "r", Depth: 1, State: wire.Queued}},
			},
			Messages: []*spool.Message{turn("m1", ""), turn("m2", ""), turn("m3", "n"), turn("m4", "")},
			Entries: []*wire.Entry{
				wire.NewEntry(wire.EntryRunStarted, "r", wire.RunStarted{RunID: spool.RunID(name)}), first, second,
			},
		}),
	)
	if err != nil {
		return err
	}
	return errors.Join(
		tx.Write(store.Changes{
			Drop:    &store.Drop{From: "m4", Seq: first.Seq},
			Restore: wire.BranchID(first.Seq),
		}),
		tx.Write(store.Changes{
			Drop: &store.Drop{From: "m4", Seq: second.Seq},
			Parks: []store.Park{
				{RunID: "r", ToolCallID: "c1", ToolName: "draft", State: wire.ParkOpen},
				{RunID: "r", ToolCallID: "c1", ToolName: name, State: wire.ParkOpen},
			},
			Effects: []store.Effect{
				{RunID: "r", Step: 1, ToolCallID: "c1", State: wire.EffectPending},
				{RunID: "r", Step: 1, ToolCallID: "c1", State: wire.EffectDone, Result: json.RawMessage(`"` + name + `"`)},
			},
			Usage: []wire.UsageRow{usage(spool.UsageStep, ""), usage(spool.UsageTool, "n")},
			Delta: &store.SnapshotDelta{RunID: spool.RunID(name)},
		}),
	)
}

// queries returns the result of each query of a [store.View], for a thread that furnish has filled.
func (s *storeTest) queries(key spool.ThreadKey) map[string]any {
	s.Helper()
	found := map[string]any{"all": s.all(key, "r")}
	s.read(key, func(v store.View) error {
		var errs []error
		keep := func(name string, rows any, err error) {
			found[name] = rows
			errs = append(errs, err)
		}
		line, err := v.Runs(wire.RunQuery{Waiting: true, Whole: true})
		names := make([]string, len(line))
		for i, r := range line {
			names[i] = string(r.ID) + " " + r.Agent
		}
		keep("waiting", names, err)
		run, err := store.FindRun(v, "r")
		keep("run", run, err)
		newest, err := v.Runs(wire.RunQuery{Limit: 2})
		keep("newest runs", newest, err)
		nested, err := v.Runs(wire.RunQuery{RootID: "r", Whole: true})
		keep("nested", nested, err)
		message, err := store.FindMessage(v, "m2")
		keep("message", message, err)
		for name, q := range map[string]store.MessageQuery{
			"after": {After: "m1"}, "before": {Before: "m2"}, "since": {SinceSeq: 1}, "role": {Role: spool.RoleUser},
			"of run": {Run: "r"}, "agent": {Agent: new(spool.AgentID("n"))}, "newest": {Limit: 2}, "turns": {Turns: true},
			"later turns": {Turns: true, After: "m1", Limit: 2}, "early turns": {Turns: true, BeforeSeq: 1},
		} {
			rows, err := v.Messages(q)
			keep("messages "+name, rows, err)
		}
		for name, q := range map[string]store.EntryQuery{
			"after": {After: 1}, "of run": {Run: "r"}, "type": {Type: wire.EntryRunStarted}, "last": {Last: true, Limit: 2},
		} {
			rows, err := v.Entries(q)
			keep("entries "+name, rows, err)
		}
		deltas, err := v.Deltas(store.DeltaQuery{})
		keep("deltas", deltas, err)
		for name, q := range map[string]wire.UsageQuery{
			"of run": {Run: "r"}, "agent": {Agent: new(spool.AgentID("n"))}, "kind": {Kind: spool.UsageStep},
			"counted": {Counted: true, Last: true},
		} {
			rows, err := v.Usage(q)
			keep("usage "+name, rows, err)
		}
		return errors.Join(errs...)
	})
	return found
}

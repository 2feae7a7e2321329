package spooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// parkedThread is a thread with a run that waits for one question.
type parkedThread struct {
	id    spool.ThreadID
	owner string
	run   wire.Run
	park  store.Park
}

// parks makes a thread whose run waits for a question, which expires after the given time.
func (s *storeTest) parks(tenant spool.Tenant, p parkedThread, expires time.Duration) {
	s.Helper()
	s.write(spool.ThreadKey{Tenant: tenant, ID: p.id}, func(tx store.Tx) error {
		p.run.State = wire.WaitingForInput
		p.park.RunID, p.park.State, p.park.CreatedAt, p.park.ExpiresAt = p.run.ID, wire.ParkOpen, tx.Now(),
			tx.Now().Add(expires)
		return tx.Write(store.Changes{
			Thread: &wire.Thread{
				State: wire.WaitingForInput, Owner: p.owner, RunID: p.run.ID, Title: "title of " + string(p.id),
			},
			NewRuns: []store.RunRow{{Run: p.run, RunState: store.RunState{Nonce: "nonce"}}},
			Parks:   []store.Park{p.park},
		})
	})
}

// changePark replaces the only park of a run.
func (s *storeTest) changePark(key spool.ThreadKey, run spool.RunID, change func(now time.Time, p *store.Park)) {
	s.Helper()
	s.write(key, func(tx store.Tx) error {
		parks, err := tx.Parks(run)
		if err != nil || len(parks) != 1 {
			return errors.Join(err, fmt.Errorf("%d parks", len(parks)))
		}
		change(tx.Now(), &parks[0])
		return tx.Write(store.Changes{Parks: parks})
	})
}

func (s *storeTest) listParks(q wire.ParkQuery) []store.ParkRow {
	s.Helper()
	if q.Tenant == "" {
		q.Tenant = spool.DefaultTenant
	}
	list, err := s.Store.Parks(context.Background(), q)
	if err != nil {
		s.Fatalf("list parks: %v", err)
	}
	return list
}

// inbox lists the calls that wait, by their ids.
func (s *storeTest) inbox(q wire.ParkQuery) string {
	s.Helper()
	return compare.Joined(s.listParks(q), func(p store.ParkRow) spool.ToolCallID { return p.ToolCallID })
}

func testStoreInbox(s *storeTest) {
	s.same("of a tenant that has none", s.listParks(wire.ParkQuery{Tenant: "nobody"}), []store.ParkRow{})
	for i, call := range []spool.ToolCallID{"c", "a", "b"} {
		id := fmt.Sprint("t", i)
		s.parks(spool.DefaultTenant, parkedThread{
			id: spool.ThreadID(id), run: wire.Run{ID: spool.RunID("r-" + id)}, park: store.Park{ToolCallID: call},
		}, time.Duration(10-i)*time.Minute)
		s.clock.Advance(time.Second)
	}
	s.parks("other", parkedThread{id: "t0", run: wire.Run{ID: "r-t0"}, park: store.Park{ToolCallID: "x"}}, time.Hour)
	s.same("by age", s.inbox(wire.ParkQuery{}), "cab")
	s.same("by age, if that is said", s.inbox(wire.ParkQuery{Order: wire.ParksByAge, Limit: 2}), "ca")
	s.same("by expiry", s.inbox(wire.ParkQuery{Order: wire.ParksByExpiry}), "bac")
	s.same("of another tenant", s.inbox(wire.ParkQuery{Tenant: "other"}), "x")
	for _, row := range s.listParks(wire.ParkQuery{Tenant: "other"}) {
		s.same("its thread", row.Thread.Key(), spool.ThreadKey{Tenant: "other", ID: "t0"})
		s.same("its run", row.Runs[0].Tenant, spool.Tenant("other"))
	}

	// Only a question that somebody can answer now is in the list.
	key := thread("t1")
	for state, want := range map[wire.ParkState]string{
		wire.ParkAnswered: "cb", wire.ParkClosed: "cb", wire.ParkPending: "cb", wire.ParkExpired: "cb", wire.ParkDone: "cb",
		wire.ParkOpen: "cab",
	} {
		s.changePark(key, "r-t1", func(_ time.Time, p *store.Park) { p.State = state })
		if state == wire.ParkOpen {
			continue
		}
		s.same("with a park that is "+string(state), s.inbox(wire.ParkQuery{}), want)
		s.same("by expiry, with a park that is "+string(state), s.inbox(wire.ParkQuery{Order: wire.ParksByExpiry}), "bc")
	}
	var expires time.Time
	s.changePark(key, "r-t1", func(_ time.Time, p *store.Park) {
		expires = p.ExpiresAt
		p.State, p.ExpiresAt = wire.ParkOpen, time.Time{} // as before its run has parked
	})
	s.same("before the run has parked", s.inbox(wire.ParkQuery{}), "cb")
	s.changePark(key, "r-t1", func(_ time.Time, p *store.Park) { p.ExpiresAt = expires })
	s.same("again", s.inbox(wire.ParkQuery{}), "cab")
	s.write(key, func(tx store.Tx) error {
		run, err := store.FindRun(tx, "r-t1")
		run.State = wire.Running
		return errors.Join(err, tx.Write(store.Changes{Runs: []store.RunRow{run}}))
	})
	s.same("of a run that works", s.inbox(wire.ParkQuery{}), "cb")

	s.clock.Advance(8*time.Minute - time.Second - time.Microsecond)
	s.same("just before one expires", s.inbox(wire.ParkQuery{Order: wire.ParksByExpiry}), "bc")
	s.clock.Advance(time.Microsecond)
	s.same("after it has expired", s.inbox(wire.ParkQuery{}), "c")
	s.write(thread("t0"), func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	s.same("after the thread was deleted", s.inbox(wire.ParkQuery{}), "")
	s.same("of the other tenant", s.inbox(wire.ParkQuery{Tenant: "other"}), "x")
}

// A nested run's question comes with the runs above it.
func testStoreInboxNested(s *storeTest) {
	key := thread("t")
	above := spool.AgentID("n1")
	rows := []store.RunRow{
		{
			Run:      wire.Run{ID: "r", Agent: "clerk", State: wire.WaitingForInput, StartedBy: "ann"},
			RunState: store.RunState{Nonce: "1", Scopes: []string{"read"}},
		},
		{
			Run:      wire.Run{ID: "n1", Agent: "helper", State: wire.WaitingForInput, ParentID: "r", RootID: "r", Depth: 1},
			RunState: store.RunState{Nonce: "2"},
		},
		{
			Run:      wire.Run{ID: "n2", Agent: "digger", State: wire.WaitingForInput, ParentID: "n1", RootID: "r", Depth: 2},
			RunState: store.RunState{Nonce: "3"},
		},
		{Run: wire.Run{ID: "n3", Agent: "other", State: wire.WaitingForInput, ParentID: "r", RootID: "r", Depth: 1}},
	}
	park := store.Park{
		RunID: "r", ToolCallID: "deep", ToolName: "send", AgentID: "n2", State: wire.ParkOpen, Reason: wire.ParkApproval,
		Frames: []wire.ParkFrame{{AgentID: &above, ToolCallID: "c2"}, {ToolCallID: "c1"}}, Args: json.RawMessage(`{"a":1}`),
		Digest: "sha256:1", CreatedAt: s.clock.Now(), ExpiresAt: s.clock.Now().Add(time.Hour),
	}
	top := park
	top.ToolCallID, top.AgentID, top.Frames = "top", "", nil
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread: &wire.Thread{
				State: wire.WaitingForInput, RunID: "r", Title: "a title", Owner: "ann", Labels: map[string]string{"team": "sales"},
			},
			NewRuns: rows, Parks: []store.Park{top, park},
		})
	})
	var stored wire.Thread
	whole := make(map[spool.RunID]store.RunRow)
	s.read(key, func(v store.View) (err error) {
		runs, err := v.Runs(wire.RunQuery{Whole: true})
		for _, r := range runs {
			whole[r.ID] = r
		}
		if err == nil {
			stored, err = v.Thread()
		}
		return err
	})
	s.same("the rows", s.listParks(wire.ParkQuery{}), []store.ParkRow{
		{Park: park, Thread: stored, Runs: []store.RunRow{whole["r"], whole["n1"], whole["n2"]}},
		{Park: top, Thread: stored, Runs: []store.RunRow{whole["r"]}},
	})
	for agent, want := range map[string]string{"clerk": "deeptop", "digger": "deep", "helper": "", "other": ""} {
		s.same("of the agent "+agent, s.inbox(wire.ParkQuery{Agent: agent}), want)
	}
}

func testStoreInboxFilters(s *storeTest) {
	for _, p := range []parkedThread{
		{
			"t1", "ann",
			wire.Run{ID: "r1", Agent: "clerk", StartedBy: "ann"},
			store.Park{ToolCallID: "a", ToolName: "refund", Reason: wire.ParkApproval},
		},
		{
			"t2", "bob",
			wire.Run{ID: "r2", Agent: "clerk", StartedBy: "ann"},
			store.Park{ToolCallID: "b", ToolName: "send", Reason: wire.ParkApproval},
		},
		{
			"t3", "ann",
			wire.Run{ID: "r3", Agent: "helper", StartedBy: "bob"},
			store.Park{ToolCallID: "c", ToolName: "refund", Reason: wire.ParkOutcomeUnknown},
		},
		{"t4", "", wire.Run{ID: "r4", Agent: "helper"}, store.Park{ToolCallID: "d", ToolName: "", Reason: wire.ParkBudget}},
	} {
		s.clock.Advance(time.Second)
		s.parks(spool.DefaultTenant, p, time.Hour)
	}
	for name, c := range map[string]struct {
		q    wire.ParkQuery
		want string
	}{
		"an agent":    {wire.ParkQuery{Agent: "helper"}, "cd"},
		"a tool":      {wire.ParkQuery{Tool: "refund"}, "ac"},
		"a reason":    {wire.ParkQuery{Reason: wire.ParkApproval}, "ab"},
		"a thread":    {wire.ParkQuery{ThreadID: "t3"}, "c"},
		"who started": {wire.ParkQuery{StartedBy: "ann"}, "ab"},
		"an owner":    {wire.ParkQuery{Owner: "ann"}, "ac"},
		"all at once": {
			wire.ParkQuery{
				Agent: "clerk", Tool: "refund", Reason: wire.ParkApproval, ThreadID: "t1", StartedBy: "ann", Owner: "ann",
			},
			"a",
		},
		"an agent that has none":    {wire.ParkQuery{Agent: "nobody"}, ""},
		"a tool that waits not":     {wire.ParkQuery{Tool: "nothing"}, ""},
		"a thread that waits not":   {wire.ParkQuery{ThreadID: "t9"}, ""},
		"of others' and one's own":  {wire.ParkQuery{Owner: "bob", StartedBy: "bob"}, ""},
		"a filter and a page of it": {wire.ParkQuery{Owner: "ann", Limit: 1}, "a"},
	} {
		s.same("by "+name, s.inbox(c.q), c.want)
		c.q.Order = wire.ParksByExpiry
		s.same("by expiry and "+name, s.inbox(c.q), c.want)
	}
}

// Pages repeat and skip nothing, also between parks of the same time and of the same run.
func testStoreInboxPages(s *storeTest) {
	for _, ids := range []string{"cab", "fed", "hig"} {
		for _, run := range ids {
			s.parks(spool.DefaultTenant, parkedThread{
				id: spool.ThreadID("t-" + string(run)), run: wire.Run{ID: spool.RunID(run)},
				park: store.Park{ToolCallID: spool.ToolCallID(string(run) + "1")},
			}, time.Hour)
			s.write(thread(spool.ThreadID("t-"+string(run))), func(tx store.Tx) error {
				parks, err := tx.Parks(spool.RunID(run))
				more := parks[0]
				more.ToolCallID = spool.ToolCallID(string(run) + "0")
				return errors.Join(err, tx.Write(store.Changes{Parks: []store.Park{more}}))
			})
		}
		s.clock.Advance(time.Microsecond)
	}
	const want = "a0a1b0b1c0c1d0d1e0e1f0f1g0g1h0h1i0i1"
	for _, order := range []wire.ParkOrder{wire.ParksByAge, wire.ParksByExpiry} {
		for size := 1; size <= 10; size++ {
			var got []store.ParkRow
			q := wire.ParkQuery{Order: order, Limit: size, Tenant: spool.DefaultTenant}
			for {
				list := s.listParks(q)
				got = append(got, list...)
				if len(list) < size {
					break
				}
				last := list[size-1]
				q.After, q.AfterRun, q.AfterCall = last.Time(order), last.RunID, last.ToolCallID
			}
			s.same(fmt.Sprintf("pages of %d by %s", size, order),
				compare.Joined(got, func(p store.ParkRow) spool.ToolCallID { return p.ToolCallID }), want)
		}
	}
}

// The expired questions stay in a list of their own, also when their runs are over: the last one first, in pages that
// repeat and skip nothing.
func testStoreInboxExpired(s *storeTest) {
	for i, ids := range []string{"ca", "fed", "b"} {
		for _, id := range ids {
			s.parks(spool.DefaultTenant, parkedThread{
				id: spool.ThreadID("t-" + string(id)), owner: "ann", run: wire.Run{ID: spool.RunID(id), Agent: "clerk"},
				park: store.Park{ToolCallID: spool.ToolCallID(id), ToolName: "send"},
			}, time.Duration(i+1)*time.Hour)
		}
	}
	s.parks("other", parkedThread{id: "t0", run: wire.Run{ID: "x"}, park: store.Park{ToolCallID: "x"}}, time.Hour)
	expired := wire.ParkQuery{State: wire.ParkExpired}
	s.same("while all are open", s.inbox(expired), "")
	for _, id := range "cafed" {
		key, run := thread(spool.ThreadID("t-"+string(id))), spool.RunID(id)
		s.changePark(key, run, func(_ time.Time, p *store.Park) { p.State, p.Landed = wire.ParkExpired, true })
		s.write(key, func(tx store.Tx) error {
			row, err := store.FindRun(tx, run)
			row.State = wire.Completed
			return errors.Join(err, tx.Write(store.Changes{Runs: []store.RunRow{row}}))
		})
	}
	s.same("the open one", s.inbox(wire.ParkQuery{State: wire.ParkOpen}), "b")
	s.same("the expired ones", s.inbox(expired), "fedca")
	s.same("of an order that does not apply", s.inbox(wire.ParkQuery{State: wire.ParkExpired, Order: wire.ParksByAge}),
		"fedca")
	for name, q := range map[string]wire.ParkQuery{
		"fedca": {Agent: "clerk", Tool: "send", Owner: "ann"}, "e": {ThreadID: "t-e"}, "": {Agent: "nobody"},
	} {
		q.State = wire.ParkExpired
		s.same("of a filter", s.inbox(q), name)
	}
	row := s.listParks(wire.ParkQuery{State: wire.ParkExpired, Limit: 1})[0]
	s.same("its thread and run", [2]string{string(row.Thread.ID), string(row.Runs[0].ID)}, [2]string{"t-f", "f"})
	for size := 1; size <= 6; size++ {
		var got []store.ParkRow
		q := wire.ParkQuery{State: wire.ParkExpired, Limit: size}
		for {
			list := s.listParks(q)
			got = append(got, list...)
			if len(list) < size {
				break
			}
			last := list[size-1]
			q.After, q.AfterRun, q.AfterCall = last.ExpiresAt, last.RunID, last.ToolCallID
		}
		s.same(fmt.Sprintf("pages of %d", size),
			compare.Joined(got, func(p store.ParkRow) spool.ToolCallID { return p.ToolCallID }), "fedca")
	}
}

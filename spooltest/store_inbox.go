package spooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
)

// parkedThread is a thread with a run that waits for one question.
type parkedThread struct {
	id    spool.ThreadID
	owner string
	run   spool.Run
	park  spool.Park
}

// parks makes a thread whose run waits for a question, which expires after the given time.
func (s *storeTest) parks(tenant spool.Tenant, p parkedThread, expires time.Duration) {
	s.Helper()
	s.write(spool.ThreadKey{Tenant: tenant, ID: p.id}, func(tx spool.Tx) error {
		p.run.State = spool.WaitingForInput
		p.park.RunID, p.park.State, p.park.CreatedAt, p.park.ExpiresAt = p.run.ID, spool.ParkOpen, tx.Now(), tx.Now().Add(expires)
		return tx.Write(spool.Changes{
			Thread:  &spool.Thread{State: spool.WaitingForInput, Owner: p.owner, RunID: p.run.ID, Title: "title of " + string(p.id)},
			NewRuns: []spool.RunRow{{Run: p.run, RunState: spool.RunState{Nonce: "nonce"}}},
			Parks:   []spool.Park{p.park},
		})
	})
}

// changePark replaces the only park of a run.
func (s *storeTest) changePark(key spool.ThreadKey, run spool.RunID, change func(now time.Time, p *spool.Park)) {
	s.Helper()
	s.write(key, func(tx spool.Tx) error {
		parks, err := tx.Parks(run)
		if err != nil || len(parks) != 1 {
			return errors.Join(err, fmt.Errorf("%d parks", len(parks)))
		}
		change(tx.Now(), &parks[0])
		return tx.Write(spool.Changes{Parks: parks})
	})
}

func (s *storeTest) listParks(q spool.ParkQuery) []spool.ParkRow {
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
func (s *storeTest) inbox(q spool.ParkQuery) string {
	s.Helper()
	return compare.Joined(s.listParks(q), func(p spool.ParkRow) spool.ToolCallID { return p.ToolCallID })
}

func testStoreInbox(s *storeTest) {
	s.same("of a tenant that has none", s.listParks(spool.ParkQuery{Tenant: "nobody"}), []spool.ParkRow{})
	for i, call := range []spool.ToolCallID{"c", "a", "b"} {
		id := fmt.Sprint("t", i)
		s.parks(spool.DefaultTenant, parkedThread{
			id: spool.ThreadID(id), run: spool.Run{ID: spool.RunID("r-" + id)}, park: spool.Park{ToolCallID: call},
		}, time.Duration(10-i)*time.Minute)
		s.clock.Advance(time.Second)
	}
	s.parks("other", parkedThread{id: "t0", run: spool.Run{ID: "r-t0"}, park: spool.Park{ToolCallID: "x"}}, time.Hour)
	s.same("by age", s.inbox(spool.ParkQuery{}), "cab")
	s.same("by age, if that is said", s.inbox(spool.ParkQuery{Order: spool.ParksByAge, Limit: 2}), "ca")
	s.same("by expiry", s.inbox(spool.ParkQuery{Order: spool.ParksByExpiry}), "bac")
	s.same("of another tenant", s.inbox(spool.ParkQuery{Tenant: "other"}), "x")
	for _, row := range s.listParks(spool.ParkQuery{Tenant: "other"}) {
		s.same("its thread", row.Thread.Key(), spool.ThreadKey{Tenant: "other", ID: "t0"})
		s.same("its run", row.Runs[0].Tenant, spool.Tenant("other"))
	}

	// Only a question that somebody can answer now is in the list.
	key := thread("t1")
	for state, want := range map[spool.ParkState]string{
		spool.ParkAnswered: "cb", spool.ParkClosed: "cb", spool.ParkPending: "cb", spool.ParkExpired: "cb", spool.ParkDone: "cb", spool.ParkOpen: "cab",
	} {
		s.changePark(key, "r-t1", func(_ time.Time, p *spool.Park) { p.State = state })
		if state == spool.ParkOpen {
			continue
		}
		s.same("with a park that is "+string(state), s.inbox(spool.ParkQuery{}), want)
		s.same("by expiry, with a park that is "+string(state), s.inbox(spool.ParkQuery{Order: spool.ParksByExpiry}), "bc")
	}
	var expires time.Time
	s.changePark(key, "r-t1", func(_ time.Time, p *spool.Park) {
		expires = p.ExpiresAt
		p.State, p.ExpiresAt = spool.ParkOpen, time.Time{} // as before its run has parked
	})
	s.same("before the run has parked", s.inbox(spool.ParkQuery{}), "cb")
	s.changePark(key, "r-t1", func(_ time.Time, p *spool.Park) { p.ExpiresAt = expires })
	s.same("again", s.inbox(spool.ParkQuery{}), "cab")
	s.write(key, func(tx spool.Tx) error {
		run, err := spool.FindRun(tx, "r-t1")
		run.State = spool.Running
		return errors.Join(err, tx.Write(spool.Changes{Runs: []spool.RunRow{run}}))
	})
	s.same("of a run that works", s.inbox(spool.ParkQuery{}), "cb")

	s.clock.Advance(8*time.Minute - time.Second - time.Microsecond)
	s.same("just before one expires", s.inbox(spool.ParkQuery{Order: spool.ParksByExpiry}), "bc")
	s.clock.Advance(time.Microsecond)
	s.same("after it has expired", s.inbox(spool.ParkQuery{}), "c")
	s.write(thread("t0"), func(tx spool.Tx) error { return tx.Write(spool.Changes{DeleteThread: true}) })
	s.same("after the thread was deleted", s.inbox(spool.ParkQuery{}), "")
	s.same("of the other tenant", s.inbox(spool.ParkQuery{Tenant: "other"}), "x")
}

// A nested run's question comes with the runs above it.
func testStoreInboxNested(s *storeTest) {
	key := thread("t")
	above := spool.AgentID("n1")
	rows := []spool.RunRow{
		{Run: spool.Run{ID: "r", Agent: "clerk", State: spool.WaitingForInput, StartedBy: "ann"}, RunState: spool.RunState{Nonce: "1", Scopes: []string{"read"}}},
		{Run: spool.Run{ID: "n1", Agent: "helper", State: spool.WaitingForInput, ParentID: "r", RootID: "r", Depth: 1}, RunState: spool.RunState{Nonce: "2"}},
		{Run: spool.Run{ID: "n2", Agent: "digger", State: spool.WaitingForInput, ParentID: "n1", RootID: "r", Depth: 2}, RunState: spool.RunState{Nonce: "3"}},
		{Run: spool.Run{ID: "n3", Agent: "other", State: spool.WaitingForInput, ParentID: "r", RootID: "r", Depth: 1}},
	}
	park := spool.Park{
		RunID: "r", ToolCallID: "deep", ToolName: "send", AgentID: "n2", State: spool.ParkOpen, Reason: spool.ParkApproval,
		Frames: []spool.ParkFrame{{AgentID: &above, ToolCallID: "c2"}, {ToolCallID: "c1"}}, Args: json.RawMessage(`{"a":1}`), Digest: "sha256:1",
		CreatedAt: s.clock.Now(), ExpiresAt: s.clock.Now().Add(time.Hour),
	}
	top := park
	top.ToolCallID, top.AgentID, top.Frames = "top", "", nil
	s.write(key, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread:  &spool.Thread{State: spool.WaitingForInput, RunID: "r", Title: "a title", Owner: "ann", Labels: map[string]string{"team": "sales"}},
			NewRuns: rows, Parks: []spool.Park{top, park},
		})
	})
	var stored spool.Thread
	whole := make(map[spool.RunID]spool.RunRow)
	s.read(key, func(v spool.View) (err error) {
		runs, err := v.Runs(spool.RunQuery{Whole: true})
		for _, r := range runs {
			whole[r.ID] = r
		}
		if err == nil {
			stored, err = v.Thread()
		}
		return err
	})
	s.same("the rows", s.listParks(spool.ParkQuery{}), []spool.ParkRow{
		{Park: park, Thread: stored, Runs: []spool.RunRow{whole["r"], whole["n1"], whole["n2"]}},
		{Park: top, Thread: stored, Runs: []spool.RunRow{whole["r"]}},
	})
	for agent, want := range map[string]string{"clerk": "deeptop", "digger": "deep", "helper": "", "other": ""} {
		s.same("of the agent "+agent, s.inbox(spool.ParkQuery{Agent: agent}), want)
	}
}

func testStoreInboxFilters(s *storeTest) {
	for _, p := range []parkedThread{
		{"t1", "ann", spool.Run{ID: "r1", Agent: "clerk", StartedBy: "ann"}, spool.Park{ToolCallID: "a", ToolName: "refund", Reason: spool.ParkApproval}},
		{"t2", "bob", spool.Run{ID: "r2", Agent: "clerk", StartedBy: "ann"}, spool.Park{ToolCallID: "b", ToolName: "send", Reason: spool.ParkApproval}},
		{"t3", "ann", spool.Run{ID: "r3", Agent: "helper", StartedBy: "bob"}, spool.Park{ToolCallID: "c", ToolName: "refund", Reason: spool.ParkOutcomeUnknown}},
		{"t4", "", spool.Run{ID: "r4", Agent: "helper"}, spool.Park{ToolCallID: "d", ToolName: "", Reason: spool.ParkBudget}},
	} {
		s.clock.Advance(time.Second)
		s.parks(spool.DefaultTenant, p, time.Hour)
	}
	for name, c := range map[string]struct {
		q    spool.ParkQuery
		want string
	}{
		"an agent":                  {spool.ParkQuery{Agent: "helper"}, "cd"},
		"a tool":                    {spool.ParkQuery{Tool: "refund"}, "ac"},
		"a reason":                  {spool.ParkQuery{Reason: spool.ParkApproval}, "ab"},
		"a thread":                  {spool.ParkQuery{ThreadID: "t3"}, "c"},
		"who started":               {spool.ParkQuery{StartedBy: "ann"}, "ab"},
		"an owner":                  {spool.ParkQuery{Owner: "ann"}, "ac"},
		"all at once":               {spool.ParkQuery{Agent: "clerk", Tool: "refund", Reason: spool.ParkApproval, ThreadID: "t1", StartedBy: "ann", Owner: "ann"}, "a"},
		"an agent that has none":    {spool.ParkQuery{Agent: "nobody"}, ""},
		"a tool that waits not":     {spool.ParkQuery{Tool: "nothing"}, ""},
		"a thread that waits not":   {spool.ParkQuery{ThreadID: "t9"}, ""},
		"of others' and one's own":  {spool.ParkQuery{Owner: "bob", StartedBy: "bob"}, ""},
		"a filter and a page of it": {spool.ParkQuery{Owner: "ann", Limit: 1}, "a"},
	} {
		s.same("by "+name, s.inbox(c.q), c.want)
		c.q.Order = spool.ParksByExpiry
		s.same("by expiry and "+name, s.inbox(c.q), c.want)
	}
}

// Pages repeat and skip nothing, also between parks of the same time and of the same run.
func testStoreInboxPages(s *storeTest) {
	for _, ids := range []string{"cab", "fed", "hig"} {
		for _, run := range ids {
			s.parks(spool.DefaultTenant, parkedThread{
				id: spool.ThreadID("t-" + string(run)), run: spool.Run{ID: spool.RunID(run)}, park: spool.Park{ToolCallID: spool.ToolCallID(string(run) + "1")},
			}, time.Hour)
			s.write(thread(spool.ThreadID("t-"+string(run))), func(tx spool.Tx) error {
				parks, err := tx.Parks(spool.RunID(run))
				more := parks[0]
				more.ToolCallID = spool.ToolCallID(string(run) + "0")
				return errors.Join(err, tx.Write(spool.Changes{Parks: []spool.Park{more}}))
			})
		}
		s.clock.Advance(time.Microsecond)
	}
	const want = "a0a1b0b1c0c1d0d1e0e1f0f1g0g1h0h1i0i1"
	for _, order := range []spool.ParkOrder{spool.ParksByAge, spool.ParksByExpiry} {
		for size := 1; size <= 10; size++ {
			var got []spool.ParkRow
			q := spool.ParkQuery{Order: order, Limit: size, Tenant: spool.DefaultTenant}
			for {
				list := s.listParks(q)
				got = append(got, list...)
				if len(list) < size {
					break
				}
				last := list[size-1]
				q.After, q.AfterRun, q.AfterCall = last.Time(order), last.RunID, last.ToolCallID
			}
			s.same(fmt.Sprintf("pages of %d by %s", size, order), compare.Joined(got, func(p spool.ParkRow) spool.ToolCallID { return p.ToolCallID }), want)
		}
	}
}

// The expired questions stay in a list of their own, also when their runs are over: the last one first, in pages that
// repeat and skip nothing.
func testStoreInboxExpired(s *storeTest) {
	for i, ids := range []string{"ca", "fed", "b"} {
		for _, id := range ids {
			s.parks(spool.DefaultTenant, parkedThread{
				id: spool.ThreadID("t-" + string(id)), owner: "ann", run: spool.Run{ID: spool.RunID(id), Agent: "clerk"},
				park: spool.Park{ToolCallID: spool.ToolCallID(id), ToolName: "send"},
			}, time.Duration(i+1)*time.Hour)
		}
	}
	s.parks("other", parkedThread{id: "t0", run: spool.Run{ID: "x"}, park: spool.Park{ToolCallID: "x"}}, time.Hour)
	expired := spool.ParkQuery{State: spool.ParkExpired}
	s.same("while all are open", s.inbox(expired), "")
	for _, id := range "cafed" {
		key, run := thread(spool.ThreadID("t-"+string(id))), spool.RunID(id)
		s.changePark(key, run, func(_ time.Time, p *spool.Park) { p.State, p.Landed = spool.ParkExpired, true })
		s.write(key, func(tx spool.Tx) error {
			row, err := spool.FindRun(tx, run)
			row.State = spool.Completed
			return errors.Join(err, tx.Write(spool.Changes{Runs: []spool.RunRow{row}}))
		})
	}
	s.same("the open one", s.inbox(spool.ParkQuery{State: spool.ParkOpen}), "b")
	s.same("the expired ones", s.inbox(expired), "fedca")
	s.same("of an order that does not apply", s.inbox(spool.ParkQuery{State: spool.ParkExpired, Order: spool.ParksByAge}), "fedca")
	for name, q := range map[string]spool.ParkQuery{
		"fedca": {Agent: "clerk", Tool: "send", Owner: "ann"}, "e": {ThreadID: "t-e"}, "": {Agent: "nobody"},
	} {
		q.State = spool.ParkExpired
		s.same("of a filter", s.inbox(q), name)
	}
	row := s.listParks(spool.ParkQuery{State: spool.ParkExpired, Limit: 1})[0]
	s.same("its thread and run", [2]string{string(row.Thread.ID), string(row.Runs[0].ID)}, [2]string{"t-f", "f"})
	for size := 1; size <= 6; size++ {
		var got []spool.ParkRow
		q := spool.ParkQuery{State: spool.ParkExpired, Limit: size}
		for {
			list := s.listParks(q)
			got = append(got, list...)
			if len(list) < size {
				break
			}
			last := list[size-1]
			q.After, q.AfterRun, q.AfterCall = last.ExpiresAt, last.RunID, last.ToolCallID
		}
		s.same(fmt.Sprintf("pages of %d", size), compare.Joined(got, func(p spool.ParkRow) spool.ToolCallID { return p.ToolCallID }), "fedca")
	}
}

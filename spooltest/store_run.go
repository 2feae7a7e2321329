package spooltest

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
)

func fullRun(s *storeTest) spool.RunRow {
	at := func(minutes int) time.Time { return s.clock.Now().Add(time.Duration(minutes) * time.Minute) }
	return spool.RunRow{Run: spool.Run{
		Tenant: spool.DefaultTenant, ID: "r1", ThreadID: "t", ParentID: "r0", CallID: "c0", RootID: "r", Depth: 2,
		Agent: "agent", Model: "model", State: spool.Running, StopReason: spool.StopTimeout, Error: "it “broke”", StartedBy: "ann “of” sales",
		EnqueuedAt: at(1), StartedAt: at(2), EndedAt: at(3), MaxSteps: 4, Steps: 5, Attempts: 6,
		TokenCount: spool.TokenCount{InputTokens: 7, CachedInputTokens: 8, OutputTokens: 9, TotalTokens: 10},
		Prompt:     "look “there”", Result: &spool.NestedResult{Text: "nothing"},
		Segments:      11,
		QueuePosition: 15,

		CostMicros: 5, Currency: "EUR", Expired: spool.Expired{Questions: 2, Since: at(10)},
		Allowance: &spool.Allowance{
			Budget: spool.Budget{Tokens: 1, CostMicros: 2, Currency: "EUR", ToolCalls: 3, WallTime: time.Second},
			Spent:  spool.Spent{Tokens: 4, CostMicros: 5, ToolCalls: 6, WallTime: time.Minute},
			Reservations: []spool.Reservation{
				{AgentID: "c", Agent: "a", Kind: spool.UsageStep, Step: 1, Model: "m", Input: 2, Tokens: 3, CostMicros: 4},
			},
			Refused: 1, Cut: true, Unreported: "m", Since: at(8), Parks: 2,
		},
	}, RunState: spool.RunState{
		WallTime: time.Hour, WorkerSince: at(9), Isolated: true, IsolatedDeaths: 4,
		Children: 17, Deaths: 12, Saved: spool.Offset{Fence: 13, N: 14}, StopAt: at(4),
		Draft: &spool.Draft{
			Message: spool.Message{
				ID: "m", ThreadID: "t", AgentID: "r1", Role: spool.RoleAssistant, CreatedAt: at(5), RunID: "r1", ClientMessageID: "own",
				Content: spool.Content{{
					Type: spool.PartToolCall, ToolCallID: "c", ToolName: "tool",
					Args: json.RawMessage(`{"a":[1,"<&>"]}`), Provider: signature,
				}},
			},
			Usage: spool.TokenCount{InputTokens: 1, CachedInputTokens: 1, OutputTokens: 2, TotalTokens: 3},
		},
		Resume: &spool.ResumableAnswer{
			Model: "m", Requested: "m-1", Step: 3, Request: "digest", Data: signature, Prompt: 7, Room: 8,
			Cost: &spool.Cost{Micros: 5, Currency: "EUR", Source: "table", Version: "2"},
		},
		Handovers: []spool.Handover{{Step: 2, From: "desk", To: "billing"}}, Held: true, Cleared: "m0",
		Fallback: &spool.RunFallback{Model: "spare", Attempts: 1, Failed: []spool.ModelFailure{{Model: "model", Error: "no “answer”", Final: true}}},
		Paused:   true, Revision: "rev_1", Steered: true, Continues: "r0", ToolLists: []spool.PinnedTools{{Source: "shop", List: "tools_1"}},
		Described: []string{"shop__pay", "list_orders"},
		Output: &spool.RunOutput{
			Schema:  &spool.OutputSchema{Name: "report", Description: "A “report”", Schema: json.RawMessage(`{"type":"object"}`)},
			Problem: "no <value>", Rejected: "m4", RejectedStep: 2, Value: json.RawMessage(`{"a":1.0}`),
		},
		StartKey: "key", StartHash: "hash", SettledAt: at(6), SettleClaim: at(7),
		Ending: &spool.Ending{State: spool.Failed, Reason: spool.StopFailed, Error: "why", Closed: true},
		Wait: &spool.Wait{
			WhenBusy: spool.BusyRollback, Position: 16, ClientMessageID: "mine", EditMessageID: "m1", RollbackMessageID: "m2",
			Steers: "r2", Delivered: &spool.Delivered{RunID: "r2", MessageID: "m5"},
			Content: spool.Content{{Type: spool.PartText, Text: "and “this”"}, {Type: spool.PartImage, Image: "data:,x", MIMEType: "image/png"}},
		},
		HostState: json.RawMessage(`{"account":["a",1]}`), Nonce: "n0nce",
		ProviderOptions: json.RawMessage(`{"seed":7}`),
		Scopes:          []string{"write", "team:sales"},
		Client: &spool.ClientInput{
			Tools:   []spool.ClientTool{{Name: "show", Description: "Shows “it”", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "plain"}},
			Context: []spool.ClientContext{{Description: "The page", Value: "<&>"}},
		},
		Context: &spool.ContextCount{Tokens: 17, Answer: 18, Bytes: 19, Images: 20, Messages: 21, LastMessageID: "m3"},
	}}
}

func testStoreRunRoundTrip(s *storeTest) {
	want := fullRun(s)
	s.full(want, ".CreatedAt", ".Draft.Message.AfterSeq") // the store sets the first one, and the second one has no JSON
	plain := spool.RunRow{Run: spool.Run{Tenant: want.Tenant, ID: "r2", ThreadID: "t", State: spool.Completed}}
	s.write(thread("t"), func(tx spool.Tx) error {
		return tx.Write(spool.Changes{Thread: &spool.Thread{State: spool.Idle}, NewRuns: []spool.RunRow{want, plain}})
	})
	want.CreatedAt, plain.CreatedAt = s.clock.Now(), s.clock.Now()
	s.read(thread("t"), func(v spool.View) error {
		got, err := spool.FindRun(v, "r1")
		s.same("run", got, want)
		for _, data := range []json.RawMessage{got.Draft.Message.Content[0].Provider, got.Resume.Data} {
			if string(data) != string(signature) {
				s.Errorf("provider data %s became %s", signature, data)
			}
		}
		return err
	})
	s.same("runs", s.all(thread("t"), "").Runs, []spool.RunRow{plain, want})
}

func testStoreRunReplaced(s *storeTest) {
	full := fullRun(s)
	s.write(thread("t"), func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread:  &spool.Thread{State: spool.Idle},
			NewRuns: []spool.RunRow{{Run: spool.Run{ID: "r1", State: spool.Queued}}},
			Runs:    []spool.RunRow{full},
		})
	})
	full.CreatedAt = s.clock.Now()
	s.same("run with everything", s.all(thread("t"), "").Runs, []spool.RunRow{full})

	none := spool.RunRow{Run: spool.Run{CreatedAt: full.CreatedAt, Tenant: full.Tenant, ID: full.ID, ThreadID: full.ThreadID, State: spool.Completed}}
	s.write(thread("t"), func(tx spool.Tx) error { return tx.Write(spool.Changes{Runs: []spool.RunRow{none}}) })
	s.same("run with nothing", s.all(thread("t"), "").Runs, []spool.RunRow{none})
	s.same("runs of the key that was taken away", len(s.started(full.Tenant, full.StartKey)), 0)
	s.refuses("an unknown run", thread("t"), errNotFound, spool.Changes{
		Runs: []spool.RunRow{{Run: spool.Run{ID: "r2", State: spool.Queued}}},
	})
}

func testStoreRunOfOtherThread(s *storeTest) {
	s.queued(thread("a"), "r")
	before := s.all(thread("a"), "r")
	s.queued(thread("b"), "r-b")
	s.read(thread("b"), func(v spool.View) error {
		_, err := spool.FindRun(v, "r")
		s.fails("FindRun", err, spool.NotFound)
		return nil
	})
	s.refuses("a change of the run", thread("b"), errNotFound, spool.Changes{
		Runs: []spool.RunRow{{Run: spool.Run{ID: "r", State: spool.Failed}}},
	})
	s.same("the other thread", s.all(thread("a"), "r"), before)
}

func testStoreRunsNewestFirst(s *storeTest) {
	// Neither the ids nor the times have the order in which the runs were started.
	s.write(thread("t"), func(tx spool.Tx) error {
		errs := []error{tx.Write(spool.Changes{Thread: &spool.Thread{State: spool.Idle}})}
		for i, id := range []spool.RunID{"b", "c", "a"} {
			errs = append(errs, tx.Write(spool.Changes{NewRuns: []spool.RunRow{{
				Run: spool.Run{ID: id, State: spool.Completed, StartedAt: tx.Now().Add(time.Duration(i%2) * time.Hour)},
			}}}))
		}
		return errors.Join(errs...)
	})
	for limit, want := range []string{"acb", "a", "ac", "acb", "acb"} {
		s.read(thread("t"), func(v spool.View) error {
			runs, err := v.Runs(spool.RunQuery{Limit: limit})
			s.same("runs", compare.Joined(runs, runID), want)
			return err
		})
	}
}

func testStoreRunIDUsed(s *storeTest) {
	s.queued(thread("a"), "r")
	for _, key := range []spool.ThreadKey{thread("a"), thread("b")} {
		for _, state := range []spool.State{spool.Completed, spool.Queued} { // the id is checked first
			s.refuses("a used id", key, spool.ErrRunIDUsed, spool.Changes{
				Thread: &spool.Thread{State: spool.Idle}, NewRuns: []spool.RunRow{{Run: spool.Run{ID: "r", State: state}}},
			})
		}
	}
	key := spool.ThreadKey{Tenant: "other", ID: "a"}
	s.queued(key, "r")
	s.same("runs of another tenant", len(s.all(key, "r").Runs), 1)
	s.same("runs of thread b", len(s.all(thread("b"), "r").Runs), 0)
}

func testStoreOneActiveRun(s *storeTest) {
	for _, state := range spool.States()[1:] {
		key := thread(spool.ThreadID("t-" + state))
		first := spool.RunRow{Run: spool.Run{ID: spool.RunID("first-" + state), State: state}}
		next := spool.RunRow{Run: spool.Run{ID: spool.RunID("next-" + state), State: spool.Queued}}
		s.write(key, func(tx spool.Tx) error {
			return tx.Write(spool.Changes{Thread: &spool.Thread{State: state}, NewRuns: []spool.RunRow{first}})
		})
		// Nested and ended runs are not counted.
		nested := spool.RunRow{Run: spool.Run{ID: "nested-" + next.ID, Depth: 1, ParentID: first.ID, State: spool.Running}}
		ended := spool.RunRow{Run: spool.Run{ID: "ended-" + next.ID, State: spool.Completed}}
		s.write(key, func(tx spool.Tx) error { return tx.Write(spool.Changes{NewRuns: []spool.RunRow{nested, ended}}) })
		if !state.Active() {
			s.write(key, func(tx spool.Tx) error { return tx.Write(spool.Changes{NewRuns: []spool.RunRow{next}}) })
			continue
		}
		s.refuses("a second active run", key, spool.ErrActiveRun, spool.Changes{NewRuns: []spool.RunRow{next}})
		ended.State = spool.Queued
		s.refuses("a run that becomes active", key, spool.ErrActiveRun, spool.Changes{Runs: []spool.RunRow{ended}})
		s.write(key, func(tx spool.Tx) error {
			first.State = spool.Cancelled
			return errors.Join(
				tx.Write(spool.Changes{Runs: []spool.RunRow{first}}),
				tx.Write(spool.Changes{NewRuns: []spool.RunRow{next}}),
			)
		})
	}
}

func testStoreStartKeys(s *storeTest) {
	key := thread("t")
	s.queued(key, "r-without")
	s.same("runs of an unknown key", len(s.started(key.Tenant, "key")), 0)

	want := fullRun(s)
	s.write(key, func(tx spool.Tx) error { return tx.Write(spool.Changes{NewRuns: []spool.RunRow{want}}) })
	want.CreatedAt = s.clock.Now()
	s.same("run", s.started(key.Tenant, want.StartKey), []spool.RunRow{want})
	s.same("runs of another tenant", len(s.started("other", want.StartKey)), 0)
}

func testStoreStartKeyUsed(s *storeTest) {
	start := func(run spool.RunID) spool.Changes {
		return spool.Changes{Thread: &spool.Thread{State: spool.Idle}, NewRuns: []spool.RunRow{{
			Run: spool.Run{ID: run, State: spool.Completed}, RunState: spool.RunState{StartKey: "key"},
		}}}
	}
	for _, key := range []spool.ThreadKey{thread("a"), {Tenant: "other", ID: "a"}} {
		s.write(key, func(tx spool.Tx) error { return tx.Write(start("r1")) })
	}
	s.refuses("the second of the thread", thread("a"), spool.ErrStartKeyUsed, start("r2"))
	s.refuses("the second of another thread", thread("b"), spool.ErrStartKeyUsed, start("r3"))
	s.write(thread("b"), func(tx spool.Tx) error {
		c := start("r4")
		c.NewRuns[0].StartKey = "another"
		return tx.Write(c)
	})
	s.refuses("a run that takes the key", thread("b"), spool.ErrStartKeyUsed, spool.Changes{Runs: start("r4").NewRuns})
	s.same("runs of the key", each(s.started(spool.DefaultTenant, "key"), runID), []spool.RunID{"r1"})
}

func testStoreNestedRuns(s *storeTest) {
	key := thread("t")
	nested := func(id, parent, root spool.RunID, state spool.State) spool.RunRow {
		return spool.RunRow{
			Run: spool.Run{Tenant: key.Tenant, ID: id, ThreadID: key.ID, ParentID: parent, RootID: root, Depth: 1, State: state, CreatedAt: s.clock.Now()},
		}
	}
	// Later runs have lower ids, so the order cannot come from the ids.
	first, second := nested("z", "r1", "r1", spool.Running), nested("y", "z", "r1", spool.Failed)
	foreign := nested("x", "r2", "r2", spool.Running)
	s.write(key, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread: &spool.Thread{State: spool.Running},
			NewRuns: []spool.RunRow{{
				Run: spool.Run{ID: "r2", State: spool.Completed},
			}, {Run: spool.Run{ID: "r1", State: spool.Running}}, first, foreign, second},
		})
	})
	second.State, second.Result = spool.Completed, &spool.NestedResult{}
	s.write(key, func(tx spool.Tx) error { return tx.Write(spool.Changes{Runs: []spool.RunRow{second}}) })
	of := func(key spool.ThreadKey, root spool.RunID) (runs []spool.RunRow) {
		s.read(key, func(v spool.View) (err error) {
			runs, err = v.Runs(spool.RunQuery{RootID: root, Whole: true})
			return err
		})
		return runs
	}
	s.same("nested runs", of(key, "r1"), []spool.RunRow{first, second})
	s.same("nested runs of the other", of(key, "r2"), []spool.RunRow{foreign})
	s.same("nested runs of a nested run", of(key, "z"), []spool.RunRow{})
	s.same("nested runs of another thread", of(thread("t2"), "r1"), []spool.RunRow{})
}

// testStoreViewRuns selects runs of one thread.
func testStoreViewRuns(s *storeTest) {
	key := thread("t")
	row := func(id, root spool.RunID, place int64) spool.RunRow {
		return spool.RunRow{
			Run: spool.Run{
				Tenant: key.Tenant, ThreadID: key.ID, ID: id, RootID: root, Depth: len(root), State: spool.Completed,
				QueuePosition: place, CreatedAt: s.clock.Now(),
			},
			RunState: spool.RunState{Nonce: "of " + string(id)},
		}
	}
	all := []spool.RunRow{row("c", "", 0), row("b", "c", 0), row("e", "", 9), row("a", "c", 0), row("d", "", 4)}
	s.write(key, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{Thread: &spool.Thread{State: spool.Idle}, NewRuns: all})
	})
	s.queued(thread("other"), "x")
	for name, c := range map[string]struct {
		q    spool.RunQuery
		want string
	}{
		"all":                     {spool.RunQuery{}, "daebc"},
		"two":                     {spool.RunQuery{Limit: 2}, "da"},
		"one by its id":           {spool.RunQuery{ID: "b"}, "b"},
		"another thread's":        {spool.RunQuery{ID: "x"}, ""},
		"of a root":               {spool.RunQuery{RootID: "c"}, "ba"},
		"the first of a root":     {spool.RunQuery{RootID: "c", Limit: 1}, "b"},
		"of a root that has none": {spool.RunQuery{RootID: "e"}, ""},
		"that wait":               {spool.RunQuery{Waiting: true}, "de"},
		"the next that waits":     {spool.RunQuery{Waiting: true, Limit: 1}, "d"},
		"what does not apply":     {spool.RunQuery{Tenant: "other", ThreadID: "other", State: spool.Failed, Agent: "x"}, "daebc"},
	} {
		for _, c.q.Whole = range []bool{false, true} {
			s.read(key, func(v spool.View) error {
				runs, err := v.Runs(c.q)
				s.same(name, compare.Joined(runs, runID), c.want)
				for _, r := range runs {
					if want := "of " + string(r.ID); (r.Nonce == want) != c.q.Whole {
						s.Errorf("%s: run %s has the state %q, whole: %v", name, r.ID, r.Nonce, c.q.Whole)
					}
				}
				return err
			})
		}
	}
	s.same("of a root, in the store", s.runs(key.Tenant, spool.RunQuery{RootID: "c"}), "ba")
	s.same("that wait, in the store", s.runs(key.Tenant, spool.RunQuery{Waiting: true}), "ed")
	s.read(key, func(v spool.View) error {
		_, err := spool.FindRun(v, "")
		s.fails("FindRun without an id", err, spool.NotFound)
		return nil
	})
}

package spooltest

import (
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func fullRun(s *storeTest) store.RunRow {
	at := func(minutes int) time.Time { return s.clock.Now().Add(time.Duration(minutes) * time.Minute) }
	return store.RunRow{Run: wire.Run{
		Tenant: spool.DefaultTenant, ID: "r1", ThreadID: "t", ParentID: "r0", CallID: "c0", RootID: "r", Depth: 2,
		Agent: "agent", Model: "model", State: wire.Running, StopReason: wire.StopTimeout, Error: "it “broke”",
		StartedBy: "ann “of” sales", EnqueuedAt: at(1), StartedAt: at(2), EndedAt: at(3), MaxSteps: 4, Steps: 5,
		Attempts:   6,
		TokenCount: spool.TokenCount{InputTokens: 7, CachedInputTokens: 8, OutputTokens: 9, TotalTokens: 10},
		Prompt:     "look “there”", Result: &wire.NestedResult{Text: "nothing"},
		Segments:      11,
		QueuePosition: 15,

		CostMicros: 5, Currency: "EUR", Expired: wire.Expired{Questions: 2, Since: at(10)},
		Allowance: &wire.Allowance{
			Budget: spool.Budget{Tokens: 1, CostMicros: 2, Currency: "EUR", ToolCalls: 3, WallTime: time.Second},
			Spent:  wire.Spent{Tokens: 4, CostMicros: 5, ToolCalls: 6, WallTime: time.Minute},
			Reservations: []wire.Reservation{
				{AgentID: "c", Agent: "a", Kind: spool.UsageStep, Step: 1, Model: "m", Input: 2, Tokens: 3, CostMicros: 4},
			},
			Refused: 1, Cut: true, Unreported: "m", Since: at(8), Parks: 2,
		},
	}, RunState: store.RunState{
		WallTime: time.Hour, WorkerSince: at(9), Isolated: true, IsolatedDeaths: 4,
		Children: 17, Deaths: 12, Saved: wire.Offset{Fence: 13, N: 14}, StopAt: at(4),
		Draft: &store.Draft{
			Message: spool.Message{
				ID: "m", ThreadID: "t", AgentID: "r1", Role: spool.RoleAssistant, CreatedAt: at(5), RunID: "r1",
				ClientMessageID: "own",
				Content: spool.Content{{
					Type: spool.PartToolCall, ToolCallID: "c", ToolName: "tool",
					Args: json.RawMessage(`{"a":[1,"<&>"]}`), Provider: signature,
				}},
			},
			Usage: spool.TokenCount{InputTokens: 1, CachedInputTokens: 1, OutputTokens: 2, TotalTokens: 3},
		},
		Resume: &store.ResumableAnswer{
			Model: "m", Requested: "m-1", Step: 3, Request: "digest", Data: signature, Prompt: 7, Room: 8,
			Cost: &spool.Cost{Micros: 5, Currency: "EUR", Source: "table", Version: "2"},
		},
		Handovers: []store.Handover{{Step: 2, From: "desk", To: "billing"}}, Held: true, Cleared: "m0",
		Fallback: &store.RunFallback{
			Model: "spare", Attempts: 1, Failed: []store.ModelFailure{{Model: "model", Error: "no “answer”", Final: true}},
		},
		Paused: true, Revision: "rev_1", Steered: true, Continues: "r0",
		ToolLists: []store.PinnedTools{{Source: "shop", List: "tools_1"}},
		Described: []string{"shop__pay", "list_orders"},
		Output: &store.RunOutput{
			Schema: &spool.OutputSchema{
				Name: "report", Description: "A “report”", Schema: json.RawMessage(`{"type":"object"}`),
			},
			Problem: "no <value>", Rejected: "m4", RejectedStep: 2, Value: json.RawMessage(`{"a":1.0}`),
		},
		Options: &wire.StartOptions{
			Agent: "asked", ProviderOptions: json.RawMessage(`{"a":[1]}`), Webhook: "https://hooks.example.com/?a=1&b=<2>",
		},
		StartKey: "key", StartHash: "hash", SettledAt: at(6), SettleClaim: at(7),
		Ending: &store.Ending{State: wire.Failed, Reason: wire.StopFailed, Error: "why", Closed: true},
		Wait: &store.Wait{
			WhenBusy: spool.BusyRollback, Position: 16, ClientMessageID: "mine", EditMessageID: "m1", RollbackMessageID: "m2",
			Steers: "r2", Delivered: &wire.Delivered{RunID: "r2", MessageID: "m5"},
			Content: spool.Content{
				{Type: spool.PartText, Text: "and “this”"},
				{Type: spool.PartImage, Image: "data:,x", MIMEType: "image/png"},
			},
		},
		HostState: json.RawMessage(`{"account":["a",1]}`), Nonce: "n0nce",
		ProviderOptions: json.RawMessage(`{"seed":7}`),
		Scopes:          []string{"write", "team:sales"},
		Client: &wire.ClientInput{
			Tools: []wire.ClientTool{
				{Name: "show", Description: "Shows “it”", Parameters: json.RawMessage(`{"type":"object"}`)},
				{Name: "plain"},
			},
			Context: []wire.ClientContext{{Description: "The page", Value: "<&>"}},
		},
		Context: &store.ContextCount{Tokens: 17, Answer: 18, Bytes: 19, Images: 20, Messages: 21, LastMessageID: "m3"},
	}}
}

func testStoreRunRoundTrip(s *storeTest) {
	want := fullRun(s)
	// The store sets the first one, and the second one has no JSON. The options are one JSON value: a store keeps all or
	// none.
	s.full(want, append(emptyFields(reflect.ValueOf(want.Options), ".Options"), ".CreatedAt",
		".Draft.Message.AfterSeq")...)
	plain := store.RunRow{Run: wire.Run{Tenant: want.Tenant, ID: "r2", ThreadID: "t", State: wire.Completed}}
	s.write(thread("t"), func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}, NewRuns: []store.RunRow{want, plain}})
	})
	want.CreatedAt, plain.CreatedAt = s.clock.Now(), s.clock.Now()
	s.read(thread("t"), func(v store.View) error {
		got, err := store.FindRun(v, "r1")
		s.same("run", got, want)
		for _, data := range []json.RawMessage{got.Draft.Message.Content[0].Provider, got.Resume.Data} {
			if string(data) != string(signature) {
				s.Errorf("provider data %s became %s", signature, data)
			}
		}
		return err
	})
	s.same("runs", s.all(thread("t"), "").Runs, []store.RunRow{plain, want})
}

func testStoreRunReplaced(s *storeTest) {
	full := fullRun(s)
	s.write(thread("t"), func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread:  &wire.Thread{State: wire.Idle},
			NewRuns: []store.RunRow{{Run: wire.Run{ID: "r1", State: wire.Queued}}},
			Runs:    []store.RunRow{full},
		})
	})
	full.CreatedAt = s.clock.Now()
	s.same("run with everything", s.all(thread("t"), "").Runs, []store.RunRow{full})

	none := store.RunRow{
		Run: wire.Run{
			CreatedAt: full.CreatedAt, Tenant: full.Tenant, ID: full.ID, ThreadID: full.ThreadID, State: wire.Completed,
		},
	}
	s.write(thread("t"), func(tx store.Tx) error { return tx.Write(store.Changes{Runs: []store.RunRow{none}}) })
	s.same("run with nothing", s.all(thread("t"), "").Runs, []store.RunRow{none})
	s.same("runs of the key that was taken away", len(s.started(full.Tenant, full.StartKey)), 0)
	s.refuses("an unknown run", thread("t"), errNotFound, store.Changes{
		Runs: []store.RunRow{{Run: wire.Run{ID: "r2", State: wire.Queued}}},
	})
}

func testStoreRunOfOtherThread(s *storeTest) {
	s.queued(thread("a"), "r")
	before := s.all(thread("a"), "r")
	s.queued(thread("b"), "r-b")
	s.read(thread("b"), func(v store.View) error {
		_, err := store.FindRun(v, "r")
		s.fails("FindRun", err, spool.NotFound)
		return nil
	})
	s.refuses("a change of the run", thread("b"), errNotFound, store.Changes{
		Runs: []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Failed}}},
	})
	s.same("the other thread", s.all(thread("a"), "r"), before)
}

func testStoreRunsNewestFirst(s *storeTest) {
	// Neither the ids nor the times have the order in which the runs were started.
	s.write(thread("t"), func(tx store.Tx) error {
		errs := []error{tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})}
		for i, id := range []spool.RunID{"b", "c", "a"} {
			errs = append(errs, tx.Write(store.Changes{NewRuns: []store.RunRow{{
				Run: wire.Run{ID: id, State: wire.Completed, StartedAt: tx.Now().Add(time.Duration(i%2) * time.Hour)},
			}}}))
		}
		return errors.Join(errs...)
	})
	for limit, want := range []string{"acb", "a", "ac", "acb", "acb"} {
		s.read(thread("t"), func(v store.View) error {
			runs, err := v.Runs(wire.RunQuery{Limit: limit})
			s.same("runs", compare.Joined(runs, runID), want)
			return err
		})
	}
}

func testStoreRunIDUsed(s *storeTest) {
	s.queued(thread("a"), "r")
	for _, key := range []spool.ThreadKey{thread("a"), thread("b")} {
		for _, state := range []wire.State{wire.Completed, wire.Queued} { // the id is checked first
			s.refuses("a used id", key, store.ErrRunIDUsed, store.Changes{
				Thread: &wire.Thread{State: wire.Idle}, NewRuns: []store.RunRow{{Run: wire.Run{ID: "r", State: state}}},
			})
		}
	}
	key := spool.ThreadKey{Tenant: "other", ID: "a"}
	s.queued(key, "r")
	s.same("runs of another tenant", len(s.all(key, "r").Runs), 1)
	s.same("runs of thread b", len(s.all(thread("b"), "r").Runs), 0)
}

func testStoreOneActiveRun(s *storeTest) {
	for _, state := range wire.States()[1:] {
		key := thread(spool.ThreadID("t-" + state))
		first := store.RunRow{Run: wire.Run{ID: spool.RunID("first-" + state), State: state}}
		next := store.RunRow{Run: wire.Run{ID: spool.RunID("next-" + state), State: wire.Queued}}
		s.write(key, func(tx store.Tx) error {
			return tx.Write(store.Changes{Thread: &wire.Thread{State: state}, NewRuns: []store.RunRow{first}})
		})
		// Nested and ended runs are not counted.
		nested := store.RunRow{Run: wire.Run{ID: "nested-" + next.ID, Depth: 1, ParentID: first.ID, State: wire.Running}}
		ended := store.RunRow{Run: wire.Run{ID: "ended-" + next.ID, State: wire.Completed}}
		s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{NewRuns: []store.RunRow{nested, ended}}) })
		if !state.Active() {
			s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{NewRuns: []store.RunRow{next}}) })
			continue
		}
		s.refuses("a second active run", key, store.ErrActiveRun, store.Changes{NewRuns: []store.RunRow{next}})
		ended.State = wire.Queued
		s.refuses("a run that becomes active", key, store.ErrActiveRun, store.Changes{Runs: []store.RunRow{ended}})
		s.write(key, func(tx store.Tx) error {
			first.State = wire.Cancelled
			return errors.Join(
				tx.Write(store.Changes{Runs: []store.RunRow{first}}),
				tx.Write(store.Changes{NewRuns: []store.RunRow{next}}),
			)
		})
	}
}

func testStoreStartKeys(s *storeTest) {
	key := thread("t")
	s.queued(key, "r-without")
	s.same("runs of an unknown key", len(s.started(key.Tenant, "key")), 0)

	want := fullRun(s)
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{NewRuns: []store.RunRow{want}}) })
	want.CreatedAt = s.clock.Now()
	s.same("run", s.started(key.Tenant, want.StartKey), []store.RunRow{want})
	s.same("runs of another tenant", len(s.started("other", want.StartKey)), 0)
}

func testStoreStartKeyUsed(s *storeTest) {
	start := func(run spool.RunID) store.Changes {
		return store.Changes{Thread: &wire.Thread{State: wire.Idle}, NewRuns: []store.RunRow{{
			Run: wire.Run{ID: run, State: wire.Completed}, RunState: store.RunState{StartKey: "key"},
		}}}
	}
	for _, key := range []spool.ThreadKey{thread("a"), {Tenant: "other", ID: "a"}} {
		s.write(key, func(tx store.Tx) error { return tx.Write(start("r1")) })
	}
	s.refuses("the second of the thread", thread("a"), store.ErrStartKeyUsed, start("r2"))
	s.refuses("the second of another thread", thread("b"), store.ErrStartKeyUsed, start("r3"))
	s.write(thread("b"), func(tx store.Tx) error {
		c := start("r4")
		c.NewRuns[0].StartKey = "another"
		return tx.Write(c)
	})
	s.refuses("a run that takes the key", thread("b"), store.ErrStartKeyUsed, store.Changes{Runs: start("r4").NewRuns})
	s.same("runs of the key", each(s.started(spool.DefaultTenant, "key"), runID), []spool.RunID{"r1"})
}

func testStoreNestedRuns(s *storeTest) {
	key := thread("t")
	nested := func(id, parent, root spool.RunID, state wire.State) store.RunRow {
		return store.RunRow{
			Run: wire.Run{
				Tenant: key.Tenant, ID: id, ThreadID: key.ID, ParentID: parent, RootID: root, Depth: 1, State: state,
				CreatedAt: s.clock.Now(),
			},
		}
	}
	// Later runs have lower ids, so the order cannot come from the ids.
	first, second := nested("z", "r1", "r1", wire.Running), nested("y", "z", "r1", wire.Failed)
	foreign := nested("x", "r2", "r2", wire.Running)
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread: &wire.Thread{State: wire.Running},
			NewRuns: []store.RunRow{{
				Run: wire.Run{ID: "r2", State: wire.Completed},
			}, {Run: wire.Run{ID: "r1", State: wire.Running}}, first, foreign, second},
		})
	})
	second.State, second.Result = wire.Completed, &wire.NestedResult{}
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Runs: []store.RunRow{second}}) })
	of := func(key spool.ThreadKey, root spool.RunID) (runs []store.RunRow) {
		s.read(key, func(v store.View) (err error) {
			runs, err = v.Runs(wire.RunQuery{RootID: root, Whole: true})
			return err
		})
		return runs
	}
	s.same("nested runs", of(key, "r1"), []store.RunRow{first, second})
	s.same("nested runs of the other", of(key, "r2"), []store.RunRow{foreign})
	s.same("nested runs of a nested run", of(key, "z"), []store.RunRow{})
	s.same("nested runs of another thread", of(thread("t2"), "r1"), []store.RunRow{})
}

// testStoreViewRuns selects runs of one thread.
func testStoreViewRuns(s *storeTest) {
	key := thread("t")
	row := func(id, root spool.RunID, place int64) store.RunRow {
		return store.RunRow{
			Run: wire.Run{
				Tenant: key.Tenant, ThreadID: key.ID, ID: id, RootID: root, Depth: len(root), State: wire.Completed,
				QueuePosition: place, CreatedAt: s.clock.Now(),
			},
			RunState: store.RunState{Nonce: "of " + string(id)},
		}
	}
	all := []store.RunRow{row("c", "", 0), row("b", "c", 0), row("e", "", 9), row("a", "c", 0), row("d", "", 4)}
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}, NewRuns: all})
	})
	s.queued(thread("other"), "x")
	for name, c := range map[string]struct {
		q    wire.RunQuery
		want string
	}{
		"all":                     {wire.RunQuery{}, "daebc"},
		"two":                     {wire.RunQuery{Limit: 2}, "da"},
		"one by its id":           {wire.RunQuery{ID: "b"}, "b"},
		"another thread's":        {wire.RunQuery{ID: "x"}, ""},
		"of a root":               {wire.RunQuery{RootID: "c"}, "ba"},
		"the first of a root":     {wire.RunQuery{RootID: "c", Limit: 1}, "b"},
		"of a root that has none": {wire.RunQuery{RootID: "e"}, ""},
		"that wait":               {wire.RunQuery{Waiting: true}, "de"},
		"the next that waits":     {wire.RunQuery{Waiting: true, Limit: 1}, "d"},
		"what does not apply": {
			wire.RunQuery{Tenant: "other", ThreadID: "other", State: wire.Failed, Agent: "x"}, "daebc",
		},
	} {
		for _, c.q.Whole = range []bool{false, true} {
			s.read(key, func(v store.View) error {
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
	s.same("of a root, in the store", s.runs(key.Tenant, wire.RunQuery{RootID: "c"}), "ba")
	s.same("that wait, in the store", s.runs(key.Tenant, wire.RunQuery{Waiting: true}), "ed")
	s.read(key, func(v store.View) error {
		_, err := store.FindRun(v, "")
		s.fails("FindRun without an id", err, spool.NotFound)
		return nil
	})
}

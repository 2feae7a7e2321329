package spooltest

import (
	"context"
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

		CostMicros: 5, Currency: "EUR",
		Allowance: &spool.Allowance{
			Budget: spool.Budget{Tokens: 1, CostMicros: 2, Currency: "EUR", ToolCalls: 3, WallTime: time.Second},
			Spent:  spool.Spent{Tokens: 4, CostMicros: 5, ToolCalls: 6, WallTime: time.Minute},
			Reservations: []spool.Reservation{
				{AgentID: "c", Agent: "a", Kind: spool.UsageStep, Step: 1, Model: "m", Input: 2, Tokens: 3, CostMicros: 4},
			},
			Refused: 1, Since: at(8), Parks: 2,
		},
	}, RunState: spool.RunState{
		WallTime: time.Hour, WorkerSince: at(9), Isolated: true, IsolatedDeaths: 4,
		Children: 17, Deaths: 12, Saved: spool.Offset{Fence: 13, N: 14}, StopAt: at(4),
		Draft: &spool.Draft{
			Message: spool.Message{
				ID: "m", ThreadID: "t", AgentID: "r1", Role: spool.RoleAssistant, CreatedAt: at(5), RunID: "r1",
				Content: spool.Content{{
					Type: spool.PartToolCall, ToolCallID: "c", ToolName: "tool",
					Args: json.RawMessage(`{"a":[1,"<&>"]}`), Provider: json.RawMessage(`{"signature":"x"}`),
				}},
			},
			Usage: spool.TokenCount{InputTokens: 1, OutputTokens: 2, TotalTokens: 3},
		},
		StartKey: "key", SettledAt: at(6), SettleClaim: at(7),
		Ending: &spool.Ending{State: spool.Failed, Reason: spool.StopFailed, Error: "why"},
		Wait: &spool.Wait{
			WhenBusy: spool.BusyRollback, Position: 16, ClientMessageID: "mine", EditMessageID: "m1", RollbackMessageID: "m2",
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
	plain := spool.RunRow{Run: spool.Run{Tenant: want.Tenant, ID: "r2", ThreadID: "t", State: spool.Completed}}
	s.write(thread("t"), func(tx spool.Tx) error {
		return errors.Join(tx.PutThread(spool.Thread{State: spool.Idle}), tx.InsertRun(want), tx.InsertRun(plain))
	})
	want.CreatedAt, plain.CreatedAt = s.clock.Now(), s.clock.Now()
	s.read(thread("t"), func(v spool.View) error {
		got, err := v.Run("r1")
		s.same("run", got, want)
		return err
	})
	s.same("runs", s.all(thread("t"), "").Runs, []spool.RunRow{plain, want})
}

func testStoreRunReplaced(s *storeTest) {
	full := fullRun(s)
	s.write(thread("t"), func(tx spool.Tx) error {
		return errors.Join(
			tx.PutThread(spool.Thread{State: spool.Idle}),
			tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "r1", State: spool.Queued}}),
			tx.UpdateRun(full),
		)
	})
	full.CreatedAt = s.clock.Now()
	s.same("run with everything", s.all(thread("t"), "").Runs, []spool.RunRow{full})

	none := spool.RunRow{Run: spool.Run{CreatedAt: full.CreatedAt, Tenant: full.Tenant, ID: full.ID, ThreadID: full.ThreadID, State: spool.Completed}}
	s.write(thread("t"), func(tx spool.Tx) error { return tx.UpdateRun(none) })
	s.same("run with nothing", s.all(thread("t"), "").Runs, []spool.RunRow{none})
	_, err := s.Store.FindStart(context.Background(), full.Tenant, full.StartKey)
	s.fails("FindStart by the key that was taken away", err, spool.NotFound)

	s.write(thread("t"), func(tx spool.Tx) error {
		s.fails("UpdateRun of an unknown run", tx.UpdateRun(spool.RunRow{Run: spool.Run{ID: "r2", State: spool.Queued}}), spool.NotFound)
		return nil
	})
}

func testStoreRunOfOtherThread(s *storeTest) {
	s.queued(thread("a"), "r")
	before := s.all(thread("a"), "r")
	s.queued(thread("b"), "r-b")
	s.write(thread("b"), func(tx spool.Tx) error {
		_, err := tx.Run("r")
		s.fails("Run", err, spool.NotFound)
		s.fails("UpdateRun", tx.UpdateRun(spool.RunRow{Run: spool.Run{ID: "r", State: spool.Failed}}), spool.NotFound)
		return nil
	})
	s.same("the other thread", s.all(thread("a"), "r"), before)
}

func testStoreRunsNewestFirst(s *storeTest) {
	// Neither the ids nor the times have the order in which the runs were started.
	s.write(thread("t"), func(tx spool.Tx) error {
		errs := []error{tx.PutThread(spool.Thread{State: spool.Idle})}
		for i, id := range []spool.RunID{"b", "c", "a"} {
			errs = append(errs, tx.InsertRun(spool.RunRow{
				Run: spool.Run{ID: id, State: spool.Completed, StartedAt: tx.Now().Add(time.Duration(i%2) * time.Hour)},
			}))
		}
		return errors.Join(errs...)
	})
	for limit, want := range []string{"acb", "a", "ac", "acb", "acb"} {
		s.read(thread("t"), func(v spool.View) error {
			runs, err := v.Runs(limit)
			s.same("runs", compare.Joined(runs, func(r spool.Run) spool.RunID { return r.ID }), want)
			return err
		})
	}
}

func testStoreRunIDUsed(s *storeTest) {
	s.queued(thread("a"), "r")
	for _, key := range []spool.ThreadKey{thread("a"), thread("b")} {
		s.write(key, func(tx spool.Tx) error {
			return errors.Join(
				tx.PutThread(spool.Thread{State: spool.Idle}),
				s.refused(tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "r", State: spool.Completed}}), spool.ErrRunIDUsed),
				// The id is checked first.
				s.refused(tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "r", State: spool.Queued}}), spool.ErrRunIDUsed),
			)
		})
	}
	key := spool.ThreadKey{Tenant: "other", ID: "a"}
	s.queued(key, "r")
	s.same("runs of another tenant", len(s.all(key, "r").Runs), 1)
	s.same("runs of thread b", len(s.all(thread("b"), "r").Runs), 0)
}

// refused returns nil if err is the wanted error.
func (s *storeTest) refused(err error, want *spool.Error) error {
	s.Helper()
	s.is("InsertRun", err, want)
	return nil
}

func testStoreOneActiveRun(s *storeTest) {
	for _, state := range spool.States()[1:] {
		key := thread(spool.ThreadID("t-" + state))
		first := spool.RunRow{Run: spool.Run{ID: spool.RunID("first-" + state), State: state}}
		next := spool.RunRow{Run: spool.Run{ID: spool.RunID("next-" + state), State: spool.Queued}}
		s.write(key, func(tx spool.Tx) error {
			return errors.Join(tx.PutThread(spool.Thread{State: state}), tx.InsertRun(first))
		})
		s.write(key, func(tx spool.Tx) error {
			// Nested and ended runs are not counted.
			nested := spool.RunRow{Run: spool.Run{ID: "nested-" + next.ID, Depth: 1, ParentID: first.ID, State: spool.Running}}
			ended := spool.RunRow{Run: spool.Run{ID: "ended-" + next.ID, State: spool.Completed}}
			if err := errors.Join(tx.InsertRun(nested), tx.InsertRun(ended)); err != nil || !state.Active() {
				return errors.Join(err, tx.InsertRun(next))
			}
			return s.refused(tx.InsertRun(next), spool.ErrActiveRun)
		})
		if !state.Active() {
			continue
		}
		s.write(key, func(tx spool.Tx) error {
			first.State = spool.Cancelled
			return errors.Join(tx.UpdateRun(first), tx.InsertRun(next))
		})
	}
}

func testStoreRefusedRunGoesOn(s *storeTest) {
	key := thread("t")
	s.queued(key, "r")
	s.write(key, func(tx spool.Tx) error {
		return errors.Join(
			tx.AppendEntries(spool.NewEntry("BEFORE", "", nil)),
			s.refused(tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "r", State: spool.Queued}}), spool.ErrRunIDUsed),
			s.refused(tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "r2", State: spool.Queued}}), spool.ErrActiveRun),
			tx.AppendEntries(spool.NewEntry("AFTER", "", nil)),
		)
	})
	c := s.all(key, "")
	s.same("runs and entries", []int{len(c.Runs), len(c.Entries)}, []int{1, 2})
}

func testStoreFindStart(s *storeTest) {
	key := thread("t")
	s.queued(key, "r-without")
	_, err := s.Store.FindStart(context.Background(), key.Tenant, "key")
	s.fails("FindStart of an unknown key", err, spool.NotFound)
	_, err = s.Store.FindStart(context.Background(), key.Tenant, "")
	s.fails("FindStart of no key", err, spool.NotFound)

	want := fullRun(s)
	s.write(key, func(tx spool.Tx) error { return tx.InsertRun(want) })
	want.CreatedAt = s.clock.Now()
	got, err := s.Store.FindStart(context.Background(), key.Tenant, want.StartKey)
	if err != nil {
		s.Fatal(err)
	}
	s.same("run", got, want)
	_, err = s.Store.FindStart(context.Background(), "other", want.StartKey)
	s.fails("FindStart of another tenant", err, spool.NotFound)
}

func testStoreStartKeyUsed(s *storeTest) {
	insert := func(key spool.ThreadKey, run spool.RunID) (err error) {
		s.write(key, func(tx spool.Tx) error {
			if err := tx.PutThread(spool.Thread{State: spool.Idle}); err != nil {
				return err
			}
			err = tx.InsertRun(spool.RunRow{Run: spool.Run{ID: run, State: spool.Completed}, RunState: spool.RunState{StartKey: "key"}})
			return tx.AppendEntries(spool.NewEntry("AFTER", "", nil))
		})
		return err
	}
	s.fails("the first", insert(thread("a"), "r1"), "")
	s.fails("the second of the thread", insert(thread("a"), "r2"), spool.Conflict)
	s.fails("the second of another thread", insert(thread("b"), "r3"), spool.Conflict)
	s.fails("another tenant's", insert(spool.ThreadKey{Tenant: "other", ID: "a"}, "r1"), "")
	r, err := s.Store.FindStart(context.Background(), spool.DefaultTenant, "key")
	if err != nil || r.ID != "r1" {
		s.Errorf("FindStart: got %q and error %v, want r1", r.ID, err)
	}
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
		return errors.Join(tx.PutThread(spool.Thread{State: spool.Running}),
			tx.InsertRun(spool.RunRow{
				Run: spool.Run{ID: "r2", State: spool.Completed},
			}), tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "r1", State: spool.Running}}),
			tx.InsertRun(first), tx.InsertRun(foreign), tx.InsertRun(second))
	})
	second.State, second.Result = spool.Completed, &spool.NestedResult{}
	s.write(key, func(tx spool.Tx) error { return tx.UpdateRun(second) })
	of := func(key spool.ThreadKey, root spool.RunID) (runs []spool.RunRow) {
		s.read(key, func(v spool.View) (err error) {
			runs, err = v.Nested(root)
			return err
		})
		return runs
	}
	s.same("nested runs", of(key, "r1"), []spool.RunRow{first, second})
	s.same("nested runs of the other", of(key, "r2"), []spool.RunRow{foreign})
	s.same("nested runs of a nested run", of(key, "z"), []spool.RunRow{})
	s.same("nested runs of nobody", of(key, ""), []spool.RunRow{})
	s.same("nested runs of another thread", of(thread("t2"), "r1"), []spool.RunRow{})
}

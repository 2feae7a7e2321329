package enginetest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var keyTests = map[string]func(s *engineTest){
	"Tenants":  testKeyTenants,
	"Deletion": testKeyDeletion,
	"Nested":   testKeyNested,
	"Old":      testKeyOld,
}

// called returns the last call of the tool that took effect.
func (s *engineTest) called(tool string) spool.ToolCall {
	s.Helper()
	for _, call := range slices.Backward(s.history.Calls()) {
		if call.Name == tool {
			return call
		}
	}
	s.Fatalf("the tool %s was not called", tool)
	return spool.ToolCall{}
}

// testKeyTenants has two tenants that use the same ids for everything. Their calls have different
// idempotency keys, and each call names its tenant.
func testKeyTenants(s *engineTest) {
	e := s.working(
		s.config(spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}), spooltest.Say("done")),
			plain("look", "1")),
	)
	keys := make(map[string]bool)
	for _, tenant := range []spool.Tenant{"acme", "other"} {
		thread := spool.ThreadKey{Tenant: tenant, ID: "chat"}
		s.startAs(e, thread, wire.StartRequest{Prompt: "go", RunID: "r1", By: "ann of " + string(tenant)})
		s.until("the end", func() bool { return s.threadOf(thread).State.Terminal() })
		call := s.called("look")
		if call.Thread != thread || call.RunID != "r1" || call.Subject != "ann of "+string(tenant) || call.Agent != "a" {
			s.Errorf("the call is one of %s, run %s, agent %q, subject %q", call.Thread, call.RunID, call.Agent, call.Subject)
		}
		if !strings.HasPrefix(call.IdempotencyKey(), "r1/1/c1/") {
			s.Errorf("the key is %s", call.IdempotencyKey())
		}
		keys[call.IdempotencyKey()] = true
	}
	if len(keys) != 2 {
		s.Errorf("the keys are %v", keys)
	}
}

// testKeyDeletion deletes a thread and uses its ids again. The new call has a new key. Neither clients
// nor tools see the nonce that makes the difference.
func testKeyDeletion(s *engineTest) {
	e := s.working(
		s.config(spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}), spooltest.Say("done")),
			plain("look", "1")),
	)
	keys := make(map[string]bool)
	for range 2 {
		s.start(e, "r1", "go")
		s.ended(wire.Completed)
		call := s.called("look")
		keys[call.IdempotencyKey()] = true
		nonce := s.run("r1").Nonce
		snapshot, err := e.Snapshot(context.Background(), chat, nil)
		if err != nil {
			s.Fatal(err)
		}
		shown, err := json.Marshal(snapshot)
		if nonce == "" || err != nil || strings.Contains(string(shown), nonce) ||
			strings.Contains(call.IdempotencyKey(), nonce) {
			s.Errorf("the nonce %q is empty or told: %v", nonce, err)
		}
		if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
			s.Fatalf("delete: %+v, %v", r, err)
		}
		s.history.Starts = nil
	}
	if len(keys) != 2 {
		s.Errorf("the keys are %v", keys)
	}
}

// testKeyNested does the same with a nested run, whose id depends on the ids of its ancestors.
func testKeyNested(s *engineTest) {
	c := nestedTest{s}.treeConfig(mailing(), plain("look", `"seen"`), plain("send", `"sent"`))
	keys := make(map[string]bool)
	for range 2 {
		e := s.engine(c)
		stop := s.work(e)
		s.start(e, "r1", "go")
		s.ended(wire.Completed)
		call := s.called("send")
		if call.RunID == "r1" {
			s.Fatalf("the call is one of %s", call.RunID)
		}
		keys[call.IdempotencyKey()] = true
		if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
			s.Fatalf("delete: %+v, %v", r, err)
		}
		stop()
		s.history.Starts = nil
	}
	if len(keys) != 2 {
		s.Errorf("the keys are %v", keys)
	}
}

// testKeyOld executes a run that began before nonces existed: its calls keep the keys by which an
// endpoint may know them.
func testKeyOld(s *engineTest) {
	e := s.engine(
		s.config(spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}), spooltest.Say("done")),
			plain("look", "1")),
	)
	s.start(e, "r1", "go")
	err := s.backend.Store.Update(context.Background(), chat, 0, func(tx store.Tx) error {
		run, err := store.FindRun(tx, "r1")
		if err != nil {
			return err
		}
		run.Nonce = ""
		return tx.Write(store.Changes{Runs: []store.RunRow{run}})
	})
	if err != nil {
		s.Fatal(err)
	}
	s.work(e)
	s.ended(wire.Completed)
	if got := s.called("look").IdempotencyKey(); got != "r1/1/c1" {
		s.Errorf("the key is %s", got)
	}
}

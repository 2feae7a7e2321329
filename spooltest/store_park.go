package spooltest

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func testStoreParks(s *storeTest) {
	key, now := thread("t"), s.clock.Now()
	first := store.Park{
		RunID: "r", ToolCallID: "z", ToolName: "tool", Step: 3, Args: json.RawMessage(`{"a":1}`),
		Shown: json.RawMessage(`{"b":2}`), Schema: json.RawMessage(`{"type":"object"}`), Resume: json.RawMessage(`["state"]`),
		Reason: wire.ParkApproval, State: wire.ParkAnswered,
		Answer: &spool.Answer{
			Approved: true, Payload: json.RawMessage(`[1]`), Args: json.RawMessage(`{"a":3}`), Reason: "why", Digest: "sha256:2",
			By: "somebody", At: now,
		},
		Before: &spool.Answer{Args: json.RawMessage(`{"a":4}`), At: now}, Digest: "sha256:1",
		Expiry: spool.Expiry{Then: spool.ExpireExtend, TTL: time.Minute, Warn: -1, Extensions: 3}, Warned: true,
		DistinctApprover: true, Occurrence: 2, Revision: "rev_1", AgentID: "nested",
		Frames: []wire.ParkFrame{{AgentID: new(spool.AgentID("above")), ToolCallID: "c"}, {ToolCallID: "d"}}, Landed: true,
		CreatedAt: now, ExpiresAt: now.Add(time.Minute),
		Pending: &wire.PendingCall{
			State: json.RawMessage(`{"task":"1"}`), After: time.Second, NextAt: now, Until: now.Add(time.Hour), Ready: true,
			Note: "half", Notes: 2,
		},
	}
	s.full(first, ".Before.Approved", ".Before.Payload", ".Before.Reason", ".Before.Digest", ".Before.By") // as in Answer
	second := store.Park{RunID: "r", ToolCallID: "a", State: wire.ParkOpen}
	third := store.Park{RunID: "r", ToolCallID: "m", State: wire.ParkOpen}
	foreign := store.Park{RunID: "r2", ToolCallID: "a", State: wire.ParkOpen}
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread: &wire.Thread{State: wire.Idle},
			Parks:  []store.Park{first, second, foreign, third},
		})
	})
	s.same("parks", s.all(key, "r").Parks, []store.Park{first, second, third})
	s.same("parks of the other run", s.all(key, "r2").Parks, []store.Park{foreign})
	s.same("parks of another thread", s.all(thread("t2"), "r").Parks, []store.Park{})

	first, second = store.Park{RunID: "r", ToolCallID: "z", State: wire.ParkClosed}, first
	second.ToolCallID = "a"
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Parks: []store.Park{second, first}}) })
	s.same("parks that were replaced", s.all(key, "r").Parks, []store.Park{first, second, third})
}

func testStoreEffects(s *storeTest) {
	key := thread("t")
	effect := func(run spool.RunID, step int, call spool.ToolCallID) store.Effect {
		return store.Effect{RunID: run, Step: step, ToolCallID: call, State: wire.EffectPending}
	}
	z, a, m := effect("r", 1, "z"), effect("r", 1, "a"), effect("r", 1, "m")
	step2, foreign := effect("r", 2, "a"), effect("r2", 1, "a")
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread:  &wire.Thread{State: wire.Idle},
			Effects: []store.Effect{z, step2, a, foreign, m},
		})
	})
	s.same("effects", s.all(key, "r").Effects, []store.Effect{z, a, m})

	z.State, z.Result = wire.EffectDone, json.RawMessage(`{"ok":[true]}`)
	m.State = wire.EffectVoid
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Effects: []store.Effect{m, z}}) })
	s.same("effects that were replaced", s.all(key, "r").Effects, []store.Effect{z, a, m})
	s.same("effects of the other run", s.all(key, "r2").Effects, []store.Effect{foreign})
	s.same("effects of another thread", s.all(thread("t2"), "r").Effects, []store.Effect{})
	s.read(key, func(v store.View) error {
		got, err := v.Effects("r", 2)
		s.same("effects of step 2", got, []store.Effect{step2})
		return err
	})
}

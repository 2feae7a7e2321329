package spooltest

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

func testStoreParks(s *storeTest) {
	key, now := thread("t"), s.clock.Now()
	first := spool.Park{
		RunID: "r", ToolCallID: "z", ToolName: "tool", Step: 3, Args: json.RawMessage(`{"a":1}`),
		Shown: json.RawMessage(`{"b":2}`), Schema: json.RawMessage(`{"type":"object"}`), Resume: json.RawMessage(`["state"]`), Reason: spool.ParkApproval, State: spool.ParkAnswered,
		Answer: &spool.Answer{
			Approved: true, Payload: json.RawMessage(`[1]`), Args: json.RawMessage(`{"a":3}`), Reason: "why", Digest: "sha256:2", By: "somebody", At: now,
		},
		Before: &spool.Answer{Args: json.RawMessage(`{"a":4}`), At: now}, Digest: "sha256:1",
		Expiry: spool.Expiry{Then: spool.ExpireExtend, TTL: time.Minute, Warn: -1, Extensions: 3}, Warned: true, DistinctApprover: true, Occurrence: 2, Revision: "rev_1",
		AgentID: "nested", Frames: []spool.ParkFrame{{AgentID: new(spool.AgentID("above")), ToolCallID: "c"}, {ToolCallID: "d"}},
		Landed: true, CreatedAt: now, ExpiresAt: now.Add(time.Minute),
		Pending: &spool.PendingCall{
			State: json.RawMessage(`{"task":"1"}`), After: time.Second, NextAt: now, Until: now.Add(time.Hour), Ready: true, Note: "half", Notes: 2,
		},
	}
	s.full(first, ".Before.Approved", ".Before.Payload", ".Before.Reason", ".Before.Digest", ".Before.By") // as in Answer
	second := spool.Park{RunID: "r", ToolCallID: "a", State: spool.ParkOpen}
	third := spool.Park{RunID: "r", ToolCallID: "m", State: spool.ParkOpen}
	foreign := spool.Park{RunID: "r2", ToolCallID: "a", State: spool.ParkOpen}
	s.write(key, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread: &spool.Thread{State: spool.Idle},
			Parks:  []spool.Park{first, second, foreign, third},
		})
	})
	s.same("parks", s.all(key, "r").Parks, []spool.Park{first, second, third})
	s.same("parks of the other run", s.all(key, "r2").Parks, []spool.Park{foreign})
	s.same("parks of another thread", s.all(thread("t2"), "r").Parks, []spool.Park{})

	first, second = spool.Park{RunID: "r", ToolCallID: "z", State: spool.ParkClosed}, first
	second.ToolCallID = "a"
	s.write(key, func(tx spool.Tx) error { return tx.Write(spool.Changes{Parks: []spool.Park{second, first}}) })
	s.same("parks that were replaced", s.all(key, "r").Parks, []spool.Park{first, second, third})
}

func testStoreEffects(s *storeTest) {
	key := thread("t")
	effect := func(run spool.RunID, step int, call spool.ToolCallID) spool.Effect {
		return spool.Effect{RunID: run, Step: step, ToolCallID: call, State: spool.EffectPending}
	}
	z, a, m := effect("r", 1, "z"), effect("r", 1, "a"), effect("r", 1, "m")
	step2, foreign := effect("r", 2, "a"), effect("r2", 1, "a")
	s.write(key, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread:  &spool.Thread{State: spool.Idle},
			Effects: []spool.Effect{z, step2, a, foreign, m},
		})
	})
	s.same("effects", s.all(key, "r").Effects, []spool.Effect{z, a, m})

	z.State, z.Result = spool.EffectDone, json.RawMessage(`{"ok":[true]}`)
	m.State = spool.EffectVoid
	s.write(key, func(tx spool.Tx) error { return tx.Write(spool.Changes{Effects: []spool.Effect{m, z}}) })
	s.same("effects that were replaced", s.all(key, "r").Effects, []spool.Effect{z, a, m})
	s.same("effects of the other run", s.all(key, "r2").Effects, []spool.Effect{foreign})
	s.same("effects of another thread", s.all(thread("t2"), "r").Effects, []spool.Effect{})
	s.read(key, func(v spool.View) error {
		got, err := v.Effects("r", 2)
		s.same("effects of step 2", got, []spool.Effect{step2})
		return err
	})
}

package thread

import (
	"errors"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// finishes ends the run in its worker's hands.
func finishes(ending store.Ending) func(s *scene) string {
	return func(s *scene) string { return s.work(func(tx *Tx) error { return Finish(tx, ending) }) }
}

var (
	complete = store.Ending{State: wire.Completed, Reason: wire.StopCompleted}
	fail     = store.Ending{State: wire.Failed, Reason: wire.StopFailed, Error: "no"}
)

// nests adds a nested run n1, whose call of the dispatched run waits.
func nests(s *scene) {
	s.work(func(tx *Tx) error {
		run := store.RunRow{Run: wire.Run{
			ID: "n1", ParentID: "r", RootID: "r", Depth: 1, CallID: "c9", State: wire.Running, Agent: "b", Model: "m2",
		}}
		return errors.Join(Spawn(tx, run, "look"), tx.Write(store.Changes{Effects: []store.Effect{
			{RunID: "r", ToolCallID: "c9", State: wire.EffectWaiting}, {RunID: "r", ToolCallID: "c8", State: wire.EffectDone},
		}}))
	})
}

// reserves makes the run reserve a model call.
func reserves(s *scene) {
	with("r", func(r *store.RunRow) {
		r.Allowance = &wire.Allowance{Budget: spool.Budget{Tokens: 100}, Reservations: []wire.Reservation{
			{
				Agent: "a", Kind: spool.UsageStep, Step: 1, Model: "m", Input: 7, Tokens: 50,
				Prompt: &spool.Cost{Currency: "USD", Micros: 3},
			},
			{AgentID: "n1", Agent: "b", Kind: spool.UsageCompaction, Step: 1, Model: "m2", Input: 5, Tokens: 20},
		}}
	})(s)
}

// resumable gives a run an answer of a model that it can ask for again.
func resumable(id spool.RunID) func(s *scene) {
	return with(id, func(r *store.RunRow) {
		r.Resume = &store.ResumableAnswer{
			Model: "m", Requested: "m-1", Step: 1, Prompt: 9, Cost: &spool.Cost{Currency: "USD", Micros: 4},
		}
	})
}

func TestFinish(t *testing.T) {
	t.Parallel()
	steps := spool.TokenCount{InputTokens: 5, OutputTokens: 2, TotalTokens: 7}
	check(t, []row{
		{"completed", and(running, func(s *scene) { s.later(time.Second) }), finishes(complete), `
			ok
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:1-1} end
			thread State=COMPLETED LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=1s WallTime=1s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished} RunID=r Stream=r:1 After=1-1`},
		{"completed, with a question that nobody answered", and(running, marked), finishes(complete), `
			ok
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,expired:{questions:2,since:0s},offset:1-1} end
			thread State=COMPLETED LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished,expired:{questions:2,since:0s}} RunID=r Stream=r:1 After=1-1`},
		{"failed", running, finishes(fail), `
			ok
			item after 1 {type:RUN_ERROR,status:error,error:no,offset:1-1} end
			thread State=FAILED LeaseUntil=-
			run r State=FAILED StopReason=failed Error=no EndedAt=0s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:error,error:no} RunID=r Stream=r:1 After=1-1`},
		{"cancelled", running, finishes(Cancelled), `
			ok
			item after 1 {type:RUN_FINISHED,status:stopped,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:cancelled,offset:1-1} end
			thread State=CANCELLED LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=0s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:stopped} RunID=r Stream=r:1 After=1-1`},
		{"at a limit", running, finishes(store.Ending{State: wire.Completed, Reason: wire.StopMaxSteps}), `
			ok
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:max_steps,offset:1-1} end
			thread State=COMPLETED LeaseUntil=-
			run r State=COMPLETED StopReason=max_steps EndedAt=0s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished,stopReason:max_steps} RunID=r Stream=r:1 After=1-1`},
		{"with usage, costs and an output", and(running, with("r", func(r *store.RunRow) {
			r.TokenCount, r.Currency, r.CostMicros = steps, "USD", 12
			r.Output = &store.RunOutput{Value: []byte(`{"a":1}`)}
		})), finishes(complete), `
			ok
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:5,cachedInputTokens:0,outputTokens:2,totalTokens:7},costs:[{currency:USD,micros:12}],finishReason:completed,output:{a:1},offset:1-1} end
			thread State=COMPLETED LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished,output:{a:1}} RunID=r Stream=r:1 After=1-1`},
		{"with an output that is too large for an event", and(running, with("r", func(r *store.RunRow) {
			r.Output = &store.RunOutput{Value: append(append([]byte{'"'}, make([]byte, wire.MaxOutputEvent)...), '"')}
		})), finishes(complete), `
			ok
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:1-1} end
			thread State=COMPLETED LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished} RunID=r Stream=r:1 After=1-1`},
		{"failed with an output", and(running,
			with("r", func(r *store.RunRow) { r.Output = &store.RunOutput{Value: []byte(`1`)} })), finishes(fail), `
			ok
			item after 1 {type:RUN_ERROR,status:error,error:no,offset:1-1} end
			thread State=FAILED LeaseUntil=-
			run r State=FAILED StopReason=failed Error=no EndedAt=0s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:error,error:no} RunID=r Stream=r:1 After=1-1`},
		{"with a draft", and(running, drafted), finishes(Cancelled), `
			ok
			item after 1 {type:RUN_FINISHED,status:stopped,usage:{inputTokens:3,cachedInputTokens:0,outputTokens:0,totalTokens:3},finishReason:cancelled,offset:1-1} end
			thread State=CANCELLED LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=0s InputTokens=3 TotalTokens=3 Draft=- WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:stopped} RunID=r Stream=r:1 After=1-1`},
		{"with an answer that could be asked for again", and(running, resumable("r")), finishes(Cancelled), `
			ok
			item after 1 {type:RUN_FINISHED,status:stopped,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},costs:[{currency:USD,micros:4}],finishReason:cancelled,offset:1-1} end
			thread State=CANCELLED LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=0s CostMicros=4 Currency=USD Resume=- WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:stopped} RunID=r Stream=r:1 After=1-1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Requested=m-1 Outcome=aborted Guess={Input=9} Cost={Micros=4 Currency=USD}`},
		{"with reservations", and(running, reserves), finishes(Cancelled), `
			ok
			item after 1 {type:RUN_FINISHED,status:stopped,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},costs:[{currency:USD,micros:3}],finishReason:cancelled,offset:1-1} end
			thread State=CANCELLED LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=0s CostMicros=3 Currency=USD Allowance={Budget={Tokens=100} Spent={Tokens=12 CostMicros=3} Reservations=[]} WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:stopped} RunID=r Stream=r:1 After=1-1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=aborted Guess={Input=7} Cost={Micros=3 Currency=USD}
			+ usage 2 RunID=r AgentID=n1 Agent=b Kind=compaction Step=1 Model=m2 Outcome=aborted Guess={Input=5}`},
		{"with questions that nobody could answer yet", and(running, func(s *scene) {
			expired, landed := question("c2"), question("c3")
			expired.State, landed.Landed = wire.ParkExpired, true
			pending, lost := pendingCall("c4"), pendingCall("c5")
			pending.Step, lost.Step = 0, 1
			began, unsure := question("c6"), question("c7")
			began.State, began.Answer, unsure.Reason = wire.ParkAnswered, &spool.Answer{Approved: true}, wire.ParkOutcomeUnknown
			s.work(func(tx *Tx) error {
				if err := tx.Write(store.Changes{
					Effects: []store.Effect{{RunID: "r", Step: 1, ToolCallID: "c6", State: wire.EffectPending}},
				}); err != nil {
					return err
				}
				return ask(tx, question("c1"), expired, landed, pending, lost, began, unsure)
			})
		}), finishes(Cancelled), `
			ok, wake the workers
			item after 1 {type:RUN_FINISHED,status:stopped,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:cancelled,offset:1-1} end
			thread State=CANCELLED LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=0s WorkerSince=-
			+ message msg2 Role=tool Content=[{Type=tool-result ToolCallID=c1 ToolName=send Result={cancelled:true,reason:stopped}} {Type=tool-result ToolCallID=c2 ToolName=send Result={responded:false,cancelled:true,reason:timeout}} {Type=tool-result ToolCallID=c4 ToolName=build Result={cancelled:true,reason:stopped,outcome:unknown}} {Type=tool-result ToolCallID=c6 ToolName=send Result={cancelled:true,reason:stopped,outcome:unknown}} {Type=tool-result ToolCallID=c7 ToolName=send Result={cancelled:true,reason:stopped,outcome:unknown}}] RunID=r
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:stopped} RunID=r Stream=r:1 After=1-1
			park c1 State=closed Landed=true
			park c2 Landed=true
			park c4 State=closed Landed=true
			park c5 State=closed Landed=true
			park c6 State=closed Landed=true
			park c7 State=closed Landed=true
			+ job cancel:r:c4 RunID=r Model=m Agent=a Kind=cancel Subject=ann Queue=of a DueAt=0s State=ready
			+ job cancel:r:c5 RunID=r Model=m Agent=a Kind=cancel Subject=ann Queue=of a DueAt=0s State=ready`},
		{
			"at a limit, with a nested run that waits", and(running, nests),
			finishes(store.Ending{State: wire.Completed, Reason: wire.StopTokenBudget}), `
			ok
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:token_budget,offset:1-1} end
			thread State=COMPLETED LeaseUntil=-
			run r State=COMPLETED StopReason=token_budget EndedAt=0s WorkerSince=-
			run n1 State=CANCELLED StopReason=cancelled EndedAt=0s
			+ message msg3 Role=tool Content=[{Type=tool-result ToolCallID=c9 ToolName=spawnSubagent Result={cancelled:true,reason:token_budget}}] RunID=r
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished,stopReason:token_budget} RunID=r Stream=r:1 After=1-1
			effect c9 State=done Result={cancelled:true,reason:token_budget}`,
		},
		{"failed, with a nested run that works", and(running, nests, resumable("n1"), func(s *scene) {
			with("n1", func(r *store.RunRow) { r.Allowance = &wire.Allowance{Cut: true} })(s)
		}), finishes(fail), `
			ok
			item after 1 {type:RUN_ERROR,status:error,error:no,offset:1-1} end
			thread State=FAILED LeaseUntil=-
			run r State=FAILED StopReason=failed Error=no EndedAt=0s CostMicros=4 Currency=USD WorkerSince=-
			run n1 State=FAILED StopReason=failed Error=the run that it belongs to failed EndedAt=0s Allowance=- Resume=-
			+ message msg3 Role=tool Content=[{Type=tool-result ToolCallID=c9 ToolName=spawnSubagent Result={cancelled:true,reason:failed}}] RunID=r
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:error,error:no} RunID=r Stream=r:1 After=1-1
			effect c9 State=done Result={cancelled:true,reason:failed}
			+ usage 1 RunID=r AgentID=n1 Agent=b Kind=step Step=1 Model=m Requested=m-1 Outcome=aborted Guess={Input=9} Cost={Micros=4 Currency=USD}`},
		{
			"cancelled, with a nested run that has ended",
			and(running, nests, with("n1", func(r *store.RunRow) { r.State = wire.Completed })), finishes(Cancelled), `
			ok
			item after 1 {type:RUN_FINISHED,status:stopped,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:cancelled,offset:1-1} end
			thread State=CANCELLED LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=0s WorkerSince=-
			+ message msg3 Role=tool Content=[{Type=tool-result ToolCallID=c9 ToolName=spawnSubagent Result={cancelled:true,reason:stopped}}] RunID=r
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:stopped} RunID=r Stream=r:1 After=1-1
			effect c9 State=done Result={cancelled:true,reason:stopped}`,
		},
		{
			"of a run that cannot end so", and(running, func(s *scene) { s.Rows.Thread.State = wire.Idle },
				with("r", func(r *store.RunRow) { r.State = wire.Completed })),
			finishes(Cancelled), `
			error: Internal error`,
		},
	})
}

// With a settle hook, a run ends in two transactions.
func TestSettle(t *testing.T) {
	t.Parallel()
	settle := func(settled bool) func(s *scene) string {
		return func(s *scene) string {
			return s.work(func(tx *Tx) error { return Settle(tx, *tx.Run.Ending, settled) })
		}
	}
	deciding := and(settles, running, func(s *scene) { finishes(complete)(s) })
	check(t, []row{
		{"before the hook", and(settles, running, drafted, resumable("r")), finishes(complete), `
			ok
			run r InputTokens=3 TotalTokens=3 CostMicros=4 Currency=USD Draft=- Resume=- Ending={State=COMPLETED Reason=completed}
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Requested=m-1 Outcome=aborted Guess={Input=9} Cost={Micros=4 Currency=USD}`},
		{
			"before the hook, with reservations and a nested run", and(settles, running, nests, resumable("n1"), reserves),
			finishes(fail), `
			ok
			run r CostMicros=7 Currency=USD Allowance={Budget={Tokens=100} Spent={Tokens=21 CostMicros=7} Reservations=[]} Ending={State=FAILED Reason=failed Error=no}
			run n1 Resume=-
			+ usage 1 RunID=r AgentID=n1 Agent=b Kind=step Step=1 Model=m Requested=m-1 Outcome=aborted Guess={Input=9} Cost={Micros=4 Currency=USD}
			+ usage 2 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=aborted Guess={Input=7} Cost={Micros=3 Currency=USD}
			+ usage 3 RunID=r AgentID=n1 Agent=b Kind=compaction Step=1 Model=m2 Outcome=aborted Guess={Input=5}`,
		},
		{"after the hook", deciding, settle(true), `
			ok
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:1-1} end
			thread State=COMPLETED LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=- Ending=- SettledAt=0s
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished} RunID=r Stream=r:1 After=1-1`},
		{"after a hook that failed", deciding, settle(false), `
			ok
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:1-1} end
			thread State=COMPLETED LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=- Ending=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished} RunID=r Stream=r:1 After=1-1
			+ job settle:r RunID=r Model=m Agent=a Kind=settle Subject=ann Queue=of a DueAt=1m0s State=delayed`},
		{"after the hook, without a worker", and(settles, queued, func(s *scene) { stops("")(s) }), func(s *scene) string {
			return s.on(func(tx *Tx) (string, error) { return "settled", Settle(tx, *tx.Run.Ending, true) })
		}, `
			settled
			thread State=CANCELLED LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=0s Ending=- SettledAt=0s`},
	})
}

// FinishDecided needs the thread of the claim.
func TestFinishDecidedWithoutThread(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if got := s.try(func(db store.Tx) (string, error) {
		_, err := FinishDecided(db, s.rules)
		return "", err
	}); got != "error: Thread not found" {
		t.Error(got)
	}
}

// inNested carries out a transition of the nested run n1 in the hands of the worker.
func (s *scene) inNested(transition func(tx *Tx) error) string {
	return s.work(func(tx *Tx) error {
		nested, err := tx.ForRun(store.RunRow{Run: wire.Run{ID: "n1", RootID: "r"}})
		if err != nil {
			return err
		}
		return transition(nested)
	})
}

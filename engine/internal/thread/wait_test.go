package thread

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// stopping is a running run that was asked to stop, and whose worker has not ended it yet.
func stopping(s *scene) {
	running(s)
	s.on(func(tx *Tx) (string, error) {
		_, err := Stop(tx, "r")
		return "", err
	})
}

// byBob starts a waiting run of another subject.
func byBob(id spool.RunID, busy spool.WhenBusy, mayNotStop bool) func(s *scene) string {
	return func(s *scene) string {
		r := request(id, busy)
		r.Run.StartedBy, r.MayNotStop = "bob", mayNotStop
		return s.start(r)
	}
}

// A start on a thread that is busy.
func TestStartBusy(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"reject", running, begin("next", spool.BusyReject), `
			refused: active_run: Thread has an active run`},
		{"reject, behind a queued run", queued, begin("next", spool.BusyReject), `
			refused: active_run: Thread has an active run`},
		{"reject, behind a parked run", parked, begin("next", spool.BusyReject), `
			refused: active_run: Thread has an active run`},
		{"reject, with an edit", and(said, queuedAgain), edits("next", spool.BusyReject, 0), `
			refused: active_run: Thread has an active run`},
		{"enqueue", running, begin("next", spool.BusyEnqueue), `
			position 1
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=4294967297 Wait={WhenBusy=enqueue Position=1 Content=[{Type=text Text=go next}]}`},
		{"enqueue, behind another", and(running, waiting("w1", spool.BusyEnqueue)), begin("next", spool.BusyEnqueue), `
			position 2
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=4294967298 Wait={WhenBusy=enqueue Position=2 Content=[{Type=text Text=go next}]}`},
		{"enqueue an edit", and(said, queuedAgain), edits("next", spool.BusyEnqueue, 0), `
			position 1
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=4294967297 Wait={WhenBusy=enqueue Position=1 Content=[{Type=text Text=go next}] EditMessageID=msg1}`},
		{"enqueue an edit of an answer", and(said, queuedAgain), edits("next", spool.BusyEnqueue, 1), `
			refused: not_editable: Only a user message can be edited`},
		{"enqueue an edit of an unknown message", running, edits("next", spool.BusyEnqueue, -1), `
			refused: not_found: Message not found`},
		{"enqueue in a full queue", fullQueue, begin("next", spool.BusyEnqueue), `
			refused: queue_full: Too many runs wait for the thread`},
		{"interrupt in a full queue", fullQueue, begin("next", spool.BusyInterrupt), `
			refused: queue_full: Too many runs wait for the thread`},
		{"roll back in a full queue", fullQueue, begin("next", spool.BusyRollback), `
			refused: queue_full: Too many runs wait for the thread`},
		{"steer in a full queue", fullQueue, begin("next", spool.BusySteer), `
			refused: queue_full: Too many runs wait for the thread`},
		{"the latest makes room in a full queue", fullQueue, begin("next", spool.BusyLatest), `
			position 1, note stop of w1 by ann, note stop of w2 by ann, note stop of w3 by ann
			run w1 State=CANCELLED StopReason=cancelled Error=a later start took its place EndedAt=0s QueuePosition=-
			run w2 State=CANCELLED StopReason=cancelled Error=a later start took its place EndedAt=0s QueuePosition=-
			run w3 State=CANCELLED StopReason=cancelled Error=a later start took its place EndedAt=0s QueuePosition=-
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=4294967297 Wait={WhenBusy=latest Position=1 Content=[{Type=text Text=go next}]}`},
		{
			"a rollback makes room in a queue full of interrupts",
			and(running, waiting("w1", spool.BusyInterrupt), waiting("w2", spool.BusyEnqueue),
				waiting("w3", spool.BusyEnqueue)), begin("next", spool.BusyRollback), `
			position 1, wake the worker, note stop of w1 by ann
			run w1 State=CANCELLED StopReason=cancelled Error=a later start took its place EndedAt=0s QueuePosition=-
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=1 Wait={WhenBusy=rollback Position=1 Content=[{Type=text Text=go next}]}`,
		},
		{
			"the latest keeps those that have stopped or steer",
			and(running, waiting("w1", spool.BusyInterrupt), waiting("w2", spool.BusySteer)), begin("next", spool.BusyLatest), `
			position 3
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=4294967297 Wait={WhenBusy=latest Position=3 Content=[{Type=text Text=go next}]}`,
		},
		{
			"the latest of a subject that may not stop others",
			and(running, waiting("w1", spool.BusyEnqueue), waiting("w2", spool.BusyLatest)),
			byBob("next", spool.BusyLatest, true), `
			position 2
			+ run next Agent=a Model=m State=QUEUED StartedBy=bob EnqueuedAt=0s StartedAt=0s QueuePosition=4294967298 Wait={WhenBusy=latest Position=2 Content=[{Type=text Text=go next}]}`,
		},
		{
			"the latest of a subject that may stop others", and(running, waiting("w1", spool.BusyEnqueue)),
			byBob("next", spool.BusyLatest, false), `
			position 1, note stop of w1 by bob
			run w1 State=CANCELLED StopReason=cancelled Error=a later start took its place EndedAt=0s QueuePosition=-
			+ run next Agent=a Model=m State=QUEUED StartedBy=bob EnqueuedAt=0s StartedAt=0s QueuePosition=4294967297 Wait={WhenBusy=latest Position=1 Content=[{Type=text Text=go next}]}`,
		},
		{
			"the latest, with a settle hook", and(settles, running, waiting("w1", spool.BusyEnqueue)),
			begin("next", spool.BusyLatest), `
			position 1, note stop of w1 by ann
			run w1 State=CANCELLED StopReason=cancelled Error=a later start took its place EndedAt=0s QueuePosition=-
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=4294967297 Wait={WhenBusy=latest Position=1 Content=[{Type=text Text=go next}]}
			+ job settle:w1 RunID=w1 Model=m Agent=a Kind=settle Subject=ann Queue=of a DueAt=0s State=ready`,
		},
		{"with the id of a run before", and(running, waiting("w1", spool.BusyEnqueue)), begin("w1", spool.BusyEnqueue), `
			refused: run_id_used: Run id already used`},
		{"with an id that is used, which would stop the run", queued, begin("r", spool.BusyInterrupt), `
			refused: run_id_used: Run id already used`},
	})
}

// queuedAgain is a second run of a thread.
func queuedAgain(s *scene) { s.start(request("again", "")) }

// fullQueue is a running run behind which as many runs wait as may.
var fullQueue = and(running, waiting("w1", spool.BusyEnqueue), waiting("w2", spool.BusyEnqueue),
	waiting("w3", spool.BusyEnqueue))

// A start that stops the run which has the thread.
func TestStartStops(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"a run with a worker", running, begin("next", spool.BusyInterrupt), `
			position 1, wake the worker, note stop of r by ann
			run r StopAt=0s
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=1 Wait={WhenBusy=interrupt Position=1 Content=[{Type=text Text=go next}]}`},
		{"a queued run", queued, begin("next", spool.BusyInterrupt), `
			position 0, note stop of r by ann
			thread RunID=next
			run r State=CANCELLED StopReason=cancelled EndedAt=0s StopAt=0s
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s Wait={WhenBusy=interrupt}
			+ message msg2 Role=user Content=[{Type=text Text=go next}] RunID=next
			+ job run:next:1 RunID=next Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready
			- job run:r:1`},
		{"a queued run, with a settle hook", and(settles, queued), begin("next", spool.BusyInterrupt), `
			position 1, settle r saved 0-0, note stop of r by ann
			thread Fence=1 LeaseUntil=1m0s
			run r StopAt=0s Ending={State=CANCELLED Reason=cancelled Closed=true}
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=1 Wait={WhenBusy=interrupt Position=1 Content=[{Type=text Text=go next}]}`},
		{"a run whose worker has died", lost, begin("next", spool.BusyInterrupt), `
			position 0, close r:1 at 0-0, note stop of r by ann
			thread State=QUEUED RunID=next LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=2m0s WallTime=1m0s WorkerSince=- StopAt=2m0s
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=2m0s StartedAt=2m0s Wait={WhenBusy=interrupt}
			+ message msg2 Role=user Content=[{Type=text Text=go next}] RunID=next
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost
			+ job run:next:1 RunID=next Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=2m0s State=ready`},
		{"a parked run", parked, begin("next", spool.BusyInterrupt), `
			position 0, note stop of r by ann
			thread State=QUEUED RunID=next
			run r State=CANCELLED StopReason=cancelled EndedAt=0s StopAt=0s
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s Wait={WhenBusy=interrupt}
			+ message msg2 Role=tool Content=[{Type=tool-result ToolCallID=c1 ToolName=send Result={cancelled:true,reason:stopped}}] RunID=r
			+ message msg3 Role=user Content=[{Type=text Text=go next}] RunID=next
			park c1 State=closed Landed=true
			+ job run:next:1 RunID=next Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`},
		{"a run that is stopped already", stopping, begin("next", spool.BusyInterrupt), `
			position 1, wake the worker
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=1 Wait={WhenBusy=interrupt Position=1 Content=[{Type=text Text=go next}]}`},
		{"a run whose end is decided", and(running, with("r", func(r *store.RunRow) {
			r.Ending = &store.Ending{State: wire.Completed, Reason: wire.StopCompleted}
		})), begin("next", spool.BusyInterrupt), `
			position 1
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=1 Wait={WhenBusy=interrupt Position=1 Content=[{Type=text Text=go next}]}`},
		{
			"a run, and the interrupt before it",
			and(running, waiting("w1", spool.BusyInterrupt), waiting("w2", spool.BusyEnqueue)),
			begin("next", spool.BusyInterrupt), `
			position 2, wake the worker, note stop of w1 by ann
			run w1 StopAt=0s
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=2 Wait={WhenBusy=interrupt Position=2 Content=[{Type=text Text=go next}]}`,
		},
		{
			"a run, and two interrupts before it, of which the first is stopped",
			and(running, waiting("w1", spool.BusyInterrupt), waiting("w2", spool.BusyInterrupt)),
			begin("next", spool.BusyInterrupt), `
			position 3, wake the worker, note stop of w2 by ann
			run w2 StopAt=0s
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=3 Wait={WhenBusy=interrupt Position=3 Content=[{Type=text Text=go next}]}`,
		},
		{"and rolls a queued run back", and(said, queuedAgain), begin("next", spool.BusyRollback), `
			position 0, note stop of again by ann
			thread RunID=next
			run again State=CANCELLED StopReason=cancelled EndedAt=0s StopAt=0s
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s Wait={WhenBusy=rollback}
			+ message msg4 Role=user Content=[{Type=text Text=go next}] RunID=next
			- message msg3
			+ branch 3 BaseMessageID=msg2 RunID=next Messages=[{Role=user Content=[{Type=text Text=go again}] RunID=again}]
			+ entry 3 Type=MESSAGES_DROPPED Payload={fromMessageId:msg3} RunID=next
			+ job run:next:1 RunID=next Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready
			- job run:again:1`},
		{"and will roll a running run back", running, begin("next", spool.BusyRollback), `
			position 1, wake the worker, note stop of r by ann
			run r StopAt=0s
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=1 Wait={WhenBusy=rollback Position=1 Content=[{Type=text Text=go next}] RollbackMessageID=msg1}`},
		{
			"and will roll back what an interrupt kept", and(running, waiting("w1", spool.BusyInterrupt)),
			begin("next", spool.BusyRollback), `
			position 1, wake the worker, note stop of w1 by ann
			run w1 State=CANCELLED StopReason=cancelled Error=a later start took its place EndedAt=0s QueuePosition=-
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=1 Wait={WhenBusy=rollback Position=1 Content=[{Type=text Text=go next}]}`,
		},
		{
			"and will roll back what a rollback dropped", and(running, waiting("w1", spool.BusyRollback)),
			begin("next", spool.BusyRollback), `
			position 1, wake the worker, note stop of w1 by ann
			run w1 State=CANCELLED StopReason=cancelled Error=a later start took its place EndedAt=0s QueuePosition=-
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=1 Wait={WhenBusy=rollback Position=1 Content=[{Type=text Text=go next}] RollbackMessageID=msg1}`,
		},
		{"and will roll back what an edit replaced", and(said, queuedAgain, func(s *scene) {
			s.claim(ClaimRequest{Job: wire.Job{RunID: "again"}})
			edits("w1", spool.BusyInterrupt, 0)(s)
		}), begin("next", spool.BusyRollback), `
			position 1, wake the worker, note stop of w1 by ann
			run w1 State=CANCELLED StopReason=cancelled Error=a later start took its place EndedAt=0s QueuePosition=-
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=1 Wait={WhenBusy=rollback Position=1 Content=[{Type=text Text=go next}] RollbackMessageID=msg1}`},
		{"and will roll back a redriven run", and(ended(wire.Failed), redriven), begin("next", spool.BusyRollback), `
			position 0, note stop of redriven by ann
			thread RunID=next
			run redriven State=CANCELLED StopReason=cancelled EndedAt=0s StopAt=0s
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s Wait={WhenBusy=rollback}
			+ message msg2 Role=user Content=[{Type=text Text=go next}] RunID=next
			- message msg1
			+ branch 3 RunID=next Messages=[{Role=user Content=[{Type=text Text=go r}] RunID=r}]
			+ entry 3 Type=MESSAGES_DROPPED Payload={fromMessageId:msg1} RunID=next
			+ job run:next:1 RunID=next Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready
			- job run:redriven:1`},
		{
			"and rolls a run without a turn back", and(running, func(s *scene) { s.Rows.Messages = nil }),
			begin("next", spool.BusyRollback), `
			position 1, wake the worker, note stop of r by ann
			run r StopAt=0s
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=1 Wait={WhenBusy=rollback Position=1 Content=[{Type=text Text=go next}]}`,
		},
	})
}

// redriven is a run of its own that goes on with the failed run r.
func redriven(s *scene) {
	s.Rows.Dead = []wire.QueuedJob{{Job: wire.Job{RunID: "r", Kind: wire.JobStart}, JobID: 5}}
	s.on(func(tx *Tx) (string, error) {
		id, err := Redrive(tx, s.Rows.Dead[0], "redriven")
		return string(id), err
	})
}

// The run that has the thread ends, and the first waiting run that can start gets it.
func TestStartNext(t *testing.T) {
	t.Parallel()
	end := func(s *scene) string {
		return s.work(func(tx *Tx) error {
			return Finish(tx, store.Ending{State: wire.Completed, Reason: wire.StopCompleted})
		})
	}
	check(t, []row{
		{"nobody waits", running, end, `
			ok
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:1-1} end
			thread State=COMPLETED LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished} RunID=r Stream=r:1 After=1-1`},
		{"the first of two", and(running, with("r", func(r *store.RunRow) { r.Context = &store.ContextCount{Tokens: 7} }),
			waiting("w1", spool.BusyEnqueue), waiting("w2", spool.BusyEnqueue)), end, `
			ok, wake the workers
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:1-1} end
			thread State=QUEUED RunID=w1 LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			run w1 QueuePosition=- Wait={WhenBusy=enqueue Position=1}
			+ message msg2 Role=user Content=[{Type=text Text=go w1}] RunID=w1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished} RunID=r Stream=r:1 After=1-1
			+ job run:w1:1 RunID=w1 Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"behind it waits a steer", and(running, waiting("w1", spool.BusySteer), waiting("w2", spool.BusySteer)), end, `
			ok, wake the workers
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:1-1} end
			thread State=QUEUED RunID=w1 LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			run w1 QueuePosition=- Wait={WhenBusy=steer Position=1 Steers=r} Steered=true
			+ message msg2 Role=user Content=[{Type=text Text=go w1}] RunID=w1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished} RunID=r Stream=r:1 After=1-1
			+ job run:w1:1 RunID=w1 Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{
			"its turn edits one that is there",
			and(said, queuedAgain, claimed("again"), func(s *scene) { edits("w1", spool.BusyEnqueue, 0)(s) }), end, `
			ok, wake the workers
			item after 3 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:2-1} end
			thread State=QUEUED RunID=w1 LeaseUntil=-
			run again State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			run w1 QueuePosition=- Wait={WhenBusy=enqueue Position=1}
			+ message msg4 Role=user Content=[{Type=text Text=go w1}] RunID=w1
			- message msg1
			- message msg2
			- message msg3
			+ branch 5 RunID=w1 Messages=[{Role=user Content=[{Type=text Text=go r}] RunID=r} {Role=assistant Content=[{Type=text Text=done}] RunID=r} {Role=user Content=[{Type=text Text=go again}] RunID=again}]
			+ entry 4 Type=RUN_ENDED Payload={runId:again,streamId:again:1,segment:1,status:finished} RunID=again Stream=again:1 After=2-1
			+ entry 5 Type=MESSAGES_DROPPED Payload={fromMessageId:msg1} RunID=w1
			+ job run:w1:1 RunID=w1 Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`,
		},
		{"its turn edits one that is gone", and(said, queuedAgain, claimed("again"), func(s *scene) {
			edits("w1", spool.BusyEnqueue, 0)(s)
			s.start(request("w2", spool.BusyEnqueue))
			s.Rows.Messages = s.Rows.Messages[2:]
		}), end, `
			ok, wake the workers
			item after 3 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:2-1} end
			thread State=QUEUED RunID=w2 LeaseUntil=-
			run again State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			run w1 State=FAILED StopReason=failed Error=Message not found EndedAt=0s QueuePosition=-
			run w2 QueuePosition=- Wait={WhenBusy=enqueue Position=2}
			+ message msg4 Role=user Content=[{Type=text Text=go w2}] RunID=w2
			+ entry 4 Type=RUN_ENDED Payload={runId:again,streamId:again:1,segment:1,status:finished} RunID=again Stream=again:1 After=2-1
			+ job run:w2:1 RunID=w2 Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"it rolls back", and(running, waiting("w1", spool.BusyRollback)), end, `
			ok, wake the workers
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:1-1} end
			thread State=QUEUED RunID=w1 LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			run w1 QueuePosition=- Wait={WhenBusy=rollback Position=1}
			+ message msg2 Role=user Content=[{Type=text Text=go w1}] RunID=w1
			- message msg1
			+ branch 3 RunID=w1 Messages=[{Role=user Content=[{Type=text Text=go r}] RunID=r}]
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished} RunID=r Stream=r:1 After=1-1
			+ entry 3 Type=MESSAGES_DROPPED Payload={fromMessageId:msg1} RunID=w1
			+ job run:w1:1 RunID=w1 Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{
			"it rolls back a turn that is gone",
			and(running, waiting("w1", spool.BusyRollback), func(s *scene) { s.Rows.Messages = nil }), end, `
			ok, wake the workers
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:1-1} end
			thread State=QUEUED RunID=w1 LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			run w1 QueuePosition=- Wait={WhenBusy=rollback Position=1}
			+ message msg2 Role=user Content=[{Type=text Text=go w1}] RunID=w1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished} RunID=r Stream=r:1 After=1-1
			+ job run:w1:1 RunID=w1 Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`,
		},
		{"its turn edits one that is gone, and it was stopped", and(said, queuedAgain, claimed("again"), func(s *scene) {
			edits("w1", spool.BusyInterrupt, 0)(s)
			s.start(request("w2", spool.BusyInterrupt))
			s.Rows.Messages = s.Rows.Messages[2:]
		}), end, `
			ok, wake the workers
			item after 3 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:2-1} end
			thread State=QUEUED RunID=w2 LeaseUntil=-
			run again State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			run w1 State=CANCELLED StopReason=cancelled Error=Message not found EndedAt=0s QueuePosition=-
			run w2 QueuePosition=- Wait={WhenBusy=interrupt Position=2}
			+ message msg4 Role=user Content=[{Type=text Text=go w2}] RunID=w2
			+ entry 4 Type=RUN_ENDED Payload={runId:again,streamId:again:1,segment:1,status:finished} RunID=again Stream=again:1 After=2-1
			+ job run:w2:1 RunID=w2 Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"it was stopped before its turn", and(running, waiting("w1", spool.BusyInterrupt),
			waiting("w2", spool.BusyInterrupt)), end, `
			ok, wake the workers
			item after 1 {type:RUN_FINISHED,status:finished,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},finishReason:completed,offset:1-1} end
			thread State=QUEUED RunID=w1 LeaseUntil=-
			run r State=COMPLETED StopReason=completed EndedAt=0s WorkerSince=-
			run w1 QueuePosition=- Wait={WhenBusy=interrupt Position=1}
			+ message msg2 Role=user Content=[{Type=text Text=go w1}] RunID=w1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:finished} RunID=r Stream=r:1 After=1-1
			+ job run:w1:1 RunID=w1 Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
	})
}

func claimed(id spool.RunID) func(s *scene) {
	return func(s *scene) { s.claim(ClaimRequest{Job: wire.Job{RunID: id}}) }
}

// Runs that stop another one come first, then steers, then all others, each in the order of their arrival.
func TestPlaces(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.rules.MaxWaiting = 100
	running(s)
	for i, busy := range []spool.WhenBusy{
		spool.BusyEnqueue, spool.BusyInterrupt, spool.BusySteer, spool.BusyEnqueue, spool.BusyInterrupt, spool.BusySteer,
		spool.BusyEnqueue,
	} {
		s.start(request(spool.RunID(fmt.Sprint(busy, i)), busy))
	}
	var got []string
	line, err := record.Waiting(s)
	for _, r := range line {
		got = append(got, fmt.Sprintf("%s at %d", r.ID, r.Wait.Position))
	}
	want := []string{
		"interrupt1 at 1", "interrupt4 at 2", "steer2 at 2", "steer5 at 4", "enqueue0 at 1", "enqueue3 at 4", "enqueue6 at 7",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the queue, and the positions that the starts were told (-want +got):\n%s%v", diff, err)
	}
}

package thread

import (
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// stop stops a run or, with an empty id, the thread.
func stops(only spool.RunID) func(s *scene) string {
	return func(s *scene) string {
		return s.on(func(tx *Tx) (string, error) {
			out, err := Stop(tx, only)
			return "stopped" + stopped(out), err
		})
	}
}

// decided is a run whose end is decided, and whose settle hook may run.
func decided(state wire.State) func(s *scene) {
	return with("r", func(r *store.RunRow) {
		r.Ending = &store.Ending{State: state, Reason: wire.StopReason("of " + state)}
	})
}

// drafted is a run whose tools may have run.
func drafted(s *scene) {
	with("r", func(r *store.RunRow) { r.Draft = &store.Draft{Usage: spool.TokenCount{InputTokens: 3, TotalTokens: 3}} })(s)
}

func TestStop(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"no thread", nil, stops(""), `
			error: Thread not found`},
		{"a queued run", queued, stops(""), `
			stopped QUEUED, note stop of r
			thread State=CANCELLED
			run r State=CANCELLED StopReason=cancelled EndedAt=0s StopAt=0s
			- job run:r:1`},
		{"a running run", running, stops(""), `
			stopped RUNNING, wake the worker, note stop of r
			run r StopAt=0s`},
		{"a running run, again", and(stopping, func(s *scene) { s.later(1) }), stops(""), `
			stopped RUNNING, wake the worker`},
		{"a running run whose end is decided", and(running, decided(wire.Completed)), stops(""), `
			unchanged stopped COMPLETED`},
		{"a running run that is about to be cancelled", and(running, decided(wire.Cancelled)), stops(""), `
			stopped RUNNING, wake the worker, note stop of r
			run r StopAt=0s`},
		{"a run whose worker has died", lost, stops(""), `
			stopped RUNNING, close r:1 at 0-0, note stop of r
			thread State=CANCELLED LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=2m0s WallTime=1m0s WorkerSince=- StopAt=2m0s
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost`},
		{"a run whose worker has died with a draft", and(lost, drafted), stops(""), `
			stopped RUNNING, note stop of r
			run r StopAt=2m0s
			+ job run:r:2 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=2m0s State=ready`},
		{
			"a run whose worker has died before the settle hook",
			and(settles, running, decided(wire.Completed), func(s *scene) { s.later(1e12) }), stops(""), `
			unchanged stopped COMPLETED`,
		},
		{
			"a run whose worker has died before the settle hook of a stop", and(settles, lost, decided(wire.Cancelled)),
			stops(""), `
			stopped RUNNING, settle r saved 0-0, note stop of r
			thread Fence=2 LeaseUntil=3m0s`,
		},
		{"a parked run", parked, stops(""), `
			stopped WAITING_FOR_INPUT, note stop of r
			thread State=CANCELLED
			run r State=CANCELLED StopReason=cancelled EndedAt=0s StopAt=0s
			+ message msg2 Role=tool Content=[{Type=tool-result ToolCallID=c1 ToolName=send Result={cancelled:true,reason:stopped}}] RunID=r
			park c1 State=closed Landed=true
			- job hitl-expiry:r:c1`},
		{"a run that waits to try again", and(running, func(s *scene) {
			s.work(func(tx *Tx) error { return RetryLater(tx, time.Minute, "no") })
		}), stops(""), `
			stopped QUEUED, note stop of r
			thread State=CANCELLED
			run r State=CANCELLED StopReason=cancelled EndedAt=0s StopAt=0s
			- job run:r:2`},
		{
			"a parked run, one of whose questions is answered", and(asks(question("c1"), question("c2")), answered1), stops(""),
			`
			stopped WAITING_FOR_INPUT, note stop of r
			thread State=CANCELLED
			run r State=CANCELLED StopReason=cancelled EndedAt=0s StopAt=0s
			+ message msg2 Role=tool Content=[{Type=tool-result ToolCallID=c1 ToolName=send Result={cancelled:true,reason:stopped}} {Type=tool-result ToolCallID=c2 ToolName=send Result={cancelled:true,reason:stopped}}] RunID=r
			park c1 State=closed Landed=true
			park c2 State=closed Landed=true
			- job hitl-expiry:r:c2`,
		},
		{"a parked run, with a settle hook", and(settles, parked), stops(""), `
			stopped WAITING_FOR_INPUT, settle r saved 0-0, note stop of r
			thread Fence=2 LeaseUntil=1m0s
			run r StopAt=0s Ending={State=CANCELLED Reason=cancelled Closed=true}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=1m0s State=delayed`},
		{"a run that has ended", ended(wire.Failed), stops(""), `
			unchanged stopped FAILED`},
		{"a run that has ended, by its id", ended(wire.Failed), stops("r"), `
			unchanged stopped FAILED`},
		{
			"a thread with waiting runs", and(running, waiting("w1", spool.BusyEnqueue), waiting("w2", spool.BusyInterrupt)),
			stops(""), `
			stopped RUNNING, wake the worker, note stop of w2, note stop of w1
			run w1 State=CANCELLED StopReason=cancelled EndedAt=0s QueuePosition=-
			run w2 State=CANCELLED StopReason=cancelled EndedAt=0s QueuePosition=-`,
		},
		{
			"a thread with waiting runs, with a settle hook", and(settles, queued, waiting("w1", spool.BusyEnqueue)), stops(""),
			`
			stopped QUEUED, settle r saved 0-0, wake the workers, note stop of w1, note stop of r
			thread Fence=1 LeaseUntil=1m0s
			run r StopAt=0s Ending={State=CANCELLED Reason=cancelled Closed=true}
			run w1 State=CANCELLED StopReason=cancelled EndedAt=0s QueuePosition=-
			+ job settle:w1 RunID=w1 Model=m Agent=a Kind=settle Subject=ann Queue=of a DueAt=0s State=ready`,
		},
		{
			"the waiting runs of a run whose end is decided",
			and(running, decided(wire.Completed), waiting("w1", spool.BusyEnqueue)), stops(""), `
			stopped COMPLETED, note stop of w1
			run w1 State=CANCELLED StopReason=cancelled EndedAt=0s QueuePosition=-`,
		},
		{"the run, and not those that wait", and(running, waiting("w1", spool.BusyEnqueue)), stops("r"), `
			stopped RUNNING, wake the worker, note stop of r
			run r StopAt=0s`},
		{"the queued run, and not the one that waits", and(queued, waiting("w1", spool.BusyEnqueue)), stops("r"), `
			stopped QUEUED, wake the workers, note stop of r
			thread RunID=w1
			run r State=CANCELLED StopReason=cancelled EndedAt=0s StopAt=0s
			run w1 QueuePosition=- Wait={WhenBusy=enqueue Position=1}
			+ message msg2 Role=user Content=[{Type=text Text=go w1}] RunID=w1
			+ job run:w1:1 RunID=w1 Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready
			- job run:r:1`},
		{"a waiting run", and(running, waiting("w1", spool.BusyEnqueue)), stops("w1"), `
			stopped QUEUED, note stop of w1
			run w1 State=CANCELLED StopReason=cancelled EndedAt=0s QueuePosition=-`},
		{"a waiting steer", and(running, waiting("w1", spool.BusySteer),
			with("r", func(r *store.RunRow) { r.Steered = false })), stops("w1"), `
			stopped QUEUED, note stop of w1
			run r Steered=true
			run w1 State=CANCELLED StopReason=cancelled EndedAt=0s QueuePosition=-`},
		{"a run that waited and has ended", and(said, queuedAgain), stops("r"), `
			unchanged stopped COMPLETED`},
		{"a run that the thread does not have", running, stops("other"), `
			error: Run not found`},
	})
}

// dead says that the queue has given a job up.
func dead(j wire.Job) func(s *scene) string {
	return func(s *scene) string {
		return s.on(func(tx *Tx) (string, error) {
			out, err := Dead(tx, j, 5, "no")
			return "dead" + stopped(out), err
		})
	}
}

// A run whose job is dead.
func TestDead(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"a queued run", queued, dead(wire.Job{RunID: "r", Segment: 1}), `
			dead
			thread State=FAILED
			run r State=FAILED StopReason=failed Error=dropped by the queue after 5 attempts: no EndedAt=0s`},
		{"a queued run, with a settle hook", and(settles, queued), dead(wire.Job{RunID: "r", Segment: 1}), `
			dead, settle r saved 0-0
			thread Fence=1 LeaseUntil=1m0s
			run r Ending={State=FAILED Reason=failed Error=dropped by the queue after 5 attempts: no Closed=true}`},
		{"a queued run with a later ticket", and(running, func(s *scene) {
			s.work(func(tx *Tx) error { return RetryLater(tx, 1, "no") })
		}), dead(wire.Job{RunID: "r", Segment: 1}), `
			unchanged dead`},
		{"a run with a worker", running, dead(wire.Job{RunID: "r"}), `
			unchanged dead`},
		{"a run whose worker has died", lost, dead(wire.Job{RunID: "r", Segment: 1}), `
			dead, close r:1 at 0-0
			thread State=FAILED LeaseUntil=-
			run r State=FAILED StopReason=failed Error=dropped by the queue after 5 attempts: no EndedAt=2m0s WallTime=1m0s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:dropped by the queue after 5 attempts: no} RunID=r Stream=r:1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost`},
		{
			"a run whose worker has died before the settle hook", and(settles, lost, decided(wire.Completed)),
			dead(wire.Job{RunID: "r"}), `
			dead, settle r saved 0-0
			thread Fence=2 LeaseUntil=3m0s`,
		},
		{
			"a run whose worker was asked to stop and has died", and(stopping, func(s *scene) { s.later(1e12) }),
			dead(wire.Job{RunID: "r"}), `
			dead, close r:1 at 0-0
			thread State=CANCELLED LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=16m40s WallTime=1m0s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:dropped by the queue after 5 attempts: no} RunID=r Stream=r:1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost`,
		},
		{"a parked run", parked, dead(wire.Job{RunID: "r"}), `
			dead
			thread State=FAILED
			run r State=FAILED StopReason=failed Error=dropped by the queue after 5 attempts: no EndedAt=0s
			+ message msg2 Role=tool Content=[{Type=tool-result ToolCallID=c1 ToolName=send Result={cancelled:true,reason:failed}}] RunID=r
			park c1 State=closed Landed=true
			- job hitl-expiry:r:c1`},
		{"a run that has ended", ended(wire.Completed), dead(wire.Job{RunID: "r"}), `
			unchanged dead`},
		{"a run that waits", and(queued, waiting("w1", spool.BusyEnqueue)), dead(wire.Job{RunID: "w1"}), `
			unchanged dead`},
		{"the cancelling of a call's work", queued, dead(wire.Job{RunID: "r", Kind: wire.JobCancel}), `
			unchanged dead`},
		{"no thread", nil, dead(wire.Job{RunID: "r"}), `
			error: Thread not found`},
	})
}

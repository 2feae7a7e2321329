package thread

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// claims is a claim of a job of the run r.
func claims(kind wire.JobKind, segment int) func(s *scene) string {
	return func(s *scene) string {
		return s.claim(ClaimRequest{Job: wire.Job{RunID: "r", Kind: kind, Segment: segment}})
	}
}

// died is a run whose worker has died in several of its segments.
func died(deaths, isolated int) func(s *scene) {
	return and(lost, with("r", func(r *store.RunRow) {
		r.Deaths, r.IsolatedDeaths, r.Isolated = deaths, isolated, isolated > 0
	}))
}

func stopAsked(r *store.RunRow) { r.StopAt = r.StartedAt.Add(1) }

// unclaimed is a claim of the run r together with its ticket.
var unclaimed = func() ClaimRequest {
	j := wire.Job{RunID: "r", Kind: wire.JobStart, Segment: 1, Key: "run:r:1"}
	return ClaimRequest{Job: j, Take: store.Changes{
		CancelJobs: []string{j.Key}, Claimed: []store.ClaimedJob{{Job: j, JobID: 1, Lease: time.Minute}},
	}}
}()

func TestClaim(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"a queued run", and(queued, func(s *scene) { s.later(time.Second) }), claims(wire.JobStart, 1), `
			carry r:1 from 1
			thread State=RUNNING Fence=1 LeaseUntil=1m1s
			run r State=RUNNING StartedAt=1s Segments=1 WorkerSince=1s
			+ entry 1 Type=RUN_STARTED Payload={runId:r,streamId:r:1,segment:1,enqueuedAt:0s} RunID=r`},
		{"a queued run, with a revision", queued, func(s *scene) string {
			return s.claim(ClaimRequest{
				Revision: func(r store.RunRow) (wire.RevisionID, error) { return wire.RevisionID("v1 of " + r.ID), nil },
			})
		}, `
			carry r:1 from 1
			thread State=RUNNING Fence=1 LeaseUntil=1m0s
			run r State=RUNNING Segments=1 Revision=v1 of r WorkerSince=0s
			+ entry 1 Type=RUN_STARTED Payload={runId:r,streamId:r:1,segment:1,revision:v1 of r,enqueuedAt:0s} RunID=r`},
		{"a queued run, with its ticket", queued, func(s *scene) string { return s.claim(unclaimed) }, `
			carry r:1 from 1
			thread State=RUNNING Fence=1 LeaseUntil=1m0s
			run r State=RUNNING Segments=1 WorkerSince=0s
			+ entry 1 Type=RUN_STARTED Payload={runId:r,streamId:r:1,segment:1,enqueuedAt:0s} RunID=r
			job run:r:1 Model=- Agent=- Subject=- Queue=- State=inflight Attempts=1`},
		{"a queued run whose revision cannot be saved", queued, func(s *scene) string {
			return s.claim(ClaimRequest{Revision: func(store.RunRow) (wire.RevisionID, error) { return "", errors.New("no") }})
		}, `
			error: Internal error`},
		{"a run of an agent that the process lacks", queued, func(s *scene) string {
			return s.claim(ClaimRequest{
				CheckAgent: func(agent string) error { return spool.Errorf(spool.NotFound, "no agent %q", agent) },
				Job:        wire.Job{Agent: "b"},
			})
		}, `
			error: no agent "b"`},
		{"a run whose agent the job does not name", queued, func(s *scene) string {
			return s.claim(ClaimRequest{CheckAgent: func(agent string) error {
				if agent == "" {
					return nil
				}
				return spool.Errorf(spool.NotFound, "no agent %q", agent)
			}})
		}, `
			error: no agent "a"`},
		{"a run of a thread that is gone", nil, claims(wire.JobStart, 1), `
			the thread is gone`},
		{"a run that waits", and(queued, waiting("w1", spool.BusyEnqueue)), func(s *scene) string {
			return s.claim(ClaimRequest{Job: wire.Job{RunID: "w1"}})
		}, `
			the run waits for its thread`},
		{"a run that does not have the thread any more", and(said, queuedAgain), claims(wire.JobStart, 1), `
			another run has the thread`},
		{"a run that the thread does not have", queued, func(s *scene) string {
			return s.claim(ClaimRequest{Job: wire.Job{RunID: "other"}})
		}, `
			another run has the thread`},
		{"a run that has ended", said, claims(wire.JobStart, 1), `
			the run has ended`},
		{"a run with a worker", and(running, func(s *scene) { s.later(time.Second) }), claims(wire.JobStart, 1), `
			another worker has the run for 59s`},
		{"a retry", and(running, func(s *scene) {
			s.work(func(tx *Tx) error { return RetryLater(tx, time.Second, "no") })
		}), claims(wire.JobRetry, 2), `
			carry r:2 from 3
			thread State=RUNNING Fence=2 LeaseUntil=1m0s
			run r State=RUNNING Segments=2 WorkerSince=0s
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r`},
		{"a queued run, by its earlier ticket", and(running, func(s *scene) {
			s.work(func(tx *Tx) error { return RetryLater(tx, time.Second, "no") })
		}), claims(wire.JobStart, 1), `
			unchanged a later ticket exists`},
		{"a queued run, by an expiry", queued, claims(wire.JobExpiry, 0), `
			unchanged the park was resolved`},
		{"a queued run that was stopped", and(queued, with("r", stopAsked)), claims(wire.JobStart, 1), `
			the run was stopped before its turn, decided
			thread State=CANCELLED Fence=1
			run r State=CANCELLED StopReason=cancelled EndedAt=0s`},
		{
			"a queued run that was stopped, with a settle hook", and(settles, queued, with("r", stopAsked)),
			claims(wire.JobStart, 1), `
			the run was stopped before its turn, settle r saved 0-0
			thread Fence=1 LeaseUntil=1m0s
			run r Ending={State=CANCELLED Reason=cancelled Closed=true}`,
		},
		{
			"a run whose settle hook did not return",
			and(settles, queued, with("r", stopAsked), claimed("r"), func(s *scene) { s.later(time.Hour) }),
			claims(wire.JobReclaim, 1), `
			, settle r saved 0-0
			thread Fence=2 LeaseUntil=1h1m0s`,
		},
		{
			"a run whose last segment is open and whose settle hook is gone", and(lost, decided(wire.Failed)),
			claims(wire.JobReclaim, 1), `
			, settle r saved 0-0
			thread Fence=2 LeaseUntil=3m0s`,
		},
		{
			"a run with a budget", and(queued, with("r",
				func(r *store.RunRow) { r.Allowance = &wire.Allowance{Budget: spool.Budget{Tokens: 9}} })),
			claims(wire.JobStart, 1), `
			carry r:1 from 1
			thread State=RUNNING Fence=1 LeaseUntil=1m0s
			run r State=RUNNING Allowance={Budget={Tokens=9} Since=0s} Segments=1 WorkerSince=0s
			+ entry 1 Type=RUN_STARTED Payload={runId:r,streamId:r:1,segment:1,enqueuedAt:0s} RunID=r`,
		},
	})
}

// A claim of a run whose worker has died.
func TestClaimLost(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"the first", lost, claims(wire.JobReclaim, 0), `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost`},
		{
			"after it has saved a step", and(lost, with("r", func(r *store.RunRow) { r.Saved = wire.Offset{Fence: 1, N: 4} })),
			claims(wire.JobReclaim, 0), `
			carry r:2 from 3, close r:1 at 1-6
			thread Fence=2 LeaseUntil=3m0s
			run r Segments=2 Saved=- WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1 After=1-6
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost`,
		},
		{"that was stopped", and(lost, with("r", stopAsked)), claims(wire.JobReclaim, 0), `
			the run has ended with its worker, decided, close r:1 at 0-0
			thread State=CANCELLED Fence=2 LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=2m0s WallTime=1m0s WorkerSince=- Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost`},
		{"that was stopped with a draft", and(lost, drafted, with("r", stopAsked)), claims(wire.JobReclaim, 0), `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r`},
		{"the second of two: it backs off", died(1, 0), claims(wire.JobReclaim, 0), `
			several workers died in the run's step: it waits, and then runs isolated, close r:1 at 0-0, wake the workers
			thread State=QUEUED Fence=2 LeaseUntil=-
			run r State=QUEUED WallTime=1m0s WorkerSince=- Deaths=2
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost
			+ job run:r:2 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=2m1s State=delayed`},
		{
			"the third of ten: it backs off", and(died(2, 0), func(s *scene) { s.rules.Retry.Deaths = 10 }),
			claims(wire.JobReclaim, 0), `
			several workers died in the run's step: it waits, and then runs isolated, close r:1 at 0-0, wake the workers
			thread State=QUEUED Fence=2 LeaseUntil=-
			run r State=QUEUED WallTime=1m0s WorkerSince=- Deaths=3
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost
			+ job run:r:2 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=2m1s State=delayed`,
		},
		{
			"the second of ten: it goes on", and(died(1, 0), func(s *scene) { s.rules.Retry.Deaths = 10 }),
			claims(wire.JobReclaim, 0), `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=2
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost`,
		},
		{
			"isolated, once: it backs off for longer", and(died(2, 0), with("r", func(r *store.RunRow) { r.Isolated = true })),
			claims(wire.JobReclaim, 0), `
			several workers died in the run's step: it waits, and then runs isolated, close r:1 at 0-0, wake the workers
			thread State=QUEUED Fence=2 LeaseUntil=-
			run r State=QUEUED WallTime=1m0s WorkerSince=- IsolatedDeaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost
			+ job run:r:2 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=2m2s State=delayed`,
		},
		{"isolated, too often", died(2, 1), func(s *scene) string {
			return s.claim(ClaimRequest{Job: wire.Job{RunID: "r", Key: "mine", Kind: wire.JobReclaim, DueAt: s.At}})
		}, `
			the run has ended with its worker, decided, close r:1 at 0-0
			thread State=FAILED Fence=2 LeaseUntil=-
			run r State=FAILED StopReason=failed Error=4 workers died in the same step EndedAt=2m0s WallTime=1m0s WorkerSince=- IsolatedDeaths=2
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost
			+ dead 1 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=2m0s State=dead Attempts=4 Cause=4 workers died in the same step`},
		{"isolated, too often, with a settle hook", and(settles, died(2, 1)), claims(wire.JobReclaim, 0), `
			the run has ended with its worker, settle r saved 0-0, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r WallTime=1m0s WorkerSince=- IsolatedDeaths=2 Ending={State=FAILED Reason=failed Error=4 workers died in the same step Closed=true}
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost
			+ job run:r:2 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=3m0s State=delayed
			+ dead 1 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=2m0s State=dead Attempts=4 Cause=4 workers died in the same step`},
		{"isolated, too often, and stopped", and(died(2, 1), drafted, with("r", stopAsked)), claims(wire.JobReclaim, 0), `
			the run has ended with its worker, decided, close r:1 at 0-0
			thread State=CANCELLED Fence=2 LeaseUntil=-
			run r State=CANCELLED StopReason=cancelled EndedAt=2m0s InputTokens=3 TotalTokens=3 Draft=- WallTime=1m0s WorkerSince=- IsolatedDeaths=2
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ dead 1 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=2m0s State=dead Attempts=4 Cause=4 workers died in the same step`},
		{"and backed off: it runs isolated", and(died(1, 0), claimed("r")), claims(wire.JobReclaim, 0), `
			carry r:2 from 3
			thread State=RUNNING Fence=3 LeaseUntil=3m0s
			run r State=RUNNING Segments=2 WorkerSince=2m0s Isolated=true
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r`},
		{"and backed off, while another isolated run has the slot", and(died(1, 0), claimed("r")), func(s *scene) string {
			return s.claim(ClaimRequest{Isolate: func() bool { return false }})
		}, `
			unchanged another isolated run has the slot for 2s`},
		{
			"many times, and stopped with a draft: it goes on at once", and(died(5, 0), drafted, with("r", stopAsked)),
			claims(wire.JobReclaim, 0), `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=6 Isolated=true
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r`,
		},
	})
}

// A claim of a parked run.
func TestClaimParked(t *testing.T) {
	t.Parallel()
	asked := func(parks ...store.Park) func(s *scene) {
		return and(running, func(s *scene) { s.work(func(tx *Tx) error { return errors.Join(ask(tx, parks...), Park(tx)) }) })
	}
	fails := question("c2")
	fails.Expiry.Then = spool.ExpireFail
	late := func(s *scene) { s.later(2 * time.Hour) }
	check(t, []row{
		{"with an open question", parked, claims(wire.JobExpiry, 0), `
			the run waits for input`},
		{
			"with a question that is due for a warning", and(parked, func(s *scene) { s.later(50 * time.Minute) }),
			claims(wire.JobExpiry, 0), `
			the run waits for input
			+ entry 4 Type=INPUT_EXPIRING Payload={toolCallId:c1,expiresAt:1h0m0s} RunID=r
			park c1 Warned=true
			job hitl-expiry:r:c1 DueAt=1h0m0s`,
		},
		{"whose question has expired", expired, claims(wire.JobExpiry, 0), `
			carry r:2 from 5
			thread State=RUNNING Expired={Questions=1 Since=1h0m0s} Fence=2 LeaseUntil=2h1m0s
			run r State=RUNNING Expired={Questions=1 Since=1h0m0s} Segments=2 WorkerSince=2h0m0s
			+ entry 4 Type=INPUT_EXPIRED Payload={toolCallId:c1} RunID=r
			+ entry 5 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r
			park c1 State=expired
			- job hitl-expiry:r:c1`},
		{"whose question has expired, and was stopped", and(expired, with("r", stopAsked)), claims(wire.JobExpiry, 0), `
			carry r:2 from 5
			thread State=RUNNING Expired={Questions=1 Since=1h0m0s} Fence=2 LeaseUntil=2h1m0s
			run r State=RUNNING Expired={Questions=1 Since=1h0m0s} Segments=2 WorkerSince=2h0m0s
			+ entry 4 Type=INPUT_EXPIRED Payload={toolCallId:c1} RunID=r
			+ entry 5 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r
			park c1 State=expired
			- job hitl-expiry:r:c1`},
		{"that fails, because a question has expired", and(asked(question("c1"), fails), late), claims(wire.JobExpiry, 0), `
			nobody has answered in time, decided
			thread State=FAILED Expired={Questions=2 Since=1h0m0s} Fence=2
			run r State=FAILED StopReason=failed Error=nobody answered the call of send in time EndedAt=2h0m0s Expired={Questions=2 Since=1h0m0s}
			+ message msg2 Role=tool Content=[{Type=tool-result ToolCallID=c1 ToolName=send Result={responded:false,cancelled:true,reason:timeout}} {Type=tool-result ToolCallID=c2 ToolName=send Result={responded:false,cancelled:true,reason:timeout}}] RunID=r
			+ entry 5 Type=INPUT_EXPIRED Payload={toolCallId:c1} RunID=r
			+ entry 6 Type=INPUT_EXPIRED Payload={toolCallId:c2,onExpiry:fail} RunID=r
			park c1 State=expired Landed=true
			park c2 State=expired Landed=true
			- job hitl-expiry:r:c1
			- job hitl-expiry:r:c2`},
		{"that fails, with a settle hook", and(settles, asked(fails), late), claims(wire.JobExpiry, 0), `
			nobody has answered in time, settle r saved 0-0
			thread Expired={Questions=1 Since=1h0m0s} Fence=2 LeaseUntil=2h1m0s
			run r Expired={Questions=1 Since=1h0m0s} Ending={State=FAILED Reason=failed Error=nobody answered the call of send in time Closed=true}
			+ entry 4 Type=INPUT_EXPIRED Payload={toolCallId:c2,onExpiry:fail} RunID=r
			park c2 State=expired
			+ job run:r:2 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=2h1m0s State=delayed
			- job hitl-expiry:r:c2`},
		{"whose answers are there", and(parked, answered1), claims(wire.JobResume, 2), `
			carry r:2 from 5
			thread State=RUNNING Fence=2 LeaseUntil=1m0s
			run r State=RUNNING Segments=2 WorkerSince=0s
			+ entry 5 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r`},
		{"that waits for a tool", asked(pendingCall("c1")), claims(wire.JobExpiry, 0), `
			the run waits for a tool`},
	})
}

// answered1 answers the call c1.
func answered1(s *scene) { answers(Response{ToolCallID: "c1", Approved: true})(s) }

// answers gives answers to questions, and says how each was refused.
func answers(responses ...Response) func(s *scene) string {
	return func(s *scene) string {
		return s.on(func(tx *Tx) (string, error) {
			a, err := Answer(tx, responses)
			said := []string{"answered"}
			for _, no := range a.Refused {
				if no == nil {
					said = append(said, "delivered")
				} else {
					said = append(said, no.Reason+": "+no.Text)
				}
			}
			if a.Resumed {
				said = append(said, "resumed")
			}
			return strings.Join(said, ", "), err
		})
	}
}

// pendingCall is a park of a call that waits for its own tool.
func pendingCall(id spool.ToolCallID) store.Park {
	return store.Park{
		ToolCallID: id, ToolName: "build", State: wire.ParkPending, Reason: wire.ParkToolPending, Step: 1, Args: []byte(`{}`),
		Pending: &wire.PendingCall{
			State: []byte(`1`), After: time.Minute, Until: maptx.Start.Add(24 * time.Hour), Note: "began",
		},
	}
}

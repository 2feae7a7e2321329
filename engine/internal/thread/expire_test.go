package thread

import (
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func after(d time.Duration) func(s *scene) { return func(s *scene) { s.later(d) } }

// reclaims expires what is due.
func reclaims(s *scene) string {
	return s.on(func(tx *Tx) (string, error) {
		moved, err := Reclaim(tx)
		if moved {
			return "it can go on", err
		}
		return "it waits", err
	})
}

// marked is a run with questions that nobody answered in time.
func marked(s *scene) {
	with("r", func(r *store.RunRow) { r.Expired = wire.Expired{Questions: 2, Since: s.Now()} })(s)
	s.Rows.Thread.Expired = s.Rows.Runs[0].Expired
}

// redispatches is what a sweep does with a run that has no job.
func redispatches(s *scene) string {
	return s.on(func(tx *Tx) (string, error) { return "redispatched", Redispatch(tx) })
}

func TestReclaim(t *testing.T) {
	t.Parallel()
	extends, fails, quiet := question("c1"), question("c2"), question("c1")
	extends.Expiry = spool.Expiry{Then: spool.ExpireExtend, Extensions: 2}.Or(time.Hour)
	last := extends
	last.Expiry.Extensions = 1
	fails.Expiry.Then, quiet.Expiry.Warn = spool.ExpireFail, -1
	early, earlier := quiet, quiet
	early.Expiry.Warn, earlier.Expiry.Warn = time.Hour, 2*time.Hour
	check(t, []row{
		{"a run with a worker", running, reclaims, `
			unchanged it waits`},
		{"a run whose end is decided", and(parked, decided(wire.Cancelled)), reclaims, `
			unchanged it waits`},
		{"before the warning", and(parked, after(48*time.Minute-1)), reclaims, `
			it waits`},
		{"at the warning", and(parked, after(48*time.Minute)), reclaims, `
			it waits
			+ entry 4 Type=INPUT_EXPIRING Payload={toolCallId:c1,expiresAt:1h0m0s} RunID=r
			park c1 Warned=true
			job hitl-expiry:r:c1 DueAt=1h0m0s`},
		{
			"after the warning", and(parked, after(48*time.Minute), func(s *scene) { reclaims(s) }, after(time.Minute)),
			reclaims, `
			it waits`,
		},
		{"without a warning", and(asks(quiet), after(time.Hour-1)), reclaims, `
			it waits`},
		{"with a warning at the very begin", and(asks(early), after(time.Hour-1)), reclaims, `
			it waits`},
		{"with a warning before the begin", and(asks(earlier), after(time.Hour-1)), reclaims, `
			it waits`},
		{
			"at the end of a question from before there were actions",
			and(asks(fails), func(s *scene) { s.Rows.Parks[0].Expiry = spool.Expiry{} }, after(time.Hour)), reclaims, `
			it can go on
			thread Expired={Questions=1 Since=1h0m0s}
			run r Expired={Questions=1 Since=1h0m0s}
			+ entry 4 Type=INPUT_EXPIRED Payload={toolCallId:c2} RunID=r
			park c2 State=expired
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=1h0m0s State=ready
			- job hitl-expiry:r:c2`,
		},
		{"at the end", and(parked, after(time.Hour)), reclaims, `
			it can go on
			thread Expired={Questions=1 Since=1h0m0s}
			run r Expired={Questions=1 Since=1h0m0s}
			+ entry 4 Type=INPUT_EXPIRED Payload={toolCallId:c1} RunID=r
			park c1 State=expired
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=1h0m0s State=ready
			- job hitl-expiry:r:c1`},
		{"at the end, for the first of two", and(asks(question("c1"), extends2()), after(time.Hour)), reclaims, `
			it waits
			thread Expired={Questions=1 Since=1h0m0s}
			run r Expired={Questions=1 Since=1h0m0s}
			+ entry 5 Type=INPUT_EXPIRED Payload={toolCallId:c1} RunID=r
			park c1 State=expired
			- job hitl-expiry:r:c1`},
		{"at the end of an extended question", and(asks(extends), after(time.Hour)), reclaims, `
			it waits
			+ entry 4 Type=INPUT_EXTENDED Payload={toolCallId:c1,expiresAt:2h0m0s,onExpiry:extend} RunID=r
			+ entry 5 Type=INPUT_REQUIRED Payload={toolCallId:c1,toolName:send,agentId:null,arguments:{to:1},inputSchema:{of:tool},frames:[],reason:approval,expiresAt:2h0m0s,onExpiry:extend} RunID=r
			park c1 ExpiresAt=2h0m0s Expiry={Then=extend TTL=1h0m0s Warn=12m0s Extensions=1}
			job hitl-expiry:r:c1 DueAt=1h48m0s`},
		{"at the end of a question that is extended for the last time", and(asks(last), after(time.Hour)), reclaims, `
			it waits
			+ entry 4 Type=INPUT_EXTENDED Payload={toolCallId:c1,expiresAt:2h0m0s} RunID=r
			+ entry 5 Type=INPUT_REQUIRED Payload={toolCallId:c1,toolName:send,agentId:null,arguments:{to:1},inputSchema:{of:tool},frames:[],reason:approval,expiresAt:2h0m0s} RunID=r
			park c1 ExpiresAt=2h0m0s Expiry={Then=deny TTL=1h0m0s Warn=12m0s}
			job hitl-expiry:r:c1 DueAt=1h48m0s`},
		{
			"at the end of the last extension",
			and(asks(last), after(time.Hour), func(s *scene) { reclaims(s) }, after(time.Hour)), reclaims, `
			it can go on
			thread Expired={Questions=1 Since=2h0m0s}
			run r Expired={Questions=1 Since=2h0m0s}
			+ entry 6 Type=INPUT_EXPIRED Payload={toolCallId:c1} RunID=r
			park c1 State=expired
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=2h0m0s State=ready
			- job hitl-expiry:r:c1`,
		},
		{"at the end of a question that fails the run", and(asks(fails, extends), after(time.Hour)), reclaims, `
			it can go on
			thread Expired={Questions=1 Since=1h0m0s}
			run r Expired={Questions=1 Since=1h0m0s}
			+ entry 5 Type=INPUT_EXPIRED Payload={toolCallId:c2,onExpiry:fail} RunID=r
			+ entry 6 Type=INPUT_EXTENDED Payload={toolCallId:c1,expiresAt:2h0m0s,onExpiry:extend} RunID=r
			+ entry 7 Type=INPUT_REQUIRED Payload={toolCallId:c1,toolName:send,agentId:null,arguments:{to:1},inputSchema:{of:tool},frames:[],reason:approval,expiresAt:2h0m0s,onExpiry:extend} RunID=r
			park c2 State=expired
			park c1 ExpiresAt=2h0m0s Expiry={Then=extend TTL=1h0m0s Warn=12m0s Extensions=1}
			job hitl-expiry:r:c1 DueAt=1h48m0s
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=1h0m0s State=ready
			- job hitl-expiry:r:c2`},
		{"behind a tool that is not done", and(asks(question("c1"), pendingCall("c3")), after(time.Hour)), reclaims, `
			it can go on
			thread Expired={Questions=1 Since=1h0m0s}
			run r Expired={Questions=1 Since=1h0m0s}
			+ entry 5 Type=INPUT_EXPIRED Payload={toolCallId:c1} RunID=r
			park c1 State=expired
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=1h0m0s State=ready
			- job hitl-expiry:r:c1`},
		{"only a tool that is not done", asks(pendingCall("c3")), reclaims, `
			it waits`},
	})
}

// extends2 is another question, which is extended.
func extends2() store.Park {
	p := question("c2")
	p.Expiry = spool.Expiry{Then: spool.ExpireExtend}.Or(2 * time.Hour)
	return p
}

func TestRedispatch(t *testing.T) {
	t.Parallel()
	jobless := func(s *scene) { s.Rows.Jobs = nil }
	check(t, []row{
		{"a run with a worker", and(running, jobless), redispatches, `
			unchanged redispatched`},
		{"a run that has ended", said, redispatches, `
			unchanged redispatched`},
		{"a queued run", and(queued, jobless), redispatches, `
			redispatched
			+ job run:r:1 RunID=r Model=m Agent=a Kind=reclaim Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"a run whose worker has died", and(lost, jobless), redispatches, `
			redispatched
			+ job run:r:2 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=2m0s State=ready`},
		{"a parked run", and(parked, jobless), redispatches, `
			redispatched
			+ job hitl-expiry:r:c1 RunID=r Model=m Agent=a Kind=expiry Subject=ann Queue=of a DueAt=48m0s State=delayed`},
		{
			"a parked run whose warning was given", and(parked, after(50*time.Minute), func(s *scene) { reclaims(s) }, jobless),
			redispatches, `
			redispatched
			+ job hitl-expiry:r:c1 RunID=r Model=m Agent=a Kind=expiry Subject=ann Queue=of a DueAt=1h0m0s State=delayed`,
		},
		{"a parked run whose question has expired", and(parked, jobless, after(time.Hour)), redispatches, `
			redispatched
			thread Expired={Questions=1 Since=1h0m0s}
			run r Expired={Questions=1 Since=1h0m0s}
			+ entry 4 Type=INPUT_EXPIRED Payload={toolCallId:c1} RunID=r
			park c1 State=expired
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=1h0m0s State=ready`},
		{"a parked run whose answers are there", and(parked, answered1, jobless), redispatches, `
			redispatched
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"a parked run that waits for a tool", and(asks(pendingCall("c1"), question("c2")), jobless), redispatches, `
			redispatched
			+ job hitl-expiry:r:c2 RunID=r Model=m Agent=a Kind=expiry Subject=ann Queue=of a DueAt=48m0s State=delayed
			+ job poll:r:c1 RunID=r Model=m Agent=a Kind=poll Subject=ann Queue=of a DueAt=1m0s State=delayed`},
		{"a parked run whose end is decided", and(parked, jobless, decided(wire.Cancelled)), redispatches, `
			redispatched
			+ job run:r:2 RunID=r Model=m Agent=a Kind=reclaim Segment=2 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"no thread", nil, redispatches, `
			error: Thread not found`},
		{"a thread without a run", func(s *scene) { s.Rows.Thread = &wire.Thread{State: wire.Idle} }, redispatches, `
			error: Thread has no run`},
	})
}

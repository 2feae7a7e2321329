package thread

import (
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// delivers puts the messages of the steers into the run. As many fit as the budget has room for.
func delivers(room int) func(s *scene) string {
	return func(s *scene) string {
		return s.work(func(tx *Tx) error {
			fits := func(_ *wire.Allowance, steers []spool.Message, _ time.Time) bool { return len(steers) <= room }
			messages, err := DeliverSteers(tx, fits)
			for _, m := range messages {
				s.items = append(s.items, m.Text())
			}
			return err
		})
	}
}

// scoped starts a steer with scopes.
func scoped(id spool.RunID, scopes ...string) func(s *scene) {
	return func(s *scene) {
		r := request(id, spool.BusySteer)
		r.Run.Scopes, r.ClientMessageID = scopes, "of "+string(id)
		s.start(r)
	}
}

func TestSteer(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"a running run", running, begin("s1", spool.BusySteer), `
			position 1, steers r
			run r Steered=true
			+ run s1 Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=2147483649 Wait={WhenBusy=steer Position=1 Content=[{Type=text Text=go s1}] Steers=r}`},
		{"a parked run, behind another", and(parked, waiting("w1", spool.BusyEnqueue)), begin("s1", spool.BusySteer), `
			position 1, steers r
			run r Steered=true
			+ run s1 Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=2147483649 Wait={WhenBusy=steer Position=1 Content=[{Type=text Text=go s1}] Steers=r}`},
		{"with an edit, which only waits", and(said, queuedAgain), edits("s1", spool.BusySteer, 0), `
			position 1
			+ run s1 Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s QueuePosition=2147483649 Wait={WhenBusy=enqueue Position=1 Content=[{Type=text Text=go s1}] EditMessageID=msg1}`},
		{"a thread without a run", nil, begin("s1", spool.BusySteer), `
			position 0
			+ thread State=QUEUED Model=m Title=a title Owner=ann RunID=s1
			+ run s1 Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s
			+ message msg1 Role=user Content=[{Type=text Text=go s1}] RunID=s1
			+ job run:s1:1 RunID=s1 Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
	})
}

func TestDeliverSteers(t *testing.T) {
	t.Parallel()
	steered := and(running, scoped("s1"), scoped("s2"))
	check(t, []row{
		{"nothing", and(running, with("r", func(r *store.RunRow) { r.Steered = true })), delivers(9), `
			ok
			run r Steered=-`},
		{"two", and(steered, after(time.Second), with("r", func(r *store.RunRow) { r.Steps = 3 })), delivers(9), `
			ok
			run r Steered=-
			run s1 State=COMPLETED StopReason=steered EndedAt=1s QueuePosition=- Wait={WhenBusy=steer Position=1 Steers=r Delivered={RunID=r MessageID=msg2}}
			run s2 State=COMPLETED StopReason=steered EndedAt=1s QueuePosition=- Wait={WhenBusy=steer Position=2 Steers=r Delivered={RunID=r MessageID=msg3}}
			+ message msg2 Role=user Content=[{Type=text Text=go s1}] ClientMessageID=of s1 RunID=r
			+ message msg3 Role=user Content=[{Type=text Text=go s2}] ClientMessageID=of s2 RunID=r
			+ entry 2 Type=STEERED Payload={runId:r,steerRunId:s1,messageId:msg2,clientMessageId:of s1,enqueuedAt:0s,steps:3} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=STEERED Payload={runId:r,steerRunId:s2,messageId:msg3,clientMessageId:of s2,enqueuedAt:0s,steps:3} RunID=r Stream=r:1 After=1-0`},
		{"two, with a settle hook", and(settles, steered), delivers(9), `
			ok, wake the workers
			run r Steered=-
			run s1 State=COMPLETED StopReason=steered EndedAt=0s QueuePosition=- Wait={WhenBusy=steer Position=1 Steers=r Delivered={RunID=r MessageID=msg2}}
			run s2 State=COMPLETED StopReason=steered EndedAt=0s QueuePosition=- Wait={WhenBusy=steer Position=2 Steers=r Delivered={RunID=r MessageID=msg3}}
			+ message msg2 Role=user Content=[{Type=text Text=go s1}] ClientMessageID=of s1 RunID=r
			+ message msg3 Role=user Content=[{Type=text Text=go s2}] ClientMessageID=of s2 RunID=r
			+ entry 2 Type=STEERED Payload={runId:r,steerRunId:s1,messageId:msg2,clientMessageId:of s1,enqueuedAt:0s,steps:0} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=STEERED Payload={runId:r,steerRunId:s2,messageId:msg3,clientMessageId:of s2,enqueuedAt:0s,steps:0} RunID=r Stream=r:1 After=1-0
			+ job settle:s1 RunID=s1 Model=m Agent=a Kind=settle Subject=ann Queue=of a DueAt=0s State=ready
			+ job settle:s2 RunID=s2 Model=m Agent=a Kind=settle Subject=ann Queue=of a DueAt=0s State=ready`},
		{"one, as the budget has no room for the second", steered, delivers(1), `
			ok
			run s1 State=COMPLETED StopReason=steered EndedAt=0s QueuePosition=- Wait={WhenBusy=steer Position=1 Steers=r Delivered={RunID=r MessageID=msg2}}
			+ message msg2 Role=user Content=[{Type=text Text=go s1}] ClientMessageID=of s1 RunID=r
			+ entry 2 Type=STEERED Payload={runId:r,steerRunId:s1,messageId:msg2,clientMessageId:of s1,enqueuedAt:0s,steps:0} RunID=r Stream=r:1 After=1-0`},
		{"none, as the budget has no room", steered, delivers(0), `
			unchanged ok`},
		{
			"not the one of another subject, nor what is behind it",
			and(running, func(s *scene) { byBob("s1", spool.BusySteer, false)(s) }, scoped("s2")), delivers(9), `
			ok
			run r Steered=-`,
		},
		{"that lacks a scope of the run", and(running, with("r", func(r *store.RunRow) { r.Scopes = []string{"a", "b"} }),
			scoped("s1", "a")), delivers(9), `
			ok
			run r Steered=-`},
		{
			"the one with more scopes than the run",
			and(running, with("r", func(r *store.RunRow) { r.Scopes = []string{"a"} }), scoped("s1", "b", "a")), delivers(9), `
			ok
			run r Steered=-
			run s1 State=COMPLETED StopReason=steered EndedAt=0s QueuePosition=- Wait={WhenBusy=steer Position=1 Steers=r Delivered={RunID=r MessageID=msg2}}
			+ message msg2 Role=user Content=[{Type=text Text=go s1}] ClientMessageID=of s1 RunID=r
			+ entry 2 Type=STEERED Payload={runId:r,steerRunId:s1,messageId:msg2,clientMessageId:of s1,enqueuedAt:0s,steps:0} RunID=r Stream=r:1 After=1-0`,
		},
		{"not behind an interrupt", and(steered, waiting("w1", spool.BusyInterrupt),
			with("r", func(r *store.RunRow) { r.StopAt = time.Time{} })), delivers(9), `
			ok
			run r Steered=-`},
		{"into a run that was asked to stop", and(steered, with("r", stopAsked)), delivers(9), `
			unchanged ok`},
		{"into a run whose end is decided", and(steered, decided(wire.Completed)), delivers(9), `
			unchanged ok`},
		{
			"into a run whose answer is only paused", and(steered, with("r", func(r *store.RunRow) { r.Paused = true })),
			delivers(9), `
			unchanged ok`,
		},
		{"into a run whose answer is under way", and(steered, resumable("r")), delivers(9), `
			unchanged ok`},
		{"into a run whose budget is used up", and(steered, spent), delivers(9), `
			unchanged ok`},
		{"into a nested run", and(steered, nests), func(s *scene) string {
			return s.inNested(func(n *Tx) error {
				_, err := DeliverSteers(n, nil)
				return err
			})
		}, `
			unchanged ok`},
	})
}

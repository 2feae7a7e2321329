package thread

import (
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// looks stores what a look at the pending call c1 has found.
func looks(still *spool.PendingError) func(s *scene) string {
	return func(s *scene) string {
		seen := pendingCall("c1")
		seen.RunID = "r"
		for _, p := range s.Rows.Parks {
			if p.ToolCallID == "c1" {
				seen = p
			}
		}
		return s.on(func(tx *Tx) (string, error) { return "looked", Polled(tx, seen, still) })
	}
}

func TestPolled(t *testing.T) {
	t.Parallel()
	still := &spool.PendingError{After: 2 * time.Minute, State: []byte(`2`), Note: "half"}
	waits, later := asks(pendingCall("c1")), after(time.Minute)
	noted := pendingCall("c1")
	noted.Pending.Notes = maxNotes
	moved := func(s *scene) string {
		seen := s.Rows.Parks[0]
		seen.Pending = &wire.PendingCall{NextAt: s.At.Add(time.Second)}
		return s.on(func(tx *Tx) (string, error) { return "looked", Polled(tx, seen, still) })
	}
	nestedCall := pendingCall("c1")
	nestedCall.RunID, nestedCall.AgentID = "r", "n1"
	check(t, []row{
		{"not done", and(waits, later), looks(still), `
			looked
			+ entry 4 Type=CALL_PENDING Payload={toolCallId:c1,toolName:build,note:half,until:24h0m0s} RunID=r
			park c1 Pending={State=2 After=1m0s NextAt=3m0s Until=24h0m0s Note=half Notes=1}
			job poll:r:c1 DueAt=3m0s`},
		{
			"not done, with the same note", and(waits, later),
			looks(&spool.PendingError{After: time.Second, State: []byte(`2`), Note: "began"}), `
			looked, unseen
			park c1 Pending={State=2 After=1m0s NextAt=1m1s Until=24h0m0s Note=began}
			job poll:r:c1 DueAt=1m1s`,
		},
		{"not done, with a note too many", and(asks(noted), later), looks(still), `
			looked, unseen
			park c1 Pending={State=2 After=1m0s NextAt=3m0s Until=24h0m0s Note=began Notes=100}
			job poll:r:c1 DueAt=3m0s`},
		{
			"not done, with the next look behind the end of its time", and(waits, after(24*time.Hour-time.Second)), looks(still),
			`
			looked
			+ entry 4 Type=CALL_PENDING Payload={toolCallId:c1,toolName:build,note:half,until:24h0m0s} RunID=r
			park c1 Pending={State=2 After=1m0s NextAt=24h0m0s Until=24h0m0s Note=half Notes=1}
			job poll:r:c1 DueAt=24h0m0s`,
		},
		{"not done, at the end of its time", and(waits, after(24*time.Hour)), looks(still), `
			looked, wake the workers, unseen
			park c1 Pending={State=1 After=1m0s NextAt=1m0s Until=24h0m0s Ready=true Note=began}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=24h0m0s State=ready
			- job poll:r:c1`},
		{"not done, while a worker has the run", and(asks(pendingCall("c1"), question("c2")), later, func(s *scene) {
			answers(Response{ToolCallID: "c2"})(s)
			s.claim(ClaimRequest{})
		}), looks(still), `
			looked, unseen
			park c1 Pending={State=2 After=1m0s NextAt=3m0s Until=24h0m0s Note=began}
			job poll:r:c1 DueAt=3m0s`},
		{"done", and(waits, later), looks(nil), `
			looked, wake the workers, unseen
			park c1 Pending={State=1 After=1m0s NextAt=1m0s Until=24h0m0s Ready=true Note=began}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=1m0s State=ready
			- job poll:r:c1`},
		{"done, with an open question beside it", and(asks(pendingCall("c1"), question("c2")), later), looks(nil), `
			looked, unseen
			park c1 Pending={State=1 After=1m0s NextAt=1m0s Until=24h0m0s Ready=true Note=began}
			- job poll:r:c1`},
		{"done, while a worker has the run", and(asks(pendingCall("c1"), question("c2")), later, func(s *scene) {
			answers(Response{ToolCallID: "c2"})(s)
			s.claim(ClaimRequest{})
		}), looks(nil), `
			looked, unseen
			park c1 Pending={State=1 After=1m0s NextAt=1m0s Until=24h0m0s Ready=true Note=began}
			- job poll:r:c1`},
		{"of a nested run, not done", and(running, nests, func(s *scene) {
			s.work(func(tx *Tx) error { return tx.Write(store.Changes{Parks: []store.Park{nestedCall}}) })
			s.work(Park)
		}), looks(still), `
			looked
			+ entry 4 Type=CALL_PENDING Payload={toolCallId:c1,toolName:build,agentId:n1,note:half,until:24h0m0s} RunID=r
			park c1 Pending={State=2 After=1m0s NextAt=2m0s Until=24h0m0s Note=half Notes=1}
			job poll:r:c1 DueAt=2m0s`},
		{"looked at already", and(waits, later), moved, `
			unchanged looked`},
		{"found done already", and(waits, later, func(s *scene) { looks(nil)(s) }), looks(nil), `
			unchanged looked`},
		{"of another run", and(said, queuedAgain), looks(nil), `
			unchanged looked`},
		{"of a run that has ended", said, looks(nil), `
			unchanged looked`},
		{"of a run whose end is decided", and(waits, decided(wire.Cancelled)), looks(nil), `
			unchanged looked`},
		{"of a run without such a call", parked, looks(nil), `
			unchanged looked`},
	})
}

func TestShortNote(t *testing.T) {
	t.Parallel()
	for note, want := range map[string]string{
		"": "", "half": "half", strings.Repeat("a", 501): strings.Repeat("a", 500),
		"a" + strings.Repeat("é", 250): "a" + strings.Repeat("é", 249),
	} {
		if got := ShortNote(note); got != want {
			t.Errorf("%q becomes %q", note, got)
		}
	}
}

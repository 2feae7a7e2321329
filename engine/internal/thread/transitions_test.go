package thread

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// states are the ways to each state of a thread. The run is r.
var states = []struct {
	name string
	make func(s *scene)
}{
	{"none", func(*scene) {}},
	{"queued", queued},
	{"running", running},
	{"lost", lost},
	{"parked", parked},
	{"expired", expired},
	{"completed", ended(wire.Completed)},
	{"failed", ended(wire.Failed)},
}

// moves are what may happen to a thread that no worker holds, or beside its worker.
var moves = []struct {
	name string
	do   func(s *scene) string
}{
	{"start", begin("next", spool.BusyReject)},
	{"start in line", begin("next", spool.BusyEnqueue)},
	{"start instead", begin("next", spool.BusyInterrupt)},
	{"claim", claims(wire.JobStart, 0)},
	{"expiry", claims(wire.JobExpiry, 0)},
	{"stop", stops("")},
	{"answer", answers(Response{ToolCallID: "c1", Payload: []byte("1")})},
	{"dead job", dead(wire.Job{RunID: "r"})},
	{"sweep", redispatches},
}

// after is the state of the thread, and the entries that were added after seq.
func (s *scene) after(seq int64) string {
	if s.Rows.Thread == nil {
		return ""
	}
	state := string(s.Rows.Thread.State) + " of " + string(s.Rows.Thread.RunID)
	if s.Rows.Thread.Leased(s.At) {
		state += ", leased"
	}
	var entries strings.Builder
	for _, e := range s.Rows.Entries[seq:] {
		entries.WriteString(" +" + string(e.Type))
	}
	return state + entries.String()
}

// Each transition from each state leads where the table says, and to nothing else.
func TestTransitions(t *testing.T) {
	t.Parallel()
	for _, from := range states {
		t.Run(from.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, move := range moves {
				s := newScene(t)
				from.make(s)
				seq := int64(len(s.Rows.Entries))
				said := move.do(s)
				got = append(got, strings.TrimSpace(move.name+": "+said+" | "+s.after(seq)))
			}
			if diff := cmp.Diff(strings.TrimSpace(table[from.name]), strings.Join(got, "\n")); diff != "" {
				t.Errorf("from %s (-want +got):\n%s", from.name, diff)
			}
		})
	}
}

// A run whose workers die executes isolated after a few deaths, and ends after more.
func TestDeathsOfWorkers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	queued(s)
	var got []string
	for range 7 {
		seq := int64(len(s.Rows.Entries))
		said := claims(wire.JobReclaim, 0)(s)
		got = append(got, said+" | "+s.after(seq))
		s.later(2 * time.Minute)
	}
	want := []string{
		"carry r:1 from 1 | RUNNING of r, leased +RUN_STARTED",
		"carry r:2 from 3, close r:1 at 0-0 | RUNNING of r, leased +RUN_ENDED +RUN_STARTED",
		"several workers died in the run's step: it waits, and then runs isolated, close r:2 at 0-0, wake the workers | QUEUED of r +RUN_ENDED",
		"carry r:3 from 5 | RUNNING of r, leased +RUN_STARTED",
		"several workers died in the run's step: it waits, and then runs isolated, close r:3 at 0-0, wake the workers | QUEUED of r +RUN_ENDED",
		"carry r:4 from 7 | RUNNING of r, leased +RUN_STARTED",
		"the run has ended with its worker, decided, close r:4 at 0-0 | FAILED of r +RUN_ENDED",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

// table says, for each state, what each transition says and leads to: the thread's state, its run, and the
// entries that were added.
var table = map[string]string{
	"none": `
start: position 0 | QUEUED of next
start in line: position 0 | QUEUED of next
start instead: position 0 | QUEUED of next
claim: the thread is gone |
expiry: the thread is gone |
stop: error: Thread not found |
answer: error: Thread not found |
dead job: error: Thread not found |
sweep: error: Thread not found |`,
	"queued": `
start: refused: active_run: Thread has an active run | QUEUED of r
start in line: position 1 | QUEUED of r
start instead: position 0, note stop of r by ann | QUEUED of next
claim: carry r:1 from 1 | RUNNING of r, leased +RUN_STARTED
expiry: unchanged the park was resolved | QUEUED of r
stop: stopped QUEUED, note stop of r | CANCELLED of r
answer: unchanged answered, no_park: No matching pending input request | QUEUED of r
dead job: dead | FAILED of r
sweep: redispatched | QUEUED of r`,
	"running": `
start: refused: active_run: Thread has an active run | RUNNING of r, leased
start in line: position 1 | RUNNING of r, leased
start instead: position 1, wake the worker, note stop of r by ann | RUNNING of r, leased
claim: another worker has the run for 1m0s | RUNNING of r, leased
expiry: another worker has the run for 1m0s | RUNNING of r, leased
stop: stopped RUNNING, wake the worker, note stop of r | RUNNING of r, leased
answer: unchanged answered, no_park: No matching pending input request | RUNNING of r, leased
dead job: unchanged dead | RUNNING of r, leased
sweep: unchanged redispatched | RUNNING of r, leased`,
	"lost": `
start: refused: active_run: Thread has an active run | RUNNING of r
start in line: position 1 | RUNNING of r
start instead: position 0, close r:1 at 0-0, note stop of r by ann | QUEUED of next +RUN_ENDED
claim: carry r:2 from 3, close r:1 at 0-0 | RUNNING of r, leased +RUN_ENDED +RUN_STARTED
expiry: carry r:2 from 3, close r:1 at 0-0 | RUNNING of r, leased +RUN_ENDED +RUN_STARTED
stop: stopped RUNNING, close r:1 at 0-0, note stop of r | CANCELLED of r +RUN_ENDED
answer: unchanged answered, no_park: No matching pending input request | RUNNING of r
dead job: dead, close r:1 at 0-0 | FAILED of r +RUN_ENDED
sweep: redispatched | RUNNING of r`,
	"parked": `
start: refused: active_run: Thread has an active run | WAITING_FOR_INPUT of r
start in line: position 1 | WAITING_FOR_INPUT of r
start instead: position 0, note stop of r by ann | QUEUED of next
claim: the run waits for input | WAITING_FOR_INPUT of r
expiry: the run waits for input | WAITING_FOR_INPUT of r
stop: stopped WAITING_FOR_INPUT, note stop of r | CANCELLED of r
answer: answered, delivered, resumed, note answer of r | WAITING_FOR_INPUT of r +HITL_RESPONSE
dead job: dead | FAILED of r
sweep: redispatched | WAITING_FOR_INPUT of r`,
	"expired": `
start: refused: active_run: Thread has an active run | WAITING_FOR_INPUT of r
start in line: position 1 | WAITING_FOR_INPUT of r
start instead: position 0, note stop of r by ann | QUEUED of next
claim: carry r:2 from 5 | RUNNING of r, leased +INPUT_EXPIRED +RUN_STARTED
expiry: carry r:2 from 5 | RUNNING of r, leased +INPUT_EXPIRED +RUN_STARTED
stop: stopped WAITING_FOR_INPUT, note stop of r | CANCELLED of r
answer: unchanged answered, already_answered: This request was already answered | WAITING_FOR_INPUT of r
dead job: dead | FAILED of r
sweep: redispatched | WAITING_FOR_INPUT of r +INPUT_EXPIRED`,
	"completed": `
start: position 0 | QUEUED of next
start in line: position 0 | QUEUED of next
start instead: position 0 | QUEUED of next
claim: the run has ended | COMPLETED of r
expiry: the run has ended | COMPLETED of r
stop: unchanged stopped COMPLETED | COMPLETED of r
answer: unchanged answered, no_park: No matching pending input request | COMPLETED of r
dead job: unchanged dead | COMPLETED of r
sweep: unchanged redispatched | COMPLETED of r`,
	"failed": `
start: position 0 | QUEUED of next
start in line: position 0 | QUEUED of next
start instead: position 0 | QUEUED of next
claim: the run has ended | FAILED of r
expiry: the run has ended | FAILED of r
stop: unchanged stopped FAILED | FAILED of r
answer: unchanged answered, no_park: No matching pending input request | FAILED of r
dead job: unchanged dead | FAILED of r
sweep: unchanged redispatched | FAILED of r`,
}

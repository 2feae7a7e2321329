package thread

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/config"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/record"
)

var chat = spool.ThreadKey{Tenant: "t", ID: "c"}

// scene is a thread in a store. Tests run its transitions one by one.
type scene struct {
	t     *testing.T
	store spool.Store
	rules Rules
}

func newScene(t *testing.T) *scene {
	t.Helper()
	return &scene{t: t, store: memory.New(nil).Store, rules: Rules{
		Lease: time.Minute, MaxWaiting: 1, ParkTTL: time.Hour, Log: slog.New(slog.DiscardHandler),
		QueueOf: func(agent string) string { return agent },
		Retry:   config.RetryOptions{Attempts: 3, Deaths: 2, Backoff: time.Second, BackoffMax: time.Minute},
	}}
}

func (s *scene) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// do carries out a transition. It returns what the transition says, or how it was refused.
func (s *scene) do(transition func(store spool.Tx) (string, error)) (result string) {
	s.t.Helper()
	err := s.store.Update(s.t.Context(), chat, 0, func(store spool.Tx) (err error) {
		result, err = transition(store)
		return err
	})
	if refused, ok := errors.AsType[*RefusedError](Refusal(err)); ok {
		return "refused: " + refused.Reason
	}
	switch {
	case errors.Is(err, ErrUnchanged):
		return strings.TrimSpace("unchanged " + result)
	case err != nil:
		return "error: " + string(spool.CodeOf(err))
	}
	return result
}

// on carries out a transition of an open thread, in the stream of its segment where it has one.
func (s *scene) on(list *order.List, transition func(tx *Tx) (string, error)) string {
	s.t.Helper()
	return s.do(func(store spool.Tx) (string, error) {
		tx, err := Open(store, s.rules)
		if err != nil {
			return "", err
		}
		tx.SetList(list)
		return transition(tx)
	})
}

// worker is the list of the worker that holds the run.
func worker() *order.List { return order.New("r:1", 1, order.Mark{}) }

func (s *scene) start(id spool.RunID, busy spool.WhenBusy) string {
	return s.do(func(store spool.Tx) (string, error) {
		run := spool.RunRow{Run: spool.Run{ID: id, Model: "m"}}
		started, err := Start(store, chat, StartRequest{Run: run, Content: spool.Content{{Type: spool.PartText, Text: "go"}}, WhenBusy: busy}, s.rules)
		return followed(fmt.Sprintf("position %d", started.Position), started.Stopped), err
	})
}

// followed is what has to follow a stop, after what a transition says.
func followed(said string, stopped Stopped) string {
	if stopped.Worker {
		said += ", wake the worker"
	}
	if stopped.Unsettled != nil {
		said += ", settle"
	}
	if stopped.Lost != nil {
		said += ", close " + string(stopped.Lost.ID)
	}
	return said
}

func (s *scene) claim(kind spool.JobKind) string {
	return s.do(func(store spool.Tx) (string, error) {
		claim, _, err := Claim(store, ClaimRequest{
			Job: spool.Job{RunID: "r", Kind: kind}, Knows: func(string) error { return nil }, Isolate: func() bool { return true },
		}, s.rules)
		if err == nil && claim.Decided {
			_, err = FinishDecided(store, s.rules)
		}
		said := claim.Reason
		if claim.Segment != nil {
			said = "carry " + string(claim.Segment.Run.Stream())
		}
		return followed(said, Stopped{Unsettled: claim.Unsettled, Lost: claim.Lost}), err
	})
}

// park parks the run for an answer.
func (s *scene) park() {
	s.on(worker(), func(tx *Tx) (string, error) {
		err := tx.Write(spool.Changes{Parks: []spool.Park{{
			RunID: tx.Run.ID, ToolCallID: "c1", ToolName: "send", State: spool.ParkOpen, Args: []byte("{}"),
			Reason: "", Expiry: spool.Expiry{TTL: time.Hour, Then: spool.ExpireDeny},
		}}})
		return "parked", errors.Join(err, Park(tx))
	})
}

// states are the ways to each state of a thread. The run is "r", and its first segment "r:1".
var states = []struct {
	name string
	make func(s *scene)
}{
	{"none", func(*scene) {}},
	{"queued", func(s *scene) { s.start("r", "") }},
	{"running", func(s *scene) { s.start("r", ""); s.claim(spool.JobStart) }},
	{"lost", func(s *scene) { s.start("r", ""); s.claim(spool.JobStart); <-time.After(2 * time.Minute) }},
	{"parked", func(s *scene) { s.start("r", ""); s.claim(spool.JobStart); s.park() }},
	{"expired", func(s *scene) { s.start("r", ""); s.claim(spool.JobStart); s.park(); <-time.After(2 * time.Hour) }},
	{"completed", func(s *scene) { s.start("r", ""); s.claim(spool.JobStart); s.finish(spool.Completed) }},
	{"failed", func(s *scene) { s.start("r", ""); s.claim(spool.JobStart); s.finish(spool.Failed) }},
}

// finish ends the run in its worker's hands.
func (s *scene) finish(state spool.State) {
	s.on(worker(), func(tx *Tx) (string, error) {
		return "ended", Finish(tx, spool.Ending{State: state, Reason: spool.StopCompleted})
	})
}

// moves are what may happen to a thread that no worker holds, or beside its worker.
var moves = []struct {
	name string
	do   func(s *scene) string
}{
	{"start", func(s *scene) string { return s.start("next", spool.BusyReject) }},
	{"start in line", func(s *scene) string { return s.start("next", spool.BusyEnqueue) }},
	{"start instead", func(s *scene) string { return s.start("next", spool.BusyInterrupt) }},
	{"claim", func(s *scene) string { return s.claim(spool.JobStart) }},
	{"expiry", func(s *scene) string { return s.claim(spool.JobExpiry) }},
	{"stop", func(s *scene) string {
		return s.on(nil, func(tx *Tx) (string, error) {
			stopped, err := Stop(tx, "")
			return followed("stopped", stopped), err
		})
	}},
	{"answer", func(s *scene) string {
		return s.on(nil, func(tx *Tx) (string, error) {
			a, err := Answer(tx, []Response{{ToolCallID: "c1", Payload: []byte("1")}})
			if len(a.Refused) == 1 && a.Refused[0] != nil {
				return a.Refused[0].Reason, err
			}
			return fmt.Sprintf("delivered, resumed %t", a.Resumed), err
		})
	}},
	{"dead job", func(s *scene) string {
		return s.on(nil, func(tx *Tx) (string, error) {
			stopped, err := Dead(tx, spool.Job{RunID: "r"}, 5, "no")
			return followed("failed", stopped), err
		})
	}},
	{"sweep", func(s *scene) string {
		return s.on(nil, func(tx *Tx) (string, error) { return "redispatched", Redispatch(tx) })
	}},
}

// after is the state of a thread, and the entries that were added after seq.
func (s *scene) after(seq int64) (state string, last int64) {
	s.check(s.store.View(s.t.Context(), chat, func(v spool.View) error {
		thread, err := v.Thread()
		if record.Missing(err) {
			return nil
		}
		entries, err2 := v.Entries(spool.EntryQuery{After: seq})
		state, last = string(thread.State)+" of "+string(thread.RunID), thread.LastSeq
		if thread.Leased(v.Now()) {
			state += ", leased"
		}
		var types strings.Builder
		for _, e := range entries {
			types.WriteString(" +" + string(e.Type))
		}
		state += types.String()
		return errors.Join(err, err2)
	}))
	return state, last
}

// Each transition from each state leads where the table says, and to nothing else.
func TestTransitions(t *testing.T) {
	t.Parallel()
	for _, from := range states {
		want := strings.Split(strings.TrimSpace(table[from.name]), "\n")
		t.Run(from.name, func(t *testing.T) {
			t.Parallel()
			got := make([]string, len(moves))
			for i, move := range moves {
				synctest.Test(t, func(t *testing.T) {
					s := newScene(t)
					from.make(s)
					_, seq := s.after(0)
					said := move.do(s)
					state, _ := s.after(seq)
					got[i] = strings.TrimSpace(move.name + ": " + said + " | " + state)
				})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("from %s (-want +got):\n%s", from.name, diff)
			}
		})
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
stop: error: not_found |
answer: error: not_found |
dead job: error: not_found |
sweep: error: not_found |`,
	"queued": `
start: refused: active_run | QUEUED of r
start in line: position 1 | QUEUED of r
start instead: position 0 | QUEUED of next
claim: carry r:1 | RUNNING of r, leased +RUN_STARTED
expiry: unchanged the park was resolved | QUEUED of r
stop: stopped | CANCELLED of r
answer: unchanged no_park | QUEUED of r
dead job: failed | FAILED of r
sweep: redispatched | QUEUED of r`,
	"running": `
start: refused: active_run | RUNNING of r, leased
start in line: position 1 | RUNNING of r, leased
start instead: position 1, wake the worker | RUNNING of r, leased
claim: another worker has the run | RUNNING of r, leased
expiry: another worker has the run | RUNNING of r, leased
stop: stopped, wake the worker | RUNNING of r, leased
answer: unchanged no_park | RUNNING of r, leased
dead job: unchanged failed | RUNNING of r, leased
sweep: unchanged redispatched | RUNNING of r, leased`,
	"lost": `
start: refused: active_run | RUNNING of r
start in line: position 1 | RUNNING of r
start instead: position 0, close r:1 | QUEUED of next +RUN_ENDED
claim: carry r:2, close r:1 | RUNNING of r, leased +RUN_ENDED +RUN_STARTED
expiry: carry r:2, close r:1 | RUNNING of r, leased +RUN_ENDED +RUN_STARTED
stop: stopped, close r:1 | CANCELLED of r +RUN_ENDED
answer: unchanged no_park | RUNNING of r
dead job: failed, close r:1 | FAILED of r +RUN_ENDED
sweep: redispatched | RUNNING of r`,
	"parked": `
start: refused: active_run | WAITING_FOR_INPUT of r
start in line: position 1 | WAITING_FOR_INPUT of r
start instead: position 0 | QUEUED of next
claim: the run waits for input | WAITING_FOR_INPUT of r
expiry: the run waits for input | WAITING_FOR_INPUT of r
stop: stopped | CANCELLED of r
answer: delivered, resumed true | WAITING_FOR_INPUT of r +HITL_RESPONSE
dead job: failed | FAILED of r
sweep: redispatched | WAITING_FOR_INPUT of r`,
	"expired": `
start: refused: active_run | WAITING_FOR_INPUT of r
start in line: position 1 | WAITING_FOR_INPUT of r
start instead: position 0 | QUEUED of next
claim: carry r:2 | RUNNING of r, leased +INPUT_EXPIRED +RUN_STARTED
expiry: carry r:2 | RUNNING of r, leased +INPUT_EXPIRED +RUN_STARTED
stop: stopped | CANCELLED of r
answer: unchanged already_answered | WAITING_FOR_INPUT of r
dead job: failed | FAILED of r
sweep: redispatched | WAITING_FOR_INPUT of r +INPUT_EXPIRED`,
	"completed": `
start: position 0 | QUEUED of next
start in line: position 0 | QUEUED of next
start instead: position 0 | QUEUED of next
claim: the run has ended | COMPLETED of r
expiry: the run has ended | COMPLETED of r
stop: unchanged stopped | COMPLETED of r
answer: unchanged no_park | COMPLETED of r
dead job: unchanged failed | COMPLETED of r
sweep: unchanged redispatched | COMPLETED of r`,
	"failed": `
start: position 0 | QUEUED of next
start in line: position 0 | QUEUED of next
start instead: position 0 | QUEUED of next
claim: the run has ended | FAILED of r
expiry: the run has ended | FAILED of r
stop: unchanged stopped | FAILED of r
answer: unchanged no_park | FAILED of r
dead job: unchanged failed | FAILED of r
sweep: unchanged redispatched | FAILED of r`,
}

// A worker's transition ends its segment: the record and the stream say the same, in one order.
func TestWorkerTransitions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(tx *Tx) error
		want string
	}{
		{
			"complete", func(tx *Tx) error {
				return Finish(tx, spool.Ending{State: spool.Completed, Reason: spool.StopCompleted})
			},
			"COMPLETED of r +RUN_ENDED, RUN_FINISHED@1-1",
		},
		{
			"fail", func(tx *Tx) error { return Finish(tx, spool.Ending{State: spool.Failed, Error: "no"}) },
			"FAILED of r +RUN_ENDED, RUN_ERROR@1-1",
		},
		{"save a step", func(tx *Tx) error {
			tx.Item(spool.ItemCustom, spool.Custom{Name: "before"})
			_, err := SaveStep(tx, spool.Content{{Type: spool.PartText, Text: "hello"}}, nil, spool.TokenCount{}, "stop")
			if tx.Run.Saved != (spool.Offset{Fence: 1, N: 1}) {
				t.Errorf("the messages have the stream up to %s", tx.Run.Saved)
			}
			return errors.Join(err, tx.Put())
		}, "RUNNING of r, leased, CUSTOM@1-1 STEP_FINISHED@1-2"},
		{"hand back", func(tx *Tx) error { return HandBack(tx, time.Time{}, WorkerDied) }, "QUEUED of r +RUN_ENDED, RUN_ERROR@1-1"},
		{"retry", func(tx *Tx) error { return RetryLater(tx, time.Minute, "no") }, "QUEUED of r +RUN_ENDED, RUN_ERROR@1-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.start("r", "")
			s.claim(spool.JobStart)
			_, seq := s.after(0)
			list := worker()
			if said := s.on(list, func(tx *Tx) (string, error) { return "done", c.do(tx) }); said != "done" {
				t.Fatal(said)
			}
			got, _ := s.after(seq)
			items, _, _ := list.Items()
			separator := ", "
			var all strings.Builder
			for _, item := range items {
				all.WriteString(separator + string(item.Type) + "@" + item.Offset.String())
				separator = " "
			}
			got += all.String()
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A run whose workers die executes isolated after a few deaths, and ends after more. A run that was
// asked to stop ends with its worker.
func TestDeathsOfWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.start("r", "")
		var got []string
		for range 7 {
			said := s.claim(spool.JobReclaim)
			state, _ := s.after(1 << 40)
			got = append(got, said+" | "+state)
			<-time.After(2 * time.Minute)
		}
		want := []string{
			"carry r:1 | RUNNING of r, leased",
			"carry r:2, close r:1 | RUNNING of r, leased",
			"several workers died in the run's step: it waits, and then runs isolated, close r:2 | QUEUED of r",
			"carry r:3 | RUNNING of r, leased",
			"several workers died in the run's step: it waits, and then runs isolated, close r:3 | QUEUED of r",
			"carry r:4 | RUNNING of r, leased",
			"the run has ended with its worker, close r:4 | FAILED of r",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("claims (-want +got):\n%s", diff)
		}
	})
}

// With a settle hook, a run that ends without a worker has still to be settled.
func TestSettleUnheld(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.rules.Settles = true
	s.start("r", "")
	said := s.on(nil, func(tx *Tx) (string, error) {
		stopped, err := Stop(tx, "")
		return followed("stopped", stopped), err
	})
	if state, _ := s.after(0); said != "stopped, settle" || state != "QUEUED of r, leased" {
		t.Errorf("a stop: %s | %s", said, state)
	}
	said = s.on(nil, func(tx *Tx) (string, error) { return "settled", Settle(tx, *tx.Run.Ending, true) })
	if state, _ := s.after(0); said != "settled" || state != "CANCELLED of r" {
		t.Errorf("the hook returns: %s | %s", said, state)
	}
}

package thread

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// row is a line of a table of transitions.
type row struct {
	name string
	// given brings the thread into the state before.
	given func(s *scene)
	// do carries out the transition, and returns what it says.
	do func(s *scene) string
	// want is what the transition says, the items that it adds to the stream, and what it changes: see [maptx.Diff].
	want string
}

// check compares each transition with its row. What is not in the row has not changed.
func check(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			if r.given != nil {
				r.given(s)
			}
			before := s.Clone()
			s.items = nil
			got := append([]string{r.do(s)}, s.items...)
			got = append(got, maptx.Diff(before, s.Tx))
			want := strings.Split(strings.TrimSpace(r.want), "\n")
			for i := range want {
				want[i] = strings.TrimSpace(want[i])
			}
			out := strings.TrimSpace(maptx.Plain(s.Tx, strings.Join(got, "\n")))
			if diff := gocmp.Diff(strings.Join(want, "\n"), out); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			failEach(t, s, before, r.do)
		})
	}
}

// failEach carries the transition out again, and fails each call of the store in turn. The transition must fail too,
// and change nothing.
func failEach(t *testing.T, s *scene, before *maptx.Tx, do func(s *scene) string) {
	t.Helper()
	for n := 1; ; n++ {
		s.Tx, s.calls, s.failAt = before.Clone(), 0, n
		said := do(s)
		if s.calls < n {
			return
		}
		if diff := maptx.Diff(before, s.Tx); diff != "" ||
			said != "error: "+errStore.Message && said != "another run has the thread" {
			t.Errorf("call %d of the store fails: %s\n%s", n, said, diff)
		}
	}
}

// scene is a thread, and the rules of its transitions.
type scene struct {
	*maptx.Tx

	t     *testing.T
	rules Rules
	items []string // what the last transition of the worker has added to its stream
	// calls counts the calls of the store, and failAt is the one that fails. Zero: none.
	calls, failAt int
}

func newScene(t *testing.T) *scene {
	t.Helper()
	return &scene{Tx: maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, maptx.Start), t: t, rules: Rules{
		Lease: time.Minute, MaxWaiting: 3, ParkTTL: time.Hour, Log: slog.New(slog.DiscardHandler),
		Random:     random.Source{From: new(counter)},
		QueueOf:    func(agent string) string { return "of " + agent },
		Retry:      option.Retry{Attempts: 3, Deaths: 2, Backoff: time.Second, BackoffMax: time.Minute, AfterMax: time.Hour},
		Parameters: func(store.View, store.Park) (json.RawMessage, error) { return json.RawMessage(`{"of":"tool"}`), nil },
	}}
}

// counter makes ids that differ, and delays without a random part.
type counter uint64

func (c *counter) Read(p []byte) (int, error) {
	clear(p)
	if len(p) > 8 {
		*c++
		binary.BigEndian.PutUint64(p[len(p)-8:], uint64(*c))
	}
	return len(p), nil
}

// later moves the time.
func (s *scene) later(d time.Duration) { s.At = s.At.Add(d) }

// try carries out a transition as a transaction. It returns what the transition says, or how it was refused.
func (s *scene) try(transition func(db store.Tx) (string, error)) (said string) {
	err := s.Try(func(db store.Tx) (err error) {
		said, err = transition(failing{db, s})
		return err
	})
	if refused, ok := errors.AsType[*RefusedError](Refusal(err)); ok {
		return "refused: " + refused.Reason + ": " + refused.Text
	}
	switch {
	case errors.Is(err, ErrUnchanged):
		return strings.TrimSpace("unchanged " + said)
	case err != nil:
		return "error: " + spool.MessageOf(err)
	}
	return said
}

var errStore = spool.Errorf(spool.Unavailable, "the store failed")

// failing is a transaction of a scene. It fails at the wanted call.
type failing struct {
	store.Tx

	s *scene
}

func (f failing) fails() error {
	f.s.calls++
	if f.s.calls == f.s.failAt {
		return errStore
	}
	return nil
}

func (f failing) Thread() (wire.Thread, error) {
	t, err := f.Tx.Thread()
	return t, cmp.Or(f.fails(), err)
}

func (f failing) Runs(q wire.RunQuery) ([]store.RunRow, error) {
	runs, err := f.Tx.Runs(q)
	return runs, cmp.Or(f.fails(), err)
}

func (f failing) Messages(q store.MessageQuery) ([]spool.Message, error) {
	messages, err := f.Tx.Messages(q)
	return messages, cmp.Or(f.fails(), err)
}

func (f failing) Branches() ([]wire.Branch, error) {
	branches, err := f.Tx.Branches()
	return branches, cmp.Or(f.fails(), err)
}

func (f failing) Parks(run spool.RunID) ([]store.Park, error) {
	parks, err := f.Tx.Parks(run)
	return parks, cmp.Or(f.fails(), err)
}

func (f failing) Effects(run spool.RunID, step int) ([]store.Effect, error) {
	effects, err := f.Tx.Effects(run, step)
	return effects, cmp.Or(f.fails(), err)
}

func (f failing) Write(c store.Changes) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.Tx.Write(c)
}

// on carries out a transition that no worker makes. What it says has its consequences.
func (s *scene) on(transition func(tx *Tx) (string, error)) string {
	return s.try(func(db store.Tx) (string, error) {
		tx, err := Open(db, s.rules)
		if err != nil {
			return "", err
		}
		said, err := transition(tx)
		return said + follows(tx.Follow), err
	})
}

// work carries out a transition of the worker that executes the run, in the stream of its segment.
func (s *scene) work(transition func(tx *Tx) error) string {
	return s.try(func(db store.Tx) (string, error) {
		tx, err := Open(db, s.rules)
		if err != nil {
			return "", err
		}
		list := order.New(tx.Run.Stream(), tx.Thread.Fence, order.Mark{})
		tx.SetList(list)
		err = transition(tx)
		items, _, ends := list.Items()
		s.items = nil
		for _, item := range items {
			s.items = append(s.items, fmt.Sprintf("item after %d %s", item.Seq, item.Data))
		}
		if ends {
			s.items[len(s.items)-1] += " end"
		}
		for i := range s.items {
			s.items[i] = strings.ReplaceAll(s.items[i], `"`, "")
		}
		return "ok" + follows(tx.Follow), err
	})
}

// follows says what has to follow the commit.
func follows(f Follow) string {
	var said strings.Builder
	if f.Jobs {
		said.WriteString(", wake the workers")
	}
	if f.Unseen {
		said.WriteString(", unseen")
	}
	for _, e := range f.Audit {
		said.WriteString(", note " + string(e.Action) + " of " + string(e.RunID))
		if e.By != "" {
			said.WriteString(" by " + e.By)
		}
		if e.Detail != nil {
			said.WriteString(" " + strings.ReplaceAll(string(e.Detail), `"`, ""))
		}
	}
	return said.String()
}

// stopped says what has to follow a stop.
func stopped(s Stopped) (said string) {
	if s.State != "" {
		said += " " + string(s.State)
	}
	if s.Worker {
		said += ", wake the worker"
	}
	if s.Unsettled != nil {
		said += ", settle " + string(s.Unsettled.Run.ID) + " saved " + s.Unsettled.Saved.String()
	}
	if s.Lost != nil {
		said += ", close " + string(s.Lost.ID) + " at " + s.Lost.End.String()
	}
	return said
}

// request is a start of a run.
func request(id spool.RunID, busy spool.WhenBusy) StartRequest {
	return StartRequest{
		Run:     store.RunRow{Run: wire.Run{ID: id, Model: "m", Agent: "a", StartedBy: "ann"}},
		Content: spool.TextContent("go " + string(id)), WhenBusy: busy, Title: "a title",
	}
}

func (s *scene) start(r StartRequest) string {
	return s.try(func(db store.Tx) (string, error) {
		out, err := Start(db, s.Key, r, s.rules)
		said := fmt.Sprintf("position %d", out.Position)
		if out.Steers != "" {
			said += ", steers " + string(out.Steers)
		}
		if out.Claimed != nil {
			said += fmt.Sprintf(", taken at %d with %d messages", out.Claimed.Seq, len(out.Claimed.Messages))
		}
		return said + stopped(out.Stopped) + follows(Follow{Audit: out.Audit}), err
	})
}

// begin starts a run.
func begin(id spool.RunID, busy spool.WhenBusy) func(s *scene) string {
	return func(s *scene) string { return s.start(request(id, busy)) }
}

// claim claims the run of a job.
func (s *scene) claim(r ClaimRequest) string {
	if r.CheckAgent == nil {
		r.CheckAgent = func(string) error { return nil }
	}
	if r.Isolate == nil {
		r.Isolate = func() bool { return true }
	}
	return s.try(func(db store.Tx) (string, error) {
		claim, follow, err := ClaimRun(db, r, s.rules)
		said := claim.Reason
		if claim.Segment != nil {
			said = fmt.Sprintf("carry %s from %d", claim.Segment.Run.Stream(), claim.Segment.Seq)
		}
		if claim.BusyFor > 0 {
			said += " for " + claim.BusyFor.String()
		}
		if claim.Decided {
			said += ", decided"
			follow, err = FinishDecided(db, s.rules)
		}
		return said + stopped(Stopped{Unsettled: claim.Unsettled, Lost: claim.Lost}) + follows(follow), err
	})
}

// Ways to a state of the thread. Its run is r, and its first segment r:1.

func queued(s *scene) { s.start(request("r", "")) }

func running(s *scene) {
	queued(s)
	s.claim(ClaimRequest{Job: wire.Job{RunID: "r", Kind: wire.JobStart}})
}

// lost is a run whose worker has died.
func lost(s *scene) {
	running(s)
	s.later(2 * time.Minute)
}

// parked is a run that waits for the answer to its call c1.
func parked(s *scene) {
	running(s)
	s.work(func(tx *Tx) error { return errors.Join(ask(tx, question("c1")), Park(tx)) })
}

// expired is a parked run whose time to answer is over.
func expired(s *scene) {
	parked(s)
	s.later(2 * time.Hour)
}

func ended(state wire.State) func(s *scene) {
	return func(s *scene) {
		running(s)
		s.work(func(tx *Tx) error {
			return Finish(tx, store.Ending{State: state, Reason: wire.StopReason("of " + state)})
		})
	}
}

// question is a park of a call that waits for an approval.
func question(id spool.ToolCallID) store.Park {
	return store.Park{
		ToolCallID: id, ToolName: "send", State: wire.ParkOpen, Args: []byte(`{"to":1}`), Reason: wire.ParkApproval, Step: 1,
		Expiry: spool.Expiry{}.Or(time.Hour),
	}
}

// ask stores parks of the run, which nobody can answer before the run parks.
func ask(tx *Tx, parks ...store.Park) error {
	parks = slices.Clone(parks) // rows that run side by side may share them
	for i := range parks {
		parks[i].RunID, parks[i].AgentID = tx.Root().Run.ID, tx.Run.AgentID()
	}
	return tx.Write(store.Changes{Parks: parks})
}

// and carries out several steps towards a state.
func and(steps ...func(s *scene)) func(s *scene) {
	return func(s *scene) {
		for _, step := range steps {
			step(s)
		}
	}
}

// with changes the row of a run.
func with(id spool.RunID, change func(r *store.RunRow)) func(s *scene) {
	return func(s *scene) {
		for i := range s.Rows.Runs {
			if s.Rows.Runs[i].ID == id {
				change(&s.Rows.Runs[i])
			}
		}
	}
}

// waiting starts a run that waits.
func waiting(id spool.RunID, busy spool.WhenBusy) func(s *scene) {
	return func(s *scene) { s.start(request(id, busy)) }
}

func settles(s *scene) { s.rules.Settles = true }

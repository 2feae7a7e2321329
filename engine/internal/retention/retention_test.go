package retention

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// notedStore notes what is asked of it.
type notedStore struct {
	maptx.Store

	asked   []string
	pruned  []int // what each prune removes
	threads []wire.Thread
	dead    []wire.QueuedJob
}

func (s *notedStore) Threads(_ context.Context, q wire.ThreadQuery) ([]wire.Thread, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s threads before %s of %q, up to %d", q.Work, q.UpdatedBefore.Sub(maptx.Start),
		q.Tenant, q.Limit))
	return s.threads, nil
}

func (s *notedStore) Jobs(context.Context, wire.JobQuery) ([]wire.QueuedJob, error) {
	return s.dead, nil
}

func (s *notedStore) Prune(_ context.Context, q store.PruneQuery) (int, error) {
	s.asked = append(s.asked, fmt.Sprintf("prune %s of %q, job %d, up to %d", q.Kind, q.Tenant, q.JobID, q.Limit))
	n := 0
	if len(s.pruned) > 0 {
		n, s.pruned = s.pruned[0], s.pruned[1:]
	}
	return n, nil
}

func remover(thread *wire.Thread) (*Remover, *notedStore, *maptx.Tx) {
	tx := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, maptx.Start)
	tx.Rows.Thread = thread
	s := &notedStore{Store: maptx.Store{Tx: tx}}
	return &Remover{Threads: &change.Threads{Store: s, Live: inprocess.NewLive(0), Log: slog.New(slog.DiscardHandler)}}, s,
		tx
}

// A thread is deleted unless a run has it.
func TestDelete(t *testing.T) {
	t.Parallel()
	const gone = "- thread\n+ audit 1 Action=delete_thread"
	for _, c := range []struct {
		name    string
		thread  *wire.Thread
		want    string // the refusal
		changes string
	}{
		{"at rest", &wire.Thread{State: wire.Completed}, "", gone},
		{"without a run", &wire.Thread{State: wire.Idle}, "", gone},
		{"queued", &wire.Thread{State: wire.Queued}, wire.ReasonActiveRun, ""},
		{"parked", &wire.Thread{State: wire.WaitingForInput}, wire.ReasonActiveRun, ""},
		{
			"at rest, with a lease", &wire.Thread{State: wire.Completed, LeaseUntil: maptx.Start.Add(1)}, wire.ReasonActiveRun,
			"",
		},
		{"gone", nil, wire.ReasonNotFound, ""},
	} {
		r, _, tx := remover(c.thread)
		before := tx.Clone()
		got, err := r.Delete(t.Context(), tx.Key)
		if got.Reason != c.want || got.Accepted != (c.want == "") || err != nil {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if diff := cmp.Diff(c.changes, maptx.Diff(before, tx)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// A thread that was found idle is looked at again before it is removed.
func TestPrune(t *testing.T) {
	t.Parallel()
	before := maptx.Start
	old := maptx.Start.Add(-1)
	for _, c := range []struct {
		name   string
		thread *wire.Thread
		dry    bool
		found  bool // in the report
		gone   bool
	}{
		{"old", &wire.Thread{State: wire.Failed, UpdatedAt: old}, false, true, true},
		{"old, in a dry run", &wire.Thread{State: wire.Failed, UpdatedAt: old}, true, true, false},
		{"changed since", &wire.Thread{State: wire.Failed, UpdatedAt: before}, false, false, false},
		{"active again", &wire.Thread{State: wire.Queued, UpdatedAt: old}, false, false, false},
		{"leased", &wire.Thread{State: wire.Failed, UpdatedAt: old, LeaseUntil: maptx.Start.Add(1)}, false, false, false},
		{"deleted since", nil, false, false, true},
	} {
		r, s, tx := remover(c.thread)
		s.threads = []wire.Thread{{Tenant: "t", ID: "c"}}
		report, err := r.Prune(t.Context(), wire.PruneOptions{Before: before, Limit: 1, DryRun: c.dry})
		if err != nil || (len(report.Threads) == 1) != c.found || !report.More || (tx.Rows.Thread == nil) != c.gone {
			t.Errorf("%s: %+v, %v, and the thread is %v", c.name, report, err, tx.Rows.Thread)
		}
		if noted := len(tx.Rows.Audit) == 1; noted != (c.found && !c.dry) {
			t.Errorf("%s: the audit log has %v", c.name, tx.Rows.Audit)
		}
	}
}

func TestPruneOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    wire.PruneOptions
		want string
	}{
		{wire.PruneOptions{}, "PruneOptions.Before is required"},
		{wire.PruneOptions{Before: maptx.Start, Limit: -1}, "PruneOptions.Limit is negative"},
		{wire.PruneOptions{Before: maptx.Start, Tenant: "t"}, `idle threads before 0s of "t", up to 1000`},
		{wire.PruneOptions{Before: maptx.Start, Limit: 7}, `idle threads before 0s of "", up to 7`},
	} {
		r, s, _ := remover(nil)
		_, err := r.Prune(t.Context(), c.o)
		got := fmt.Sprint(s.asked)
		if err != nil {
			got = spool.MessageOf(err)
		} else {
			c.want = "[" + c.want + "]"
		}
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.o, got, c.want)
		}
	}
}

// A purge is noted before it happens, and goes on until nothing is left.
func TestPurgeJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		q      wire.JobQuery
		dead   []wire.QueuedJob
		pruned []int
		want   int
		asked  []string
		noted  string
	}{
		{"all", wire.JobQuery{}, nil, []int{1000, 1000, 5}, 2005, []string{
			`prune dead of "t", job 0, up to 1000`, `prune dead of "t", job 0, up to 1000`,
			`prune dead of "t", job 0, up to 1000`,
		}, "+ audit 1 Action=purge_jobs"},
		{
			"so many",
			wire.JobQuery{Limit: 3, DiedBefore: maptx.Start},
			nil,
			[]int{3},
			3,
			[]string{`prune dead of "t", job 0, up to 3`},
			"+ audit 1 Action=purge_jobs Detail={diedBefore:0s}",
		},
		{
			"one",
			wire.JobQuery{JobID: 7, Limit: 1},
			[]wire.QueuedJob{{}},
			[]int{1},
			1,
			[]string{`prune dead of "t", job 7, up to 1`},
			"+ audit 1 Action=purge_jobs JobID=7",
		},
		{"one that is not dead", wire.JobQuery{JobID: 7}, nil, nil, 0, nil, ""},
	} {
		r, s, tx := remover(nil)
		s.dead, s.pruned = c.dead, c.pruned
		before := tx.Clone()
		n, err := r.PurgeJobs(t.Context(), "t", c.q)
		if diff := cmp.Diff([]any{c.want, c.asked, c.noted}, []any{n, s.asked, maptx.Diff(before, tx)}); diff != "" ||
			err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
}

// A worker removes what is old at most once an hour, a page at a time, and again at once after a full page.
func TestHourly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		sets func(r *Remover)
		do   func(r *Remover) error
		want []int // how often the store was asked, after each of three times an hour apart but for the second
	}{
		{
			"audit entries",
			func(r *Remover) { r.Retention.Audit = time.Hour },
			func(r *Remover) error { return r.RetainAudit(context.Background()) },
			[]int{2, 2, 3},
		},
		{
			"audit entries, for ever",
			func(r *Remover) { r.Retention.Audit = -1 },
			func(r *Remover) error { return r.RetainAudit(context.Background()) },
			[]int{0, 0, 0},
		},
		{"rows", func(*Remover) {}, func(r *Remover) error { return r.RemoveExpired(context.Background()) }, []int{2, 2, 3}},
		{
			"threads, for ever", func(*Remover) {}, func(r *Remover) error { return r.Retain(context.Background()) },
			[]int{0, 0, 0},
		},
		{
			"threads",
			func(r *Remover) { r.Retention = option.Retention{Threads: time.Hour} },
			func(r *Remover) error { return r.Retain(context.Background()) },
			[]int{1, 2, 3},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, s, _ := remover(nil)
			c.sets(r)
			s.pruned = []int{pruneSize, 3}
			var got []int
			for _, later := range []time.Duration{0, time.Hour - 1, 1} {
				<-time.After(later)
				if err := c.do(r); err != nil {
					t.Error(err)
				}
				got = append(got, len(s.asked))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		})
	}
}

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
	"github.com/spoolhq/spool/engine/config"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/internal/testing/maptx"
)

// notedStore notes what is asked of it.
type notedStore struct {
	maptx.Store

	asked   []string
	pruned  []int // what each prune removes
	threads []spool.Thread
	dead    []spool.QueuedJob
}

func (s *notedStore) Threads(_ context.Context, q spool.ThreadQuery) ([]spool.Thread, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s threads before %s of %q, up to %d", q.Work, q.UpdatedBefore.Sub(maptx.Start), q.Tenant, q.Limit))
	return s.threads, nil
}

func (s *notedStore) Jobs(context.Context, spool.JobQuery) ([]spool.QueuedJob, error) {
	return s.dead, nil
}

func (s *notedStore) Prune(_ context.Context, q spool.PruneQuery) (int, error) {
	s.asked = append(s.asked, fmt.Sprintf("prune %s of %q, job %d, up to %d", q.Kind, q.Tenant, q.JobID, q.Limit))
	n := 0
	if len(s.pruned) > 0 {
		n, s.pruned = s.pruned[0], s.pruned[1:]
	}
	return n, nil
}

func remover(thread *spool.Thread) (*Remover, *notedStore, *maptx.Tx) {
	tx := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, maptx.Start)
	tx.Rows.Thread = thread
	s := &notedStore{Store: maptx.Store{Tx: tx}}
	return &Remover{Threads: &change.Threads{Store: s, Live: inprocess.NewLive(0), Log: slog.New(slog.DiscardHandler)}}, s, tx
}

// A thread is deleted unless a run has it.
func TestDelete(t *testing.T) {
	t.Parallel()
	const gone = "- thread\n+ audit 1 Action=delete_thread"
	for _, c := range []struct {
		name    string
		thread  *spool.Thread
		want    string // the refusal
		changes string
	}{
		{"at rest", &spool.Thread{State: spool.Completed}, "", gone},
		{"without a run", &spool.Thread{State: spool.Idle}, "", gone},
		{"queued", &spool.Thread{State: spool.Queued}, spool.ReasonActiveRun, ""},
		{"parked", &spool.Thread{State: spool.WaitingForInput}, spool.ReasonActiveRun, ""},
		{"at rest, with a lease", &spool.Thread{State: spool.Completed, LeaseUntil: maptx.Start.Add(1)}, spool.ReasonActiveRun, ""},
		{"gone", nil, spool.ReasonNotFound, ""},
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
		thread *spool.Thread
		dry    bool
		found  bool // in the report
		gone   bool
	}{
		{"old", &spool.Thread{State: spool.Failed, UpdatedAt: old}, false, true, true},
		{"old, in a dry run", &spool.Thread{State: spool.Failed, UpdatedAt: old}, true, true, false},
		{"changed since", &spool.Thread{State: spool.Failed, UpdatedAt: before}, false, false, false},
		{"active again", &spool.Thread{State: spool.Queued, UpdatedAt: old}, false, false, false},
		{"leased", &spool.Thread{State: spool.Failed, UpdatedAt: old, LeaseUntil: maptx.Start.Add(1)}, false, false, false},
		{"deleted since", nil, false, false, true},
	} {
		r, s, tx := remover(c.thread)
		s.threads = []spool.Thread{{Tenant: "t", ID: "c"}}
		report, err := r.Prune(t.Context(), spool.PruneOptions{Before: before, Limit: 1, DryRun: c.dry})
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
		o    spool.PruneOptions
		want string
	}{
		{spool.PruneOptions{}, "PruneOptions.Before is required"},
		{spool.PruneOptions{Before: maptx.Start, Limit: -1}, "PruneOptions.Limit is negative"},
		{spool.PruneOptions{Before: maptx.Start, Tenant: "t"}, `idle threads before 0s of "t", up to 1000`},
		{spool.PruneOptions{Before: maptx.Start, Limit: 7}, `idle threads before 0s of "", up to 7`},
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
		q      spool.JobQuery
		dead   []spool.QueuedJob
		pruned []int
		want   int
		asked  []string
		noted  string
	}{
		{"all", spool.JobQuery{}, nil, []int{1000, 1000, 5}, 2005, []string{
			`prune dead of "t", job 0, up to 1000`, `prune dead of "t", job 0, up to 1000`, `prune dead of "t", job 0, up to 1000`,
		}, "+ audit 1 Action=purge_jobs"},
		{
			"so many",
			spool.JobQuery{Limit: 3, DiedBefore: maptx.Start},
			nil,
			[]int{3},
			3,
			[]string{`prune dead of "t", job 0, up to 3`},
			"+ audit 1 Action=purge_jobs Detail={diedBefore:0s}",
		},
		{
			"one",
			spool.JobQuery{JobID: 7, Limit: 1},
			[]spool.QueuedJob{{}},
			[]int{1},
			1,
			[]string{`prune dead of "t", job 7, up to 1`},
			"+ audit 1 Action=purge_jobs JobID=7",
		},
		{"one that is not dead", spool.JobQuery{JobID: 7}, nil, nil, 0, nil, ""},
	} {
		r, s, tx := remover(nil)
		s.dead, s.pruned = c.dead, c.pruned
		before := tx.Clone()
		n, err := r.PurgeJobs(t.Context(), "t", c.q)
		if diff := cmp.Diff([]any{c.want, c.asked, c.noted}, []any{n, s.asked, maptx.Diff(before, tx)}); diff != "" || err != nil {
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
		{"audit entries", func(r *Remover) { r.Retention.Audit = time.Hour }, func(r *Remover) error { return r.RetainAudit(context.Background()) }, []int{2, 2, 3}},
		{"audit entries, for ever", func(r *Remover) { r.Retention.Audit = -1 }, func(r *Remover) error { return r.RetainAudit(context.Background()) }, []int{0, 0, 0}},
		{"rows", func(*Remover) {}, func(r *Remover) error { return r.RemoveExpired(context.Background()) }, []int{2, 2, 3}},
		{"threads, for ever", func(*Remover) {}, func(r *Remover) error { return r.Retain(context.Background()) }, []int{0, 0, 0}},
		{"threads", func(r *Remover) { r.Retention = config.RetentionOptions{Threads: time.Hour} }, func(r *Remover) error { return r.Retain(context.Background()) }, []int{1, 2, 3}},
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

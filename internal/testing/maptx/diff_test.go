package maptx_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/maptx"
)

// A line of a diff says which row is new, gone or has changed, and what of it.
func TestDiff(t *testing.T) {
	t.Parallel()
	tx := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, maptx.Start.Add(time.Second))
	tx.Rows = maptx.Rows{
		Thread:  &spool.Thread{State: spool.Queued},
		Runs:    []spool.RunRow{{Run: spool.Run{ID: "r", State: spool.Queued, Model: "m"}}},
		Effects: []spool.Effect{{ToolCallID: "c1"}},
		Jobs:    []spool.QueuedJob{{Job: spool.Job{Key: "run:r:1"}}},
	}
	before := tx.Clone()
	r := tx.Rows.Runs[0]
	r.State, r.Model, r.Allowance = spool.Running, "", &spool.Allowance{}
	message := &spool.Message{ID: spool.MessageID(spool.NewID("msg")), Content: spool.TextContent("hi")}
	entry := spool.NewEntry("A", "r", map[string]any{"at": tx.At, "message": message.ID})
	if err := tx.Write(spool.Changes{
		Runs: []spool.RunRow{r}, Messages: []*spool.Message{message}, Entries: []*spool.Entry{entry}, CancelJobs: []string{"run:r:1"},
		Usage: []spool.UsageRow{{RunID: "r", Usage: spool.Usage{Input: new(int64)}}},
		Audit: []*spool.AuditEntry{{Action: "stop"}}, Rows: []spool.Row{{Key: "k", Value: []byte(`1`)}},
	}); err != nil {
		t.Fatal(err)
	}
	want := `run r Model=- State=RUNNING Allowance={}
+ message msg1 Content=[{Type=text Text=hi}]
+ entry 1 Type=A Payload={at:1s,message:msg1} RunID=r
+ usage 1 RunID=r Kind=step Usage={Input=0}
- job run:r:1
+ audit 1 Action=stop
+ row k Value=1`
	if diff := cmp.Diff(want, maptx.Diff(before, tx)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := maptx.Diff(tx, tx.Clone()); diff != "" {
		t.Errorf("a copy differs: %s", diff)
	}
}

// A transaction that fails changes nothing, and one that changes what it has read writes nothing by that.
func TestTry(t *testing.T) {
	t.Parallel()
	tx := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, maptx.Start)
	tx.Rows.Thread, tx.Rows.Runs = &spool.Thread{}, []spool.RunRow{{Run: spool.Run{ID: "r", Allowance: &spool.Allowance{}}}}
	before := tx.Clone()
	for _, fn := range []func(spool.Tx) error{
		func(tx spool.Tx) error {
			run, err := spool.FindRun(tx, "r")
			run.Allowance.Refused = 7
			return err
		},
		func(tx spool.Tx) error {
			_ = tx.Write(spool.Changes{Entries: []*spool.Entry{{}}})
			return spool.ErrFenced
		},
		func(tx spool.Tx) error {
			_ = tx.Write(spool.Changes{Entries: []*spool.Entry{{}}, TakeDead: []int64{1}})
			return nil
		},
	} {
		err := tx.Try(fn)
		if diff := maptx.Diff(before, tx); diff != "" {
			t.Errorf("it has changed, with the error %v: %s", err, diff)
		}
	}
}

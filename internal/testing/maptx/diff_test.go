package maptx_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A line of a diff says which row is new, gone or has changed, and what of it.
func TestDiff(t *testing.T) {
	t.Parallel()
	tx := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, maptx.Start.Add(time.Second))
	tx.Rows = maptx.Rows{
		Thread:  &wire.Thread{State: wire.Queued},
		Runs:    []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Queued, Model: "m"}}},
		Effects: []store.Effect{{ToolCallID: "c1"}},
		Jobs:    []wire.QueuedJob{{Job: wire.Job{Key: "run:r:1"}}},
	}
	before := tx.Clone()
	r := tx.Rows.Runs[0]
	r.State, r.Model, r.Allowance = wire.Running, "", &wire.Allowance{}
	message := &spool.Message{ID: spool.MessageID(spool.NewID("msg")), Content: spool.TextContent("hi")}
	entry := wire.NewEntry("A", "r", map[string]any{"at": tx.At, "message": message.ID})
	if err := tx.Write(store.Changes{
		Runs: []store.RunRow{r}, Messages: []*spool.Message{message}, Entries: []*wire.Entry{entry},
		CancelJobs: []string{"run:r:1"},
		Usage:      []wire.UsageRow{{RunID: "r", Usage: spool.Usage{Input: new(int64)}}},
		Audit:      []*wire.AuditEntry{{Action: "stop"}}, Rows: []store.Row{{Key: "k", Value: []byte(`1`)}},
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
	tx.Rows.Thread, tx.Rows.Runs = &wire.Thread{}, []store.RunRow{{Run: wire.Run{ID: "r", Allowance: &wire.Allowance{}}}}
	before := tx.Clone()
	for _, fn := range []func(store.Tx) error{
		func(tx store.Tx) error {
			run, err := store.FindRun(tx, "r")
			run.Allowance.Refused = 7
			return err
		},
		func(tx store.Tx) error {
			_ = tx.Write(store.Changes{Entries: []*wire.Entry{{}}})
			return store.ErrFenced
		},
		func(tx store.Tx) error {
			_ = tx.Write(store.Changes{Entries: []*wire.Entry{{}}, TakeDead: []int64{1}})
			return nil
		},
	} {
		err := tx.Try(fn)
		if diff := maptx.Diff(before, tx); diff != "" {
			t.Errorf("it has changed, with the error %v: %s", err, diff)
		}
	}
}

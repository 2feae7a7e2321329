package spool_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func TestCheckID(t *testing.T) {
	t.Parallel()

	for _, id := range []string{"a", "Z9", "run_01j9.A-b:c", "-", ":", ".", strings.Repeat("a", spool.MaxIDLen)} {
		if err := spool.CheckID("runId", id); err != nil {
			t.Errorf("CheckID(%q) = %v", id, err)
		}
	}
	for id, want := range map[string]string{
		"":                                    "runId is required",
		strings.Repeat("a", spool.MaxIDLen+1): "runId is longer than 128 characters",
		"a b":                                 "runId may only have letters, digits and the characters . _ : -",
		"a\nb":                                "runId may only have letters, digits and the characters . _ : -",
		"a\x00":                               "runId may only have letters, digits and the characters . _ : -",
		"ä":                                   "runId may only have letters, digits and the characters . _ : -",
		"a/b":                                 "runId may only have letters, digits and the characters . _ : -",
		"\xff":                                "runId may only have letters, digits and the characters . _ : -",
	} {
		err := spool.CheckID("runId", id)
		if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			t.Errorf("CheckID(%q) = %v, want %s", id, err, want)
		}
	}
}

func TestCheckIDBytes(t *testing.T) {
	t.Parallel()

	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-"
	for b := range 256 {
		id := string([]byte{byte(b)})
		if ok := spool.CheckID("id", id) == nil; ok != strings.Contains(allowed, id) {
			t.Errorf("CheckID(%q): allowed is %v", id, ok)
		}
	}
}

func TestStreamID(t *testing.T) {
	t.Parallel()

	for _, run := range []spool.RunID{"r1", "a:b", ":", "r:1"} {
		for _, segment := range []int{1, 2, 10, 1 << 40} {
			id := wire.NewStreamID(run, segment)
			gotRun, gotSegment, ok := id.Split()
			if !ok || gotRun != run || gotSegment != segment {
				t.Errorf("%q is split into %q, %d, %v", id, gotRun, gotSegment, ok)
			}
		}
	}
	for _, id := range []wire.StreamID{
		"", "r1", ":1", "r1:", "r1:0", "r1:-1", "r1:+1", "r1:01", "r1:x", "r1:1 ", "r1:99999999999999999999",
	} {
		if run, segment, ok := id.Split(); ok {
			t.Errorf("%q is split into %q, %d", id, run, segment)
		}
	}
}

func TestNewID(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		seen := make(map[string]bool)
		var ids []string
		for range 100 {
			id := spool.NewID("run")
			if err := spool.CheckID("id", id); err != nil || !strings.HasPrefix(id, "run_") || len(id) != len("run_")+26 {
				t.Fatalf("id is %q, %v", id, err)
			}
			if seen[id] {
				t.Fatalf("%q came twice", id)
			}
			seen[id] = true
			ids = append(ids, id)
			<-time.After(time.Millisecond) // time of the bubble, which costs none
		}
		if !slices.IsSorted(ids) {
			t.Error("ids do not sort by age")
		}
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()

	key := spool.ThreadKey{Tenant: "acme", ID: "t1"}
	if key.String() != "acme/t1" {
		t.Errorf("key is %q", key)
	}
	if spool.CheckID("tenant", string(store.JobsTopic.Tenant)) == nil {
		t.Error("the topic of jobs could be a thread's key")
	}
	thread := wire.Thread{Tenant: "acme", ID: "t1"}
	if thread.Key() != key {
		t.Errorf("key of the thread is %v", thread.Key())
	}
	job := wire.Job{Tenant: "acme", ThreadID: "t1"}
	if job.Thread() != key {
		t.Errorf("key of the job is %v", job.Thread())
	}
}

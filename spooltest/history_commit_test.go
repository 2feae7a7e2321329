package spooltest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// timed returns a sound history in which a worker has executed the run for a minute, which is
// charged to its budget.
func timed() *spooltest.History {
	h := sound()
	began := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range h.Commits {
		h.Commits[i].At = began.Add(time.Duration(i) * time.Minute)
	}
	carried := func(commit int, r store.RunState, spent time.Duration) {
		run := h.Commits[commit].Runs[0]
		run.WallTime, run.WorkerSince, run.EnqueuedAt = r.WallTime, r.WorkerSince, began
		run.Allowance = &wire.Allowance{Budget: spool.Budget{WallTime: time.Hour}, Spent: wire.Spent{WallTime: spent}}
		h.Commits[commit].Runs[0] = run
	}
	carried(0, store.RunState{}, 0)
	carried(1, store.RunState{WorkerSince: began.Add(time.Minute)}, 0)
	carried(2, store.RunState{WallTime: time.Minute}, time.Minute)
	return h
}

func TestHistorySoundTime(t *testing.T) {
	t.Parallel()

	for _, v := range timed().Violations() {
		if v.Invariant == "wall-time" {
			t.Error(v)
		}
	}
}

// TestHistoryCommits plants what one commit must not do.
func TestHistoryCommits(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		invariant, what string
		plant           func(h *spooltest.History)
	}{
		"a start without a job": {
			"job", "queues run r without a job", func(h *spooltest.History) { h.Commits[0].Jobs = nil },
		},
		"a start with another's job": {
			"job", "queues run r without a job", func(h *spooltest.History) { h.Commits[0].Jobs[0].RunID = "r0" },
		},
		"a worker without a job":       {"job", "starts run r for a worker", func(h *spooltest.History) { begin(h, false) }},
		"a worker and another job":     {"job", "starts run r for a worker", func(h *spooltest.History) { begin(h, true) }},
		"a claim of a run that waits":  {"job", "claims a job of run r", func(h *spooltest.History) { claim(h, "acme") }},
		"another tenant's claimed job": {"tenant", "adds a job of eve/t", func(h *spooltest.History) { claim(h, "eve") }},
		"a resume without a job":       {"job", "commit 3 queues run r", func(h *spooltest.History) { resume(h, nil) }},
		"another tenant's run": {
			"tenant", "writes run r of eve/t", func(h *spooltest.History) { own(h, "eve", "t") },
		},
		"another thread's run": {
			"tenant", "writes run r of acme/u", func(h *spooltest.History) { own(h, "acme", "u") },
		},
		"another tenant's job": {
			"tenant", "adds a job of eve/t",
			func(h *spooltest.History) { h.Commits[0].Jobs[0].Tenant, h.Commits[0].Jobs[0].ThreadID = "eve", "t" },
		},
		"an entry of another thread": {
			"tenant", "is told of the thread u",
			func(h *spooltest.History) { tell(h, wire.Frame{Event: &wire.Entry{ThreadID: "u"}}) },
		},
		"a snapshot of another thread": {"tenant", "has a snapshot of u", func(h *spooltest.History) {
			tell(h, wire.Frame{Snapshot: &wire.Snapshot{Thread: wire.Thread{ID: "u"}}})
		}},
		"time that is not counted": {
			"wall-time", "counts 0s of run r, which executed for 1m0s", func(h *spooltest.History) { carry(h, 0, 0) },
		},
		"time that is counted twice": {
			"wall-time", "counts 2m0s of run r", func(h *spooltest.History) { carry(h, 2*time.Minute, 2*time.Minute) },
		},
		"time that is not charged": {
			"wall-time", "charges 0s to the budget of run r", func(h *spooltest.History) { carry(h, time.Minute, 0) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := timed()
			c.plant(h)
			for _, v := range h.Violations() {
				if v.Invariant == c.invariant && strings.Contains(v.What, c.what) {
					return
				}
			}
			t.Errorf("not found among %v", h.Violations())
		})
	}
}

// begin makes the start of the run give it to a worker, which has claimed a job if jobs is true. The jobs of the start
// remain.
func begin(h *spooltest.History, claimed bool) {
	h.Commits[0].Runs[0].State = wire.Running
	if claimed {
		claim(h, "acme")
		return
	}
	h.Commits[0].Jobs = nil
}

// claim makes the start of the run add a claimed job.
func claim(h *spooltest.History, tenant spool.Tenant) {
	h.Commits[0].Claimed = []store.ClaimedJob{{Job: wire.Job{Tenant: tenant, ThreadID: "t", RunID: "r"}}}
}

func resume(h *spooltest.History, jobs []wire.Job) {
	r := h.Commits[2].Runs[0]
	r.State = wire.Queued
	h.Commits[3].Runs, h.Commits[3].Jobs = []store.RunRow{r}, jobs
}

func own(h *spooltest.History, tenant spool.Tenant, thread spool.ThreadID) {
	h.Commits[1].Runs[0].Tenant, h.Commits[1].Runs[0].ThreadID = tenant, thread
}

func tell(h *spooltest.History, f wire.Frame) {
	f.Kind = wire.FrameThread
	if f.Snapshot != nil {
		f.Kind = wire.FrameSnapshot
	}
	h.Clients[0].Frames = append(h.Clients[0].Frames, f)
}

func carry(h *spooltest.History, carried, spent time.Duration) {
	h.Commits[2].Runs[0].WallTime = carried
	h.Commits[2].Runs[0].Allowance.Spent.WallTime = spent
}

// TestHistoryUnheardOf plants what no other test does.
func TestHistoryUnheardOf(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		invariant, what string
		plant           func(h *spooltest.History)
	}{
		"a summary of the user": {"summary", "is a summary of the role user", func(h *spooltest.History) {
			m := summaryOf("m1")
			m.Role = spool.RoleUser
			h.Threads[0].Messages = append(slices.Clone(h.Threads[0].Messages), m)
		}},
		"a summary without a word": {"summary", `with the text ""`, func(h *spooltest.History) {
			m := summaryOf("m1")
			m.Content[0].Text = ""
			h.Threads[0].Messages = append(slices.Clone(h.Threads[0].Messages), m)
		}},
		"a summary of no messages": {"summary", "tells of a summary of 0 messages", func(h *spooltest.History) {
			h.Commits[4].Messages = []spool.Message{summaryOf("m3")}
			h.Commits[4].Entries = append(slices.Clone(h.Commits[4].Entries),
				*wire.NewEntry(wire.EntryContextCompacted, "r", wire.ContextCompacted{MessageID: "s"}))
		}},
		"a run in the state of a thread": {
			"end-state", "run r is IDLE", func(h *spooltest.History) { h.Threads[0].Runs[0].State = wire.Idle },
		},
		"a run that waits and runs": {"waiting", "waits and is RUNNING", func(h *spooltest.History) {
			r := waiting(h, "r1", 1)
			r.State = wire.Running
			h.Threads[0].Runs = append(h.Threads[0].Runs, r)
		}},
		"a run that waits without a turn": {"waiting", "waits without a turn", func(h *spooltest.History) {
			r := waiting(h, "r1", 1)
			r.Wait = nil
			h.Threads[0].Thread.State = wire.Running
			h.Threads[0].Runs = append(h.Threads[0].Runs, r)
		}},
		"a turn that is no message": {"turn-order", "a turn cannot be read", func(h *spooltest.History) {
			h.Clients[0].Connections = []spooltest.Connection{{}}
			tell(h, wire.Frame{Event: &wire.Entry{Type: wire.NoticeMessageAppended, Payload: json.RawMessage(`[]`)}})
		}},
		"a state that is none": {"state-order", "a state cannot be read", func(h *spooltest.History) {
			tell(h, wire.Frame{Event: &wire.Entry{Type: wire.NoticeStateChange, Payload: json.RawMessage(`[]`)}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := sound()
			c.plant(h)
			for _, v := range h.Violations() {
				if v.Invariant == c.invariant && strings.Contains(v.What, c.what) {
					return
				}
			}
			t.Errorf("not found among %v", h.Violations())
		})
	}
}

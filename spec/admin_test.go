package spec_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// adminJob is a job as the server lists it.
type adminJob struct {
	JobID       int64          `json:"jobId"`
	State       string         `json:"state"`
	ThreadID    spool.ThreadID `json:"threadId"`
	RunID       spool.RunID    `json:"runId"`
	Agent       string         `json:"agent"`
	Model       string         `json:"model,omitempty"`
	Kind        wire.JobKind   `json:"kind"`
	Segment     int            `json:"segment,omitempty"`
	Attempts    int            `json:"attempts"`
	DueAt       time.Time      `json:"dueAt,omitzero"`
	FirstDueAt  time.Time      `json:"firstDueAt,omitzero"`
	LockedUntil time.Time      `json:"lockedUntil,omitzero"`
	Cause       string         `json:"cause,omitempty"`
	DiedAt      time.Time      `json:"diedAt,omitzero"`
}

var adminKinds = map[string]func() any{
	"overview": func() any { return new(wire.Overview) },
	"run":      func() any { return new(wire.RunDetail) },
	"runs": func() any {
		return new(struct {
			Runs []wire.Run `json:"runs"`
			Next string     `json:"next,omitempty"`
		})
	},
	"jobs": func() any {
		return new(struct {
			Jobs []adminJob `json:"jobs"`
			Next string     `json:"next,omitempty"`
		})
	},
	"redrive": func() any {
		return new(struct {
			Redriven int                  `json:"redriven"`
			Refused  int                  `json:"refused"`
			Results  []wire.RedriveResult `json:"results"`
			Next     string               `json:"next,omitempty"`
		})
	},
	"purge": func() any {
		return new(struct {
			Purged int `json:"purged"`
		})
	},
	"audit": func() any {
		return new(struct {
			Entries []wire.AuditEntry `json:"entries"`
			Next    string            `json:"next,omitempty"`
		})
	},
	"revision": func() any { return new(wire.Revision) },
	"revisions": func() any {
		return new(struct {
			Revisions []wire.RevisionSummary `json:"revisions"`
			Next      string                 `json:"next,omitempty"`
		})
	},
	"prune": func() any {
		return new(struct {
			DryRun    bool     `json:"dryRun"`
			Threads   int      `json:"threads"`
			ThreadIDs []string `json:"threadIds"`
			More      bool     `json:"more"`
		})
	},
}

// The bodies of the admin endpoints are read into the types that write them, and written
// again as they were.
func TestAdminBodies(t *testing.T) {
	t.Parallel()

	b, err := os.ReadFile("fixtures/admin.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Results []struct {
			Name, Kind string
			Value      json.RawMessage
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, c := range file.Results {
		seen[c.Kind] = true
		v := adminKinds[c.Kind]()
		if err := json.NewDecoder(bytes.NewReader(c.Value)).Decode(v); err != nil {
			t.Fatal(c.Name, err)
		}
		written, err := json.Marshal(v)
		if err != nil {
			t.Fatal(c.Name, err)
		}
		var want, got any
		if err := json.Unmarshal(c.Value, &want); err != nil {
			t.Fatal(c.Name, err)
		}
		if err := json.Unmarshal(written, &got); err != nil {
			t.Fatal(c.Name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: written differs (-fixture +written):\n%s", c.Name, diff)
		}
	}
	if len(seen) != len(adminKinds) {
		t.Errorf("there are fixtures of %v only", seen)
	}
}

// Package spec_test reads the fixtures that are not the root package's into the types
// that write them.
package spec_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

func TestResults(t *testing.T) {
	t.Parallel()

	b, err := os.ReadFile("fixtures/results.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Results []struct {
			Name   string          `json:"name"`
			Kind   string          `json:"kind"`
			Status int             `json:"status"`
			Value  json.RawMessage `json:"value"`
		} `json:"results"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func() any{
		"run": func() any { return new(wire.RunResult) },
		"runRefusal": func() any {
			return new(struct {
				wire.RunResult

				Code spool.Code `json:"code"`
			})
		},
		"outcome": func() any { return new(wire.RunOutcome) },
		"startedRun": func() any {
			return new(struct {
				Accepted bool `json:"accepted"`
				wire.RunOutcome
			})
		},
		"stop":    func() any { return new(wire.StopResult) },
		"respond": func() any { return new(wire.RespondResult) },
		"delete":  func() any { return new(wire.DeleteResult) },
		"compact": func() any { return new(wire.CompactResult) },
		"restore": func() any { return new(wire.RestoreResult) },
		"fork":    func() any { return new(wire.ForkResult) },
		"branch":  func() any { return new(wire.BranchMessages) },
		"branches": func() any {
			return new(struct {
				Branches []wire.Branch `json:"branches"`
			})
		},
		"publish": func() any {
			return new(struct {
				Accepted bool  `json:"accepted"`
				Seq      int64 `json:"seq,omitempty"`
			})
		},
		"events": func() any { return new(wire.EventPage) },
		"usage":  func() any { return new(wire.ThreadUsage) },
		"thread": func() any { return new(wire.Thread) },
		"threads": func() any {
			return new(struct {
				Threads []wire.Thread `json:"threads"`
				Next    string        `json:"next,omitempty"`
			})
		},
		"job": func() any {
			return new(struct {
				Accepted bool `json:"accepted"`
			})
		},
		"error": func() any {
			return new(struct {
				Error string     `json:"error"`
				Code  spool.Code `json:"code"`
			})
		},
	}
	for _, c := range file.Results {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()

			v := kinds[c.Kind]()
			d := json.NewDecoder(bytes.NewReader(c.Value))
			d.DisallowUnknownFields()
			if err := d.Decode(v); err != nil {
				t.Fatal(err)
			}
			written, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var want, got any
			if err := json.Unmarshal(c.Value, &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(written, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("written differs (-fixture +written):\n%s", diff)
			}
			if refused := c.Status >= 400; refused != bytes.Contains(c.Value, []byte(`"error"`)) {
				t.Errorf("status %d with the body %s", c.Status, c.Value)
			}
		})
	}
}

package server

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/queue"
	"github.com/spoolhq/spool/server/runs"
	"github.com/spoolhq/spool/server/threads"
	"github.com/spoolhq/spool/wire"
)

// What the document says of bodies is what the fixtures of the contract have: each field of
// theirs is known, and comes back.
func TestWireTypes(t *testing.T) {
	t.Parallel()

	for _, file := range []struct {
		name, list string
		kinds      map[string]reflect.Type
	}{
		{"results.json", "results", map[string]reflect.Type{
			"run": reflect.TypeFor[wire.RunResult](), "runRefusal": reflect.TypeFor[runs.RunRefusal](),
			"stop": reflect.TypeFor[wire.StopResult](), "respond": reflect.TypeFor[wire.RespondResult](),
			"delete": reflect.TypeFor[wire.DeleteResult](), "usage": reflect.TypeFor[wire.ThreadUsage](),
			"error": reflect.TypeFor[call.ErrorBody](), "compact": reflect.TypeFor[wire.CompactResult](),
			"outcome": reflect.TypeFor[wire.RunOutcome](), "startedRun": reflect.TypeFor[runs.StartedRun](),
			"publish": reflect.TypeFor[runs.PublishResult](), "events": reflect.TypeFor[threads.EventPage](),
			"thread": reflect.TypeFor[wire.Thread](), "branch": reflect.TypeFor[wire.BranchMessages](),
			"restore": reflect.TypeFor[wire.RestoreResult](), "fork": reflect.TypeFor[wire.ForkResult](),
			"branches": reflect.TypeFor[struct {
				Branches []wire.Branch `json:"branches"`
			}](),
			"job": reflect.TypeFor[queue.Taken](), "threads": reflect.TypeFor[struct {
				Threads []wire.Thread `json:"threads"`
				Next    string        `json:"next,omitempty"`
			}](),
		}},
	} {
		text, err := os.ReadFile("../spec/fixtures/" + file.name)
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]json.RawMessage
		var cases []struct {
			Name, Kind string
			Value      json.RawMessage
		}
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(all[file.list], &cases); err != nil || len(cases) == 0 {
			t.Fatalf("%s: %d cases, %v", file.name, len(cases), err)
		}
		for _, c := range cases {
			checkWire(t, file.name+" "+c.Name, file.kinds[c.Kind], c.Value)
		}
	}
}

// The entries, notices, items, frames and messages of the fixtures have what the document says of their types, and
// nothing else.
func TestUnionsAreDocumented(t *testing.T) {
	t.Parallel()

	doc := documentOf(t)
	for _, file := range []struct{ name, list, component string }{
		{"frames.json", "frames", "Frame"},
		{"entries.json", "entries", "Event"},
		{"entries.json", "notices", "Event"},
		{"items.json", "items", "Item"},
		{"messages.json", "messages", "Message"},
	} {
		text, err := os.ReadFile("../spec/fixtures/" + file.name)
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]json.RawMessage
		var cases []struct {
			Name  string
			Value map[string]any
		}
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(all[file.list], &cases); err != nil || len(cases) == 0 {
			t.Fatalf("%s: %d cases, %v", file.name, len(cases), err)
		}
		for _, c := range cases {
			component, word := file.component, c.Value["type"]
			if own, _ := word.(string); component == "Event" && spool.CheckEventType(own) == nil {
				component = "ApplicationEvent"
			}
			if word != "SOMETHING_NEW" && c.Name != "a kind of part to come" { // in no document before they are there
				doc.check(t, file.name+" "+c.Name, map[string]any{"$ref": componentRef + component}, c.Value, false)
			}
		}
	}
}

// A row of the ledger is what the document says, with all that it may have and with nothing.
func TestUsageRowWire(t *testing.T) {
	t.Parallel()

	n := int64(3)
	counts := spool.Usage{Input: &n, CacheRead: &n, CacheWrite: &n, Output: &n, Reasoning: &n}
	for name, row := range map[string]wire.UsageRow{
		"Full": {
			RunID: "r1", AgentID: "sub_1", Agent: "a", Kind: spool.UsageStep, Step: 1, Model: "m", ModelID: "m-1",
			Outcome: wire.OutcomeFinished, Usage: counts, Guess: counts,
			Cost:      &spool.Cost{Micros: 7, Currency: "USD", Source: spool.CostTable, Version: "v1"},
			CreatedAt: time.Unix(1, 0).UTC(),
		},
		"Empty": {RunID: "r1", Kind: spool.UsageStep, Outcome: wire.OutcomeLost, CreatedAt: time.Unix(1, 0).UTC()},
	} {
		value, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		checkWire(t, name, reflect.TypeFor[wire.UsageRow](), value)
	}
}

// No schema of the document is an object whose fields nobody names: a generated client would
// need a type by hand.
func TestNoUnnamedFields(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../spec/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					AdditionalProperties map[string]any `json:"additionalProperties"`
				} `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	d := json.NewDecoder(bytes.NewReader(bytes.ReplaceAll(text, []byte(`"additionalProperties": false`),
		[]byte(`"additionalProperties": null`))))
	if err := d.Decode(&document); err != nil || len(document.Components.Schemas) == 0 {
		t.Fatalf("%d schemas, %v", len(document.Components.Schemas), err)
	}
	for name, schema := range document.Components.Schemas {
		for field, s := range schema.Properties {
			if s.AdditionalProperties != nil && len(s.AdditionalProperties) == 0 {
				t.Errorf("%s.%s is an object of anything", name, field)
			}
		}
	}
}

func checkWire(t *testing.T, name string, kind reflect.Type, value json.RawMessage) {
	t.Helper()

	v := reflect.New(kind).Interface()
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	written, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(value, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(written, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -fixture +wire\n%s", name, diff)
	}
}

package intake

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A start with a known key is answered as the first one if it is the same, or means the same. Otherwise it is refused
// with the run of the key.
func TestRepeat(t *testing.T) {
	t.Parallel()
	first := newDesk(t)
	if result, err := first.Start(t.Context(), first.key, first.r); err != nil || !result.Accepted {
		t.Fatal(result, err)
	}
	runs := first.rows.Rows.Runs
	run := runs[len(runs)-1]
	if run.StartKey != "k" || run.StartHash == "" {
		t.Fatalf("saved: %+v", run.RunState)
	}
	for name, c := range map[string]struct {
		change func(d *desk)
		reused bool
	}{
		"same":          {func(*desk) {}, false},
		"no ids":        {func(d *desk) { d.key.ID, d.r.RunID = "", "" }, false},
		"defaults":      {func(d *desk) { d.r.Agent, d.r.Model, d.r.Budget.ToolCalls = "a", "m", 9 }, false},
		"default title": {func(d *desk) { d.r.Title = d.r.Prompt }, false},
		"empty lists": {
			func(d *desk) { d.r.Labels, d.r.Attachments = map[string]string{}, []wire.Attachment{} }, false,
		},
		"other defaults": {func(d *desk) { d.Budget.Default = spool.Budget{Tokens: 40} }, false},
		"by somebody else": {
			func(d *desk) { d.r.By, d.r.Scopes, d.r.HostState = "bob", []string{"x"}, json.RawMessage(`{"a":1}`) }, false,
		},
		"who may not stop":  {func(d *desk) { d.r.MayNotStop = true }, false},
		"before there were": {func(d *desk) { d.r.Prompt, d.store.started[0].StartHash = "other", "" }, false},
		"prompt":            {func(d *desk) { d.r.Prompt = "other" }, true},
		"thread":            {func(d *desk) { d.key.ID = "other" }, true},
		"run":               {func(d *desk) { d.r.RunID = "other" }, true},
		"steps":             {func(d *desk) { d.r.MaxSteps = 1 }, true},
		"tokens":            {func(d *desk) { d.r.Budget.Tokens = 7 }, true},
		"options":           {func(d *desk) { d.r.ProviderOptions = json.RawMessage(`{"seed":1}`) }, true},
		"edit":              {func(d *desk) { d.r.EditMessageID = "m1" }, true},
		"title":             {func(d *desk) { d.r.Title = "t" }, true},
		"labels":            {func(d *desk) { d.r.Labels = map[string]string{"a": "b"} }, true},
		"whenBusy":          {func(d *desk) { d.r.WhenBusy = spool.BusyEnqueue }, true},
		"its own id":        {func(d *desk) { d.r.ClientMessageID = "mine" }, true},
		"attachment": {func(d *desk) {
			d.r.Attachments = []wire.Attachment{{URL: "https://h.example/a", MediaType: "image/png"}}
		}, true},
	} {
		d := newDesk(t)
		d.store.started = []store.RunRow{run}
		c.change(d)
		want := wire.RunResult{Accepted: true, ThreadID: "c", RunID: "r", State: wire.Queued}
		if c.reused {
			want = wire.RunResult{
				ThreadID: "c", RunID: "r", Reason: wire.ReasonKeyReused, Error: "This Idempotency-Key belongs to another start",
			}
		}
		got, err := d.Start(context.Background(), d.key, d.r)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", name, diff, err)
		}
	}
}

// The order of keys and the space between values are no part of what a client asks for.
func TestHashOf(t *testing.T) {
	t.Parallel()
	of := func(options, schema string) string {
		return hashOf(wire.StartRequest{
			Prompt: "x", StartOptions: wire.StartOptions{
				ProviderOptions: json.RawMessage(options), Output: &spool.OutputSchema{Name: "n", Schema: json.RawMessage(schema)},
			},
			Client: wire.ClientInput{Tools: []wire.ClientTool{{Name: "t", Parameters: json.RawMessage(schema)}}},
		})
	}
	first := of(`{"a":1,"b":{"c":2.0,"d":[1,2]}}`, `{"type":"object","title":"<n>"}`)
	if of(`{ "b":{"d":[1,2],"c":2.0},"a":1 }`, `{"title":"\u003cn\u003e","type":"object"}`) != first {
		t.Error("the same request has another hash")
	}
	for _, other := range [][2]string{
		{`{"a":1,"b":{"c":2.0,"d":[2,1]}}`, `{"type":"object","title":"<n>"}`},
		{`{"a":1,"b":{"c":2.0,"d":[1,2]}}`, `{"type":"object"}`},
		{``, `{"type":"object","title":"<n>"}`},
	} {
		if of(other[0], other[1]) == first {
			t.Errorf("%s has the hash of another request", other)
		}
	}
}

// The store keeps hashes, and a start may come again after an update of the server: a request keeps its hash.
func TestHashOfStays(t *testing.T) {
	t.Parallel()
	full := wire.StartRequest{
		Prompt: "p", RunID: "r", Title: "t", Labels: map[string]string{"b": "2", "a": "1"}, EditMessageID: "m",
		ClientMessageID: "c",
		Attachments:     []wire.Attachment{{URL: "https://h.example/", ArtifactID: "a", MediaType: "image/png", Name: "n"}},
		HostState:       json.RawMessage(`{}`), By: "ann", Scopes: []string{"s"}, IdempotencyKey: "k", MayNotStop: true,
		Budget: spool.Budget{Tokens: 1, CostMicros: 2, Currency: "EUR", ToolCalls: 3, WallTime: 4},
		Client: wire.ClientInput{
			Tools:   []wire.ClientTool{{Name: "n", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`)}},
			Context: []wire.ClientContext{{Description: "d", Value: "v"}},
		},
		WhenBusy: spool.BusyEnqueue,
	}
	full.Agent, full.Model, full.MaxSteps, full.ProviderOptions = "a", "m", 5, json.RawMessage(`{"seed":7}`)
	full.Output = &spool.OutputSchema{Name: "n", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}
	plain := wire.StartRequest{Prompt: "p"}
	plain.Labels, plain.Attachments = map[string]string{}, []wire.Attachment{}
	for want, r := range map[string]wire.StartRequest{"N0mMUiunpmlyDK3Dmi17Ag": full, "Ln8HZ7srp1qMlQsufOGtSg": plain} {
		if got := hashOf(r); got != want {
			t.Errorf("%s has the hash %s, not %s", r.Prompt, got, want)
		}
	}
}

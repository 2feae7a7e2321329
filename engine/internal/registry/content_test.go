package registry

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/wire"
)

// described is a model that names its provider. It is never asked.
type described struct {
	spool.Model

	id string
}

func (d described) Describe() spool.ModelInfo {
	return spool.ModelInfo{Provider: "provider", Model: d.id}
}

func called(name string) spool.Tool {
	return spool.Tool{
		ToolSpec: spool.ToolSpec{
			Name: name, Description: "Calls " + name + ".", Parameters: json.RawMessage(`{"type":"object"}`),
		},
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return json.RawMessage(`"` + name + `"`), nil
		},
	}
}

func resolved() Config {
	send := called("send")
	send.Approval = spool.AlwaysApprove
	send.Access = spool.Access{Scopes: []string{"b", "a"}}
	return Config{
		Models: map[string]spool.Model{"m": described{id: "m-1"}, "n": described{id: "n-1"}},
		Agents: []spool.Agent{{
			Name: "a", Model: "m", Instructions: "Be kind.", Tools: []spool.Tool{send, called("look")},
			Extra:           map[string]any{"temperature": 0.5, "metadata": map[string]any{"b": 1, "a": []any{true}}},
			ProviderOptions: []string{"z", "y"},
			Spawn: &spool.Spawn{Profiles: map[string]spool.Profile{
				"one": {Description: "First.", Tools: []spool.Tool{called("look"), called("find")}}, "two": {Model: "n"},
				"three": {Spawns: true},
			}},
		}},
		WhenBusy: spool.BusyReject, OnBudget: spool.BudgetEnd,
	}
}

func made(t *testing.T, c Config) (*Registry, *Agent) {
	t.Helper()
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.ByName("a")
	if err != nil {
		t.Fatal(err)
	}
	return r, a
}

// TestRevisionSame resolves one agent many times, with its lists in another order. Go iterates over maps in
// another order each time.
func TestRevisionSame(t *testing.T) {
	t.Parallel()

	// Another process of another version has to find the same.
	const want = "rev_cedfbb33983728c727324d553495d77ebeaf46b9c5accc18bf5c64593949f4f2"
	for range 20 {
		c := resolved()
		a := &c.Agents[0]
		slices.Reverse(a.Tools)
		slices.Reverse(a.ProviderOptions)
		slices.Reverse(a.Spawn.Profiles["one"].Tools)
		if _, got := made(t, resolved()); got.Revision != want {
			t.Fatalf("the revision is %s, want %s: %+v", got.Revision, want, got.Content)
		}
		if _, got := made(t, c); got.Revision != want {
			t.Fatalf("in another order, the revision is %s", got.Revision)
		}
	}
}

func TestRevisionOfAgent(t *testing.T) {
	t.Parallel()

	_, a := made(t, resolved())
	for name, c := range map[string]struct {
		change func(a *spool.Agent, c *Config)
		same   bool
	}{
		"instructions": {func(a *spool.Agent, _ *Config) { a.Instructions = "Be brief." }, false},
		"description":  {func(a *spool.Agent, _ *Config) { a.Tools[0].Description = "Sends it." }, false},
		"schema":       {func(a *spool.Agent, _ *Config) { a.Tools[0].Parameters = nil }, false},
		"no approval":  {func(a *spool.Agent, _ *Config) { a.Tools[0].Approval = nil }, false},
		"some approval": {func(a *spool.Agent, _ *Config) {
			a.Tools[0].Approval = func(context.Context, spool.ToolCall) (bool, error) { return false, nil }
		}, false},
		"a tool less":        {func(a *spool.Agent, _ *Config) { a.Tools = a.Tools[1:] }, false},
		"the model's id":     {func(_ *spool.Agent, c *Config) { c.Models["m"] = described{id: "m-2"} }, false},
		"another model's id": {func(_ *spool.Agent, c *Config) { c.Models["n"] = described{id: "n-2"} }, false},
		"a profile": {func(a *spool.Agent, _ *Config) {
			a.Spawn.Profiles["one"] = spool.Profile{Description: "Another first."}
		}, false},
		"an extra field":    {func(a *spool.Agent, _ *Config) { a.Extra["temperature"] = 0.6 }, false},
		"the tool's scopes": {func(a *spool.Agent, _ *Config) { a.Tools[0].Access.Scopes = []string{"a"} }, false},
		"queue":             {func(a *spool.Agent, _ *Config) { a.Queue = "slow" }, true},
		"when busy":         {func(a *spool.Agent, _ *Config) { a.WhenBusy = spool.BusyEnqueue }, true},
		"the rule":          {func(a *spool.Agent, _ *Config) { a.Revisions = spool.RevisionsPin }, true},
		"a default":         {func(a *spool.Agent, _ *Config) { a.MaxSteps = defaultMaxSteps }, true},
		"the call": {func(a *spool.Agent, _ *Config) {
			a.Tools[0].Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) { return nil, nil }
		}, true},
	} {
		config := resolved()
		c.change(&config.Agents[0], &config)
		if _, got := made(t, config); (got.Revision == a.Revision) != c.same {
			t.Errorf("%s: the revision is %s, and was %s", name, got.Revision, a.Revision)
		}
	}
}

// TestRevisionHides keeps secrets out of the content. A new secret is no new revision.
func TestRevisionHides(t *testing.T) {
	t.Parallel()

	with := func(secret string) Config {
		c := resolved()
		c.Agents[0].Extra = map[string]any{
			"max_tokens": 10, "api_key": secret, "headers": map[string]any{"Authorization": secret, "X-Trace": "on"},
			"auth-token": secret, "servers": []any{"https://user:" + secret + "@example.com/", "https://example.com/"},
		}
		return c
	}
	_, a := made(t, with("hunter1"))
	r, other := made(t, with("hunter2"))
	if a.Revision != other.Revision {
		t.Error("a new secret is a new revision")
	}
	text, err := json.Marshal(a.Content)
	if err != nil || strings.Contains(string(text), "hunter") || strings.Contains(string(text), "hunter1") {
		t.Errorf("the content is %s, %v", text, err)
	}
	if !strings.Contains(string(a.Content.Extra), `"max_tokens":10`) ||
		!strings.Contains(string(a.Content.Extra), `"X-Trace":"on"`) {
		t.Errorf("the content is %s", a.Content.Extra)
	}
	pinned, err := r.Pinned(a.Revision, a.Content)
	if err != nil {
		t.Fatal(err)
	}
	got, want := toolresult.JSON(pinned.Extra), toolresult.JSON(with("hunter2").Agents[0].Extra)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the pinned extra (-want +got):\n%s", diff)
	}
}

// TestPinned pins an agent to its own revision. It is the same agent.
func TestPinned(t *testing.T) {
	t.Parallel()

	r, a := made(t, resolved())
	text, err := json.Marshal(a.Content)
	var stored wire.AgentContent
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := r.Pinned(a.Revision, stored)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.contentOf(pinned)
	if err != nil || again.Revision() != a.Revision || pinned.Revision != a.Revision {
		t.Errorf("the pinned agent is %+v, %v", again, err)
	}
	if got := pinned.Nested("one"); len(got.Tools) != 2 || got.MaxSteps != a.Nested("one").MaxSteps || !got.InheritModel {
		t.Errorf("the pinned profile is %+v", got)
	}
	if got := pinned.Nested("three"); !got.Spawns(spool.SpawnTool) {
		t.Errorf("the pinned profile is %+v", got)
	}

	stored.Instructions = "Pay everybody."
	if _, err := r.Pinned(a.Revision, stored); err == nil {
		t.Error("a content was accepted under another's id")
	}
	c := resolved()
	delete(c.Models, "n")
	c.Agents[0].Spawn = nil
	less, _ := made(t, c)
	if _, err := less.Pinned(a.Revision, a.Content); err == nil || !strings.Contains(err.Error(), `"n"`) {
		t.Errorf("a profile without its model: %v", err)
	}
}

// TestPinnedTools takes the stricter one of the revision's tool and the process's tool.
func TestPinnedTools(t *testing.T) {
	t.Parallel()

	rule := func(context.Context, spool.ToolCall) (bool, error) { return false, nil }
	for name, c := range map[string]struct {
		then    wire.ApprovalKind
		present func(context.Context, spool.ToolCall) (bool, error)
		want    wire.ApprovalKind
	}{
		"never":             {"", nil, ""},
		"always now":        {"", spool.AlwaysApprove, wire.ApprovalAlways},
		"sometimes now":     {"", rule, wire.ApprovalSometimes},
		"always then":       {wire.ApprovalAlways, nil, wire.ApprovalAlways},
		"always, then":      {wire.ApprovalAlways, rule, wire.ApprovalAlways},
		"sometimes":         {wire.ApprovalSometimes, rule, wire.ApprovalSometimes},
		"sometimes then":    {wire.ApprovalSometimes, nil, wire.ApprovalAlways},
		"sometimes, always": {wire.ApprovalSometimes, spool.AlwaysApprove, wire.ApprovalAlways},
	} {
		present := called("send")
		present.Approval, present.Idempotent, present.Access = c.present, true, spool.Access{Scopes: []string{"now"}}
		got := pinnedTools([]wire.ToolContent{{Name: "send", Description: "then", Approval: c.then, DistinctApprover: true}},
			[]spool.Tool{present})[0]
		if approvalKind(got) != c.want || got.Idempotent || !got.DistinctApprover || got.Description != "then" ||
			got.Access.Scopes[0] != "now" {
			t.Errorf("%s: the tool is %+v with the approval %q, want %q", name, got, approvalKind(got), c.want)
		}
	}
	lost := pinnedTools([]wire.ToolContent{{Name: "send"}}, nil)[0]
	if _, err := lost.Call(t.Context(), spool.ToolCall{}); spool.CodeOf(err) != spool.Gone {
		t.Errorf("a tool that is lost: %v", err)
	}
}

func TestRevisionRefused(t *testing.T) {
	t.Parallel()

	for want, change := range map[string]func(a *spool.Agent){
		`Config.Agents: agent "a" has no Revisions of the name "always"`: func(a *spool.Agent) { a.Revisions = "always" },
		`Config.Agents: agent "a" has an Extra that is not JSON`: func(a *spool.Agent) {
			a.Extra = map[string]any{"f": func() {}}
		},
		`Config.Agents: agent "a" has a profile "p" with an Extra`: func(a *spool.Agent) {
			a.Spawn = &spool.Spawn{Profiles: map[string]spool.Profile{"p": {Extra: map[string]any{"f": func() {}}}}}
		},
	} {
		c := resolved()
		change(&c.Agents[0])
		if _, err := New(c); spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

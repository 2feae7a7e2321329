package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool/wire"
)

func content() wire.AgentContent {
	return wire.AgentContent{
		Name: "a", Instructions: "Be kind.", Model: wire.ModelContent{Name: "m", Provider: "openai", ID: "m-1"}, MaxSteps: 25,
		Tools: []wire.ToolContent{{
			Name: "send", Description: "Sends.", Approval: wire.ApprovalAlways,
			Parameters: json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"},"n":{"maximum":12345678901234567890}}}`),
		}},
	}
}

// TestRevision pins the id of a content, which is stored and compared with what later versions make of the
// same agent.
func TestRevision(t *testing.T) {
	t.Parallel()

	const want = "rev_997ff856ca565f939d4d29d235781b753806ae5dad6b53dee6db9abf5b136ef4"
	if got := content().Revision(); got != want {
		t.Errorf("the revision is %s, want %s", got, want)
	}
	c := content()
	c.Tools[0].Parameters = json.RawMessage(` {"properties": {"n": {"maximum": 12345678901234567890}, "to": {"type": "string"}}, "type": "object"} `)
	if got := c.Revision(); got != want {
		t.Errorf("with other white space and another order of keys, the revision is %s", got)
	}
	text, err := json.Marshal(c)
	var stored wire.AgentContent
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if got := stored.Revision(); err != nil || got != want {
		t.Errorf("after a store, the revision is %s, %v", got, err)
	}
}

func TestRevisionDiffers(t *testing.T) {
	t.Parallel()

	seen := map[wire.RevisionID]string{content().Revision(): "nothing"}
	for name, change := range map[string]func(c *wire.AgentContent){
		"name":         func(c *wire.AgentContent) { c.Name = "b" },
		"instructions": func(c *wire.AgentContent) { c.Instructions = "Be brief." },
		"model":        func(c *wire.AgentContent) { c.Model.Name = "n" },
		"model id":     func(c *wire.AgentContent) { c.Model.ID = "m-2" },
		"steps":        func(c *wire.AgentContent) { c.MaxSteps = 5 },
		"budget":       func(c *wire.AgentContent) { c.Budget.Tokens = 5 },
		"access":       func(c *wire.AgentContent) { c.Access.Scopes = []string{"x"} },
		"approver":     func(c *wire.AgentContent) { c.DistinctApprover = true },
		"extra":        func(c *wire.AgentContent) { c.Extra = json.RawMessage(`{"a":1}`) },
		"no tool":      func(c *wire.AgentContent) { c.Tools = nil },
		"description":  func(c *wire.AgentContent) { c.Tools[0].Description = "Sends it." },
		"schema":       func(c *wire.AgentContent) { c.Tools[0].Parameters = json.RawMessage(`{"type":"object"}`) },
		"approval":     func(c *wire.AgentContent) { c.Tools[0].Approval = wire.ApprovalSometimes },
		"idempotent":   func(c *wire.AgentContent) { c.Tools[0].Idempotent = true },
		"spawn":        func(c *wire.AgentContent) { c.Spawn = &wire.SpawnContent{MaxDepth: 2} },
		"profile": func(c *wire.AgentContent) {
			c.Spawn = &wire.SpawnContent{MaxDepth: 2, Profiles: []wire.ProfileContent{{Name: "p"}}}
		},
	} {
		c := content()
		change(&c)
		got := c.Revision()
		if other, ok := seen[got]; ok {
			t.Errorf("%s has the revision of %s", name, other)
		}
		seen[got] = name
	}
}

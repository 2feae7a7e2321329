package spool_test

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
)

func content() spool.AgentContent {
	return spool.AgentContent{
		Name: "a", Instructions: "Be kind.", Model: spool.ModelContent{Name: "m", Provider: "openai", ID: "m-1"}, MaxSteps: 25,
		Tools: []spool.ToolContent{{
			Name: "send", Description: "Sends.", Approval: spool.ApprovalAlways,
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
	var stored spool.AgentContent
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if got := stored.Revision(); err != nil || got != want {
		t.Errorf("after a store, the revision is %s, %v", got, err)
	}
}

func TestRevisionDiffers(t *testing.T) {
	t.Parallel()

	seen := map[spool.RevisionID]string{content().Revision(): "nothing"}
	for name, change := range map[string]func(c *spool.AgentContent){
		"name":         func(c *spool.AgentContent) { c.Name = "b" },
		"instructions": func(c *spool.AgentContent) { c.Instructions = "Be brief." },
		"model":        func(c *spool.AgentContent) { c.Model.Name = "n" },
		"model id":     func(c *spool.AgentContent) { c.Model.ID = "m-2" },
		"steps":        func(c *spool.AgentContent) { c.MaxSteps = 5 },
		"budget":       func(c *spool.AgentContent) { c.Budget.Tokens = 5 },
		"access":       func(c *spool.AgentContent) { c.Access.Scopes = []string{"x"} },
		"approver":     func(c *spool.AgentContent) { c.DistinctApprover = true },
		"extra":        func(c *spool.AgentContent) { c.Extra = json.RawMessage(`{"a":1}`) },
		"no tool":      func(c *spool.AgentContent) { c.Tools = nil },
		"description":  func(c *spool.AgentContent) { c.Tools[0].Description = "Sends it." },
		"schema":       func(c *spool.AgentContent) { c.Tools[0].Parameters = json.RawMessage(`{"type":"object"}`) },
		"approval":     func(c *spool.AgentContent) { c.Tools[0].Approval = spool.ApprovalSometimes },
		"idempotent":   func(c *spool.AgentContent) { c.Tools[0].Idempotent = true },
		"spawn":        func(c *spool.AgentContent) { c.Spawn = &spool.SpawnContent{MaxDepth: 2} },
		"profile": func(c *spool.AgentContent) {
			c.Spawn = &spool.SpawnContent{MaxDepth: 2, Profiles: []spool.ProfileContent{{Name: "p"}}}
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

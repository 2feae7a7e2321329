package registry

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
)

// Request returns a run's request to its model.
func (a *Agent) Request(run store.RunRow, messages []spool.Message) spool.ModelRequest {
	r := spool.ModelRequest{
		Instructions: a.Instructions, Messages: messages,
		MaxOutputTokens: a.MaxOutputTokens, Extra: Extra(a, run),
		Output:   a.OutputOf(run),
		CacheKey: cacheKey(spool.ThreadKey{Tenant: run.Tenant, ID: run.ThreadID}, run.AgentID()),
	}
	r.Tools = a.listed(run.Described)
	r.CacheMarks = cacheMarks(r)
	return r
}

// listed returns the tools of a request: those that need not be found, and behind them those that were described, in
// this order. So the list only grows at its end, and a provider's cache of the prompt stays.
func (a *Agent) listed(described []string) (list []spool.ToolSpec) {
	places := make(map[string]int, len(described))
	for i, name := range described {
		places[name] = i
	}
	found := make([]*spool.Tool, len(described))
	for i := range a.Tools {
		t := &a.Tools[i]
		if !t.Search {
			list = append(list, t.ToolSpec)
		} else if at, ok := places[t.Name]; ok {
			found[at] = t
		}
	}
	for _, t := range found {
		if t != nil { // nil: the agent no longer has it
			list = append(list, t.ToolSpec)
		}
	}
	return list
}

// cacheKey returns a provider's cache key for an agent on a thread. The key is a hash, so it reveals
// neither.
func cacheKey(key spool.ThreadKey, agent spool.AgentID) string {
	sum := sha256.Sum256(toolresult.JSON([]any{"cache", key.Tenant, key.ID, agent}))
	return hex.EncodeToString(sum[:16])
}

// cacheMarks returns the points up to which later requests are the same: after the instructions, after
// the earlier turns, and after the last step.
func cacheMarks(r spool.ModelRequest) []int {
	var marks []int
	if r.Instructions != "" || len(r.Tools) > 0 {
		marks = append(marks, 0)
	}
	for i := len(r.Messages) - 1; i > 0; i-- {
		if r.Messages[i].Role == spool.RoleUser {
			marks = append(marks, i)
			break
		}
	}
	if len(r.Messages) > 0 {
		marks = append(marks, len(r.Messages))
	}
	return marks
}

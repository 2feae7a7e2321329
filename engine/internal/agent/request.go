package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// request returns what the loop's model is asked.
func (l *loop) request(messages []spool.Message) spool.ModelRequest {
	r := spool.ModelRequest{
		Instructions: l.agent.Instructions, Messages: messages,
		MaxOutputTokens: l.agent.MaxOutputTokens, Extra: registry.Extra(l.agent, l.run),
		CacheKey: cacheKey(l.s.key, l.run.AgentID()),
	}
	for _, t := range l.agent.Tools {
		r.Tools = append(r.Tools, t.ToolSpec)
	}
	r.CacheMarks = cacheMarks(r)
	return r
}

// cacheKey names an agent on a thread to a provider, which learns nothing of either.
func cacheKey(key spool.ThreadKey, agent spool.AgentID) string {
	sum := sha256.Sum256(toolresult.JSON([]any{"cache", key.Tenant, key.ID, agent}))
	return hex.EncodeToString(sum[:16])
}

// cacheMarks returns where later requests go on from: from the instructions, from the
// turns before the present one, and from the last step.
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

// history reads the messages of the loop's agent.
func (l *loop) history(ctx context.Context) (h *history.Messages, err error) {
	err = l.s.runner.Store.View(ctx, l.s.key, func(v spool.View) (err error) {
		h, err = history.Read(v, l.run)
		return err
	})
	if err != nil && ctx.Err() == nil {
		err = storeError{err}
	}
	return h, err
}

package intake

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// agentOf gives a start that names no agent the one that the thread was handed to, and reports whether it did. An agent
// that the caller may not use, or that this process lacks, does not count.
func (h *Handler) agentOf(ctx context.Context, key spool.ThreadKey, r *wire.StartRequest) (bool, error) {
	if r.Agent != "" || key.ID == "" || !h.Registry.HandsOver() {
		return false, nil
	}
	name, err := h.holder(ctx, key, r.EditMessageID)
	if err != nil || name == "" || h.Registry.For(name, key.Tenant, r.Scopes) == nil {
		return false, err
	}
	r.Agent = name
	return true, nil
}

// holder returns the agent that has taken the thread over, for a start that names none: the agent of the run whose
// message is the newest one. With an edit, the messages before the edited turn count. Holder returns "" if the thread
// was not handed to anybody.
func (h *Handler) holder(ctx context.Context, key spool.ThreadKey, edit spool.MessageID) (agent string, err error) {
	err = h.Store.View(ctx, key, func(v store.View) error {
		main := spool.AgentID("")
		newest, err := v.Messages(store.MessageQuery{Agent: &main, Before: edit, Limit: 1})
		if err != nil || len(newest) == 0 {
			return err
		}
		run, err := store.FindRun(v, newest[0].RunID)
		if err == nil && run.HoldsThread() {
			agent = run.Agent
		}
		return err
	})
	if record.Missing(err) { // the thread is new, somebody else's, or begins with a message of no run
		return "", nil
	}
	return agent, err
}

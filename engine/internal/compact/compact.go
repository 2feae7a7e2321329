// Package compact summarises the older messages of a thread. If the thread has no active run, it also
// saves the summary. The agent of an active run saves its own summary.
package compact

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toollist"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// saveTimeout bounds the save of a summary, which is already paid for.
const saveTimeout = 30 * time.Second

// idle is what was read of a thread without an active run.
type idle struct {
	run     store.RunRow
	history []spool.Message
	last    spool.MessageID // of all messages, also those of nested runs
}

// Compactor makes summaries.
type Compactor struct {
	*change.Threads

	Registry *registry.Registry
	Context  history.Context
	Chat     *chat.Client
	// ToolLists has the tools of the sources, which are a part of each prompt.
	ToolLists *toollist.Lists

	compacting inProgress
}

// NewSummary returns a [chat.Summary] for prompts of the named model. To is the limits of these prompts.
// The configured summarising model makes the summary, or else the named model.
func (c *Compactor) NewSummary(
	name string, model spool.Model, m history.Meter, to history.Limits, row wire.UsageRow,
) *chat.Summary {
	if summarizer := c.Context.CompactionModel; summarizer != "" {
		name, model = summarizer, c.Registry.Models[summarizer]
	}
	return c.Chat.NewSummary(name, model, c.Context, m, to, row)
}

// Entry returns the record entry about a summary.
func Entry(run store.RunRow, summary *spool.Message, c history.Compaction) *wire.Entry {
	return wire.NewEntry(wire.EntryContextCompacted, run.Root(), wire.ContextCompacted{
		SummarizedMessages: len(c.Gone), MessageID: summary.ID, AgentID: run.AgentID(),
	})
}

// Count estimates the token count of a new prompt from the last counted prompt. It returns nil if no
// prompt was counted.
func Count(a *registry.Agent, run store.RunRow, past []spool.Message, m history.Meter) *store.ContextCount {
	if m.Tokens == 0 {
		return nil
	}
	w := history.Weigh(a.Request(run, history.RecallOf(past).Messages()))
	return &store.ContextCount{
		Tokens: m.Part(w), Bytes: w.Bytes, Images: w.Images,
		Messages: len(past), LastMessageID: past[len(past)-1].ID,
	}
}

// Idle summarises the older messages of a thread without an active run. If checkRoom returns an error,
// Idle returns that error and asks no model.
func (c *Compactor) Idle(ctx context.Context, key spool.ThreadKey, checkRoom func() error) (wire.CompactResult, error) {
	var before idle
	err := c.Store.View(ctx, key, func(v store.View) (err error) {
		before, err = readIdle(v)
		return err
	})
	if err != nil {
		return compactRefused(err)
	}
	// after readIdle: a caller that may not read the thread must not learn that it is being summarised
	end, ok := c.compacting.start(key)
	if !ok {
		return compactRefused(thread.Refuse(wire.ReasonCompacting, "The thread is being summarised already"))
	}
	defer end()
	if err := checkRoom(); err != nil {
		return wire.CompactResult{}, err
	}
	agent, err := c.Registry.ByName(before.run.Agent)
	if err != nil {
		return wire.CompactResult{}, err
	}
	agent = c.withTools(ctx, agent, before.run).Permitted(before.run)
	model := c.Registry.Model(before.run.Model, agent)
	m, recall := history.NewMeter(before.run.Context), history.RecallOf(before.history)
	to := c.Context.LimitsOf(before.run.Model, model, agent.MaxOutputTokens)
	size := min(to.Budget, m.Of(history.Weigh(agent.Request(before.run, recall.Messages()))))
	plan, some := recall.Plan(m, int64(float64(size)*c.Context.TailShare), "", "")
	if !some {
		return compactRefused(thread.Refuse(wire.ReasonNothingToCompact, "There is nothing to summarise"))
	}
	s := c.NewSummary(before.run.Model, model, m, to, wire.UsageRow{Agent: before.run.Agent})
	s.Tenant = key.Tenant
	text, failed := s.Summary(ctx, plan)
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	_, err = change.Update(saving, c.Threads, key, func(tx *thread.Tx) (struct{}, error) {
		if failed != nil {
			return struct{}{}, addRows(tx, s.Rows)
		}
		return struct{}{}, saveIdle(tx, agent, before, text, plan, m, s.Rows)
	})
	// keep the usage: the provider charges for the summary anyway
	if changed, ok := errors.AsType[*thread.RefusedError](err); ok {
		_, err := change.Update(saving, c.Threads, key,
			func(tx *thread.Tx) (struct{}, error) { return struct{}{}, addRows(tx, s.Rows) })
		if err != nil && !record.Missing(err) {
			return wire.CompactResult{}, err
		}
		return compactRefused(changed)
	}
	switch {
	case err != nil:
		return compactRefused(err)
	case failed != nil && ctx.Err() != nil:
		return wire.CompactResult{}, spool.Wrap(spool.Canceled, "Canceled", failed)
	case failed != nil:
		return wire.CompactResult{}, &spool.Error{Code: spool.Unavailable, Message: "The summary failed", Err: failed}
	}
	return wire.CompactResult{Compacted: true, SummarizedMessages: len(plan.Gone)}, nil
}

// withTools returns the agent with the tools that its sources had in the run, for the size of the prompt. If a list
// cannot be read, it returns the agent without the tools of all sources: the summary is more important than its size.
func (c *Compactor) withTools(ctx context.Context, agent *registry.Agent, run store.RunRow) *registry.Agent {
	lists := make(map[string]json.RawMessage, len(run.ToolLists))
	for _, p := range run.ToolLists {
		list, err := c.ToolLists.Get(ctx, p.List)
		if err != nil {
			return agent
		}
		lists[p.Source] = list
	}
	for _, source := range agent.Sources() {
		if _, known := lists[source.Name()]; !known {
			return agent
		}
	}
	with, err := agent.WithLists(lists)
	if err != nil {
		return agent
	}
	return with
}

// readIdle reads a thread and refuses it if it has an active run.
func readIdle(v store.View) (idle, error) {
	t, err := v.Thread()
	switch {
	case err != nil:
		return idle{}, err
	case t.State.Active():
		return idle{}, thread.Refuse(wire.ReasonActiveRun, store.ErrActiveRun.Message)
	case t.RunID == "":
		return idle{}, thread.Refuse(wire.ReasonNothingToCompact, "There is nothing to summarise")
	}
	run, err := store.FindRun(v, t.RunID)
	if err != nil {
		return idle{}, err
	}
	all, err := v.Messages(store.MessageQuery{})
	if err != nil {
		return idle{}, err
	}
	before := idle{run: run}
	if len(all) > 0 {
		before.last = all[len(all)-1].ID
	}
	before.history = slices.DeleteFunc(all, func(m spool.Message) bool { return m.AgentID != "" })
	return before, nil
}

// saveIdle saves the summary if the thread has not changed.
func saveIdle(
	tx *thread.Tx, agent *registry.Agent, before idle, text string, c history.Compaction, m history.Meter,
	rows []wire.UsageRow,
) error {
	newest, err := tx.Store.Messages(store.MessageQuery{Limit: 1})
	switch {
	case err != nil:
		return err
	case tx.Thread.State.Active():
		return thread.Refuse(wire.ReasonActiveRun, store.ErrActiveRun.Message)
	case tx.Run.ID != before.run.ID, len(newest) != 1, newest[0].ID != before.last:
		return thread.Refuse(wire.ReasonChanged, "The thread has changed meanwhile")
	}
	summary := tx.Message(spool.RoleSystem, c.Content(text))
	summary.RunID = "" // its run has ended
	entry := Entry(tx.Run, summary, c)
	entry.RunID = ""
	tx.Run.Context, tx.Run.Cleared = Count(agent, before.run, append(slices.Clip(before.history), *summary), m), ""
	return tx.Write(store.Changes{
		Runs: []store.RunRow{tx.Run}, Messages: []*spool.Message{summary}, Entries: []*wire.Entry{entry}, Usage: rows,
	})
}

// addRows adds usage that belongs to no run.
func addRows(tx *thread.Tx, rows []wire.UsageRow) error {
	return tx.Write(store.Changes{Usage: rows})
}

// compactRefused turns a refusal into a result.
func compactRefused(err error) (wire.CompactResult, error) {
	if no, ok := errors.AsType[*thread.RefusedError](err); ok {
		return wire.CompactResult{Reason: no.Reason, Error: no.Text}, nil
	}
	if record.Missing(err) {
		return wire.CompactResult{Reason: wire.ReasonNotFound, Error: record.ThreadNotFound}, nil
	}
	return wire.CompactResult{}, err
}

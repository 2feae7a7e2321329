//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// judge judges a thread whose runs have ended.
func (t *conversation) judge(ctx context.Context) {
	err := t.patiently(ctx, func() error {
		t.history.Threads = nil
		return t.history.Read(ctx, t.store, t.key)
	})
	if err == nil {
		err = t.patiently(ctx, func() (err error) {
			if t.mcp != nil {
				t.history.Executions = t.mcp.executions(t.key)
				return nil
			}
			t.history.Executions, err = t.effects.executions(ctx, t.key)
			return err
		})
	}
	if err != nil {
		if ctx.Err() == nil {
			t.violated("judge", t.key.String(), "the thread cannot be read: "+err.Error())
		}
		return
	}
	t.history.Settled = true
	found := t.history.Violations()
	for _, v := range found {
		t.violated(v.Invariant, v.Where, v.What)
	}
	if len(found) > 0 && t.o.Keep {
		t.dump(ctx)
	}
	for _, d := range t.history.Threads {
		for _, r := range d.Runs {
			if r.Depth > 0 {
				continue
			}
			t.count("runs ended")
			t.count("runs " + strings.ToLower(string(r.State)))
			t.add("segments", r.Segments)
			switch {
			case r.State == wire.Failed && t.edited(r, d.Messages):
				t.count("edits of a turn that was gone")
			case r.State == wire.Failed && t.mcp != nil && manyDeaths(r.Error):
				t.count("runs that failed as too many workers had died in a step")
			case r.State == wire.Failed:
				t.violated("failed", string(r.ID), "the run failed, and nothing in its script fails: "+r.Error)
			}
		}
		t.segments(d.Entries)
		saved := slices.Clone(d.Messages)
		for _, b := range d.Branches {
			saved = append(saved, b.Messages...)
		}
		for id, p := range t.plans {
			t.script(id, p, d.Runs, saved)
		}
		if t.mcp != nil {
			t.judgeMCP(d, saved)
		} else {
			t.outcomes(ctx, saved)
		}
	}
}

// segments counts how the segments of a thread have ended.
func (t *conversation) segments(entries []wire.Entry) {
	for _, e := range entries {
		var p wire.RunEnded
		if e.Type != wire.EntryRunEnded || json.Unmarshal(e.Payload, &p) != nil {
			continue
		}
		t.count("segments that ended as " + string(p.Status))
	}
}

// edited reports whether a run has failed because the turn that it edits is gone: an earlier edit has removed it
// while the run waited.
func (t *conversation) edited(r store.RunRow, view []spool.Message) bool {
	t.mu.Lock()
	turn := t.edits[r.ID]
	t.mu.Unlock()
	return turn != "" && r.Error == "Message not found" &&
		!slices.ContainsFunc(view, func(m spool.Message) bool { return m.ID == turn })
}

// dump writes everything that is known of the thread into the folder of the logs.
func (t *conversation) dump(ctx context.Context) {
	items, err := t.streams(ctx)
	if err != nil {
		items = []string{err.Error()}
	}
	raw, err := json.MarshalIndent(struct {
		Threads []spooltest.ThreadDump
		Clients []*spooltest.Client
		Streams []string
	}{t.history.Threads, t.history.Clients, items}, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(t.cluster.dir, string(t.key.ID)+".json"), raw, 0o600)
	}
	if err != nil {
		t.progress("the dump of " + t.key.String() + " failed: " + err.Error())
	}
}

// streams returns the items of the thread's streams that the database still has.
func (t *conversation) streams(ctx context.Context) ([]string, error) {
	conn, err := pgx.Connect(ctx, t.db.url("spool"))
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `SELECT concat_ws(' ', s.id, i.fence || '-' || i.n, i.type, i.seq)
		FROM spool.stream s JOIN spool.stream_item i ON i.hour = s.hour AND i.stream = s.number
		WHERE s.thread_id = $1 ORDER BY s.opened_at, s.number, i.fence, i.n`, string(t.key.ID))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// patiently repeats something that fails while PostgreSQL restarts.
func (c *campaign) patiently(ctx context.Context, do func() error) (err error) {
	for range 50 {
		if err = do(); err == nil || !sleep(ctx, 200*time.Millisecond) {
			return err
		}
	}
	return err
}

// script checks that a run that was accepted is there, and that a complete one has saved exactly what its model
// has said.
func (t *conversation) script(id spool.RunID, p plan, runs []store.RunRow, saved []spool.Message) {
	at := slices.IndexFunc(runs, func(r store.RunRow) bool { return r.ID == id })
	if at < 0 {
		t.violated("lost", string(id), "the run was accepted and is not there")
		return
	}
	if runs[at].State != wire.Completed {
		return
	}
	var turns, answers, want []string
	for _, m := range saved {
		switch {
		case m.RunID != id || m.AgentID != "":
		case m.Role == spool.RoleUser:
			turns = append(turns, m.Text())
		case m.Role == spool.RoleAssistant:
			answers = append(answers, m.Text())
		}
	}
	for step := range p.Steps {
		want = append(want, p.text(step))
	}
	if !slices.Equal(turns, []string{p.prompt()}) {
		t.violated("lost", string(id), fmt.Sprintf("the prompt %q was accepted, and %q is saved", p.prompt(), turns))
	}
	if !slices.Equal(answers, want) {
		t.violated("script", string(id), fmt.Sprintf("the model has said %q, and %q is saved", want, answers))
	}
}

// judge judges what all threads have in common: the effects of all tools, and the journals of the processes.
func (c *campaign) judge(ctx context.Context) {
	repeats, err := c.effects.repeats(ctx)
	if err == nil {
		for _, r := range repeats {
			c.violated("effect-once", r.Thread,
				fmt.Sprintf("call %s took effect %d times, on %s (%s)", r.Call, r.Times, r.Nodes, r.Key))
		}
	}
	if c.mcp != nil {
		c.judgeEffects()
	}
	found, err := c.journals.read(c.cluster.journals())
	if err != nil {
		c.violated("journal", "the journals", err.Error())
	}
	for _, what := range found {
		invariant := "stale-write"
		switch {
		case strings.HasPrefix(what, "job"):
			invariant = "stale-ack"
		case strings.HasPrefix(what, "call"):
			invariant = "late-call"
		}
		c.violated(invariant, "a node", what)
	}
}

// finish judges what must be empty at the end, and completes the report.
func (c *campaign) finish(ctx context.Context) {
	jobs, err := c.store.Jobs(ctx, wire.JobQuery{Tenant: spool.DefaultTenant, State: wire.JobDead})
	if err != nil {
		c.violated("judge", "dead jobs", err.Error())
	}
	for _, j := range jobs {
		if c.mcp == nil || !manyDeaths(j.Cause) {
			c.violated("dead-job", string(j.RunID), j.Cause)
		}
	}
	if c.mcp != nil {
		c.finishMCP()
	}
	began, took, err := c.effects.counts(ctx)
	if err != nil {
		c.violated("judge", "effects", err.Error())
	}
	c.add("executions of tools", began)
	c.add("effects of tools", took)
	c.add("claims of jobs", c.journals.claims)
	c.add("acknowledgements of jobs", c.journals.acks)
	c.add("tickets delivered again", c.journals.repeated)
	c.add("tickets delivered late", c.journals.late)
	lost := c.journals.lost()
	c.add("tickets that came again because their worker was gone", len(lost))
	if slices.Equal(c.o.Only, []string{"roll"}) {
		for _, l := range lost {
			c.violated("rolling", string(l.On), fmt.Sprintf("no process was killed, and job %d came again", l.Job))
		}
	}
	for _, n := range c.cluster.nodes {
		c.add("notifications swallowed", int(n.proxy.swallowed.Load()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Seconds = time.Since(c.began).Round(time.Second).Seconds()
	c.report.Counts, c.report.Takeovers = c.counts, c.takeovers.summary()
}

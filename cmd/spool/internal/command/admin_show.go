package command

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// The types have the fields of answers that the commands print. --json prints everything.

type shownRun struct {
	ID, ThreadID, Agent, Model, State, StopReason, Error string
	StartedAt, EndedAt                                   time.Time
	Steps                                                int
	TotalTokens                                          int64
	Expired                                              struct {
		Questions int
		Since     time.Time
	}
}

type shownJob struct {
	JobID                               int64
	State, ThreadID, RunID, Agent, Kind string
	Attempts                            int
	DueAt, FirstDueAt, LockedUntil      time.Time
	Cause                               string
	DiedAt                              time.Time
}

// table prints lines with columns separated by tabs.
func (c *adminClient) table(lines ...string) error {
	if c.json {
		return nil
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, "\t ")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// clean removes control characters, so that an answer cannot control the terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

func row(columns ...any) string {
	texts := make([]string, len(columns))
	for i, column := range columns {
		switch v := column.(type) {
		case time.Time:
			texts[i] = "-"
			if !v.IsZero() {
				texts[i] = v.UTC().Format("2006-01-02 15:04:05")
			}
		case string:
			if texts[i] = clean(v); v == "" {
				texts[i] = "-"
			}
		default:
			texts[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(texts, "\t")
}

func runRows(runs []shownRun) []string {
	lines := []string{"RUN\tTHREAD\tSTATE\tAGENT\tSTARTED\tSTEPS\tTOKENS\tERROR"}
	for _, r := range runs {
		line := row(r.ID, r.ThreadID, r.State, r.Agent, r.StartedAt, r.Steps, r.TotalTokens)
		lines = append(lines, line+"\t"+clean(r.Error))
	}
	return lines
}

// showReady is the health check of a container, which has no other program in it.
func showReady(ctx context.Context, c *adminClient, _ *adminFlags, _ string) error {
	var answer struct{ Status string }
	if err := c.get(ctx, "/readyz", nil, &answer); err != nil {
		return err
	}
	return c.table(clean(answer.Status))
}

func showOverview(ctx context.Context, c *adminClient, f *adminFlags, _ string) error {
	var o struct {
		Tenant        string
		Threads, Runs int64

		Bytes, BytesLimit int64

		RunsByState map[string]int64
		Tokens      struct{ InputTokens, OutputTokens, TotalTokens int64 }
		Queue       struct {
			Ready, Delayed, InFlight, Dead int
			OldestReadyMS                  int64
		}
		Active []shownRun
	}
	if err := c.get(ctx, "/api/admin/overview", f.query(), &o); err != nil {
		return err
	}
	var states []string
	for _, state := range []string{"QUEUED", "RUNNING", "WAITING_FOR_INPUT", "COMPLETED", "CANCELLED", "FAILED"} {
		if n := o.RunsByState[state]; n > 0 {
			states = append(states, fmt.Sprintf("%d %s", n, state))
		}
	}
	waits := ""
	if o.Queue.OldestReadyMS > 0 {
		waits = fmt.Sprintf("; the oldest waits for %s", time.Duration(o.Queue.OldestReadyMS)*time.Millisecond)
	}
	lines := []string{
		row("tenant", o.Tenant),
		row("threads", o.Threads),
		row("runs", strings.TrimSuffix(fmt.Sprintf("%d: %s", o.Runs, strings.Join(states, ", ")), ": ")),
		row("tokens", fmt.Sprintf("%d: %d in, %d out", o.Tokens.TotalTokens, o.Tokens.InputTokens, o.Tokens.OutputTokens)),
		row("bytes", strings.TrimSuffix(fmt.Sprintf("%d of %d", o.Bytes, o.BytesLimit), " of 0")),
		row("jobs", fmt.Sprintf("%d ready, %d delayed, %d in flight, %d dead%s",
			o.Queue.Ready, o.Queue.Delayed, o.Queue.InFlight, o.Queue.Dead, waits)),
	}
	if err := c.table(lines...); err != nil || len(o.Active) == 0 || c.json {
		return err
	}
	if _, err := io.WriteString(c.out, "\n"); err != nil {
		return err
	}
	return c.table(runRows(o.Active)...)
}

func showRuns(ctx context.Context, c *adminClient, f *adminFlags, _ string) error {
	var list struct {
		Runs []shownRun
		Next string
	}
	q := f.query("before", f.before, "state", f.state, "stopReason", f.stopReason, "threadId", f.thread, "agent", f.agent,
		"model", f.model,
		"limit", strconv.Itoa(f.limit))
	if f.expired {
		q.Set("expired", "true")
	}
	if err := c.get(ctx, "/api/admin/runs", q, &list); err != nil {
		return err
	}
	return c.list(list.Next, runRows(list.Runs))
}

// list prints a table, and how to continue the list.
func (c *adminClient) list(next string, lines []string) error {
	if err := c.table(lines...); err != nil || next == "" || c.json {
		return err
	}
	_, err := fmt.Fprintf(c.out, "\nThere is more: --before '%s'\n", clean(next))
	return err
}

func showRun(ctx context.Context, c *adminClient, f *adminFlags, id string) error {
	var d struct {
		Run      shownRun
		WaitsFor string
		Revision string
		Queue    []struct{ RunID, WhenBusy string }

		Delivered struct{ RunID, MessageID string }

		Steps []struct {
			Index, Attempts         int
			Outcome                 string
			TotalTokens, DurationMS int64
			Calls                   []struct{ ToolCallID, ToolName, Effect, Park string }
		}
		Children []shownRun
		Parks    []shownPark
	}
	if err := c.get(ctx, "/api/admin/runs/"+url.PathEscape(id), f.query(), &d); err != nil {
		return err
	}
	lines := []string{
		row("run", d.Run.ID), row("thread", d.Run.ThreadID), row("agent", d.Run.Agent), row("model", d.Run.Model),
		row("revision", d.Revision),
		row("state", strings.TrimSpace(d.Run.State+" "+d.Run.StopReason)), row("error", d.Run.Error),
		row("started", d.Run.StartedAt), row("ended", d.Run.EndedAt), row("tokens", d.Run.TotalTokens),
	}
	if x := d.Run.Expired; x.Questions > 0 {
		lines = append(lines, row("expired", fmt.Sprintf("%d without an answer until %s", x.Questions, row(x.Since))))
	}
	if d.WaitsFor != "" {
		lines = append(lines, row("waits", d.WaitsFor))
	}
	if d.Delivered.RunID != "" {
		lines = append(lines, row("delivered", "message "+d.Delivered.MessageID+" of run "+d.Delivered.RunID))
	}
	for _, q := range d.Queue {
		lines = append(lines, row("queue", q.RunID+" "+q.WhenBusy))
	}
	for _, p := range d.Parks {
		lines = append(lines, row("waits", fmt.Sprintf("%s: %s, %s, until %s", p.ToolName, p.Reason, p.State,
			row(p.ExpiresAt))))
		if p.State == parkOpen {
			lines = append(lines, row("call", p.ToolCallID), row("asks", p.argumentsStart()))
		}
	}
	for _, r := range d.Children {
		lines = append(lines, row("child", fmt.Sprintf("%s %s %s", r.ID, r.Agent, r.State)))
	}
	lines = append(lines, "", "STEP\tOUTCOME\tATTEMPTS\tTIME\tTOKENS\tCALLS")
	for _, s := range d.Steps {
		calls := make([]string, len(s.Calls))
		for i, call := range s.Calls {
			calls[i] = clean(strings.TrimSpace(call.ToolName + " " + call.Effect + " " + call.Park))
		}
		duration := time.Duration(s.DurationMS) * time.Millisecond
		lines = append(lines, row(s.Index, s.Outcome, s.Attempts, duration, s.TotalTokens)+"\t"+strings.Join(calls, ", "))
	}
	return c.table(lines...)
}

func showJobs(ctx context.Context, c *adminClient, f *adminFlags, _ string) error {
	if f.state == "dead" {
		return usagef(`--state: for dead jobs there is "spool admin dead"`)
	}
	var list struct{ Jobs []shownJob }
	q := f.query("state", f.state, "olderThan", f.olderThan, "limit", strconv.Itoa(f.limit))
	if err := c.get(ctx, "/api/admin/jobs", q, &list); err != nil {
		return err
	}
	lines := []string{"JOB\tSTATE\tTHREAD\tRUN\tAGENT\tKIND\tATTEMPTS\tDUE FIRST\tNEXT"}
	for _, j := range list.Jobs {
		next := j.DueAt
		if next.IsZero() {
			next = j.LockedUntil
		}
		lines = append(lines, row(j.JobID, j.State, j.ThreadID, j.RunID, j.Agent, j.Kind, j.Attempts, j.FirstDueAt, next))
	}
	return c.table(lines...)
}

func showDead(ctx context.Context, c *adminClient, f *adminFlags, _ string) error {
	var list struct {
		Jobs []shownJob
		Next string
	}
	if err := c.get(
		ctx, "/api/admin/jobs", f.query("state", "dead", "before", f.before, "limit", strconv.Itoa(f.limit)), &list,
	); err != nil {
		return err
	}
	lines := []string{"JOB\tTHREAD\tRUN\tAGENT\tKIND\tATTEMPTS\tDIED\tCAUSE"}
	for _, j := range list.Jobs {
		lines = append(lines, row(j.JobID, j.ThreadID, j.RunID, j.Agent, j.Kind, j.Attempts, j.DiedAt, j.Cause))
	}
	return c.list(list.Next, lines)
}

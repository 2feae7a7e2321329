package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// showRevisions prints the list of revisions, or one revision.
func showRevisions(ctx context.Context, c *adminClient, f *adminFlags, id string) error {
	if id != "" {
		return showRevision(ctx, c, f, id)
	}
	var list struct {
		Revisions []struct {
			ID, Agent, Model string
			FirstUsedAt      time.Time
			Tools            int
		}
		Next string
	}
	q := f.query("before", f.before, "agent", f.agent, "limit", strconv.Itoa(f.limit))
	if err := c.get(ctx, "/api/admin/revisions", q, &list); err != nil {
		return err
	}
	lines := []string{"AGENT\tFIRST USED\tMODEL\tTOOLS\tREVISION"}
	for _, r := range list.Revisions {
		lines = append(lines, row(r.Agent, r.FirstUsedAt, r.Model, r.Tools, r.ID))
	}
	return c.list(list.Next, lines)
}

// showRevision prints what an agent was: a few lines, the instructions, and the rest as JSON.
func showRevision(ctx context.Context, c *adminClient, f *adminFlags, id string) error {
	if f.agent != "" {
		return usagef("admin revisions has either the id of a revision or --agent")
	}
	var r struct {
		ID          string
		FirstUsedAt time.Time
		Agent       json.RawMessage
	}
	var agent struct {
		Name, Instructions string
		Model              struct{ Name, Provider, ID string }
		Tools              []struct{ Name, Approval string }
	}
	if err := c.get(ctx, "/api/admin/revisions/"+url.PathEscape(id), f.query(), &r); err != nil || c.json {
		return err
	}
	if err := json.Unmarshal(r.Agent, &agent); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	tools := make([]string, len(agent.Tools))
	for i, t := range agent.Tools {
		tools[i] = t.Name
		if t.Approval != "" {
			tools[i] += " (approval: " + t.Approval + ")"
		}
	}
	err := c.table(row("revision", r.ID), row("agent", agent.Name), row("first used", r.FirstUsedAt),
		row("model", strings.TrimSpace(agent.Model.Name+" "+agent.Model.ID)), row("tools", strings.Join(tools, ", ")))
	if err != nil {
		return err
	}
	var whole bytes.Buffer
	if err := json.Indent(&whole, r.Agent, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "\ninstructions:\n%s\n\nwhole:\n%s\n", cleanLines(agent.Instructions),
		cleanLines(whole.String()))
	return err
}

// cleanLines is clean, and keeps the lines.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

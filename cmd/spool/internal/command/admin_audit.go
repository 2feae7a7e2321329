package command

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// auditFlags returns the flags of the command that lists the audit log.
func auditFlags() []adminFlag {
	return []adminFlag{
		textFlag("action", "ACTION", "only this action, such as answer, stop or delete_thread",
			func(f *adminFlags) *string { return &f.action }),
		textFlag("thread", "ID", "only about this thread", func(f *adminFlags) *string { return &f.thread }),
		textFlag("by", "SUBJECT", "only actions of this subject", func(f *adminFlags) *string { return &f.by }),
		textFlag("since", "TIME", "only since this time, such as 2026-01-02T03:04:05Z",
			func(f *adminFlags) *string { return &f.since }),
		textFlag("until", "TIME", "only before this time", func(f *adminFlags) *string { return &f.until }),
		{"server", "", "entries of no tenant: refused credentials; for an operator", func(fs *flag.FlagSet, f *adminFlags) {
			fs.BoolVar(&f.server, "server", false, "")
		}},
		limitFlag, beforeFlag,
	}
}

// shownEntry has the fields of an audit entry that the command prints.
type shownEntry struct {
	Seq                                  int64
	At                                   time.Time
	Action, By, ByTenant                 string
	Operator                             bool
	ThreadID, RunID, ToolCallID, Address string
	JobID, Count                         int64
	Approved                             *bool
	Digest, Reason                       string
	Detail                               json.RawMessage
}

func showAudit(ctx context.Context, c *adminClient, f *adminFlags, _ string) error {
	var list struct {
		Entries []shownEntry
		Next    string
	}
	server := ""
	if f.server {
		server = "true"
	}
	q := f.query("before", f.before, "action", f.action, "threadId", f.thread, "by", f.by, "since", f.since, "until",
		f.until,
		"server", server, "limit", strconv.Itoa(f.limit))
	if err := c.get(ctx, "/api/admin/audit", q, &list); err != nil {
		return err
	}
	lines := []string{"SEQ\tAT\tACTION\tBY\tTHREAD\tRUN\tWHAT"}
	for _, e := range list.Entries {
		lines = append(lines, row(e.Seq, e.At, e.Action, e.who(), e.ThreadID, e.RunID)+"\t"+clean(e.what()))
	}
	return c.list(list.Next, lines)
}

func (e shownEntry) who() string {
	switch {
	case e.ByTenant != "" && e.By != "":
		return e.ByTenant + "/" + e.By
	case e.Operator && e.By != "":
		return e.By + " (operator)"
	case e.Operator:
		return "an operator"
	default:
		return e.By
	}
}

// what returns a line with the remaining fields of an entry.
func (e shownEntry) what() string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if e.Approved != nil {
		add("%s", map[bool]string{true: "approved", false: "denied"}[*e.Approved])
	}
	if e.ToolCallID != "" {
		add("%s", e.ToolCallID)
	}
	if e.JobID != 0 {
		add("job %d", e.JobID)
	}
	if e.Address != "" {
		add("%d from %s", max(e.Count, 1), e.Address)
	}
	if e.Digest != "" {
		add("%.19s", e.Digest) // enough to tell it from others
	}
	var asked struct{ Revision string }
	switch {
	case len(e.Detail) == 0:
	case json.Unmarshal(e.Detail, &asked) == nil && asked.Revision != "":
		add("%.12s", asked.Revision) // "spool admin revisions" takes the beginning of an id
	default:
		add("%s", e.Detail)
	}
	if e.Reason != "" {
		add("(%s)", e.Reason)
	}
	return strings.Join(words, " ")
}

package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/cmd/spool/internal/chat"
	"github.com/spoolhq/spool/wire"
)

func inboxCommand() talkCommand {
	return talkCommand{
		name: "inbox", most: 2,
		usages: [][2]string{
			{"[flags]", "what agents ask, over all threads"},
			{"answer ID (--approve | --deny) [flags]", "answer one question"},
		},
		about: `Answer what agents ask, over all threads. In a terminal, it shows one question after the other:
j and k go to the next and the one before, a approves, d denies, e edits the arguments, g gives
the result of a call whose outcome nobody knows, r gives a reason, l loads the list again, and q
leaves. Elsewhere it prints a list. The ID is that of the call.`,
		flags: []talkFlag{
			talkText("agent", "NAME", "only of this agent", func(f *talkFlags) *string { return &f.agent }),
			talkText("tool", "NAME", "only calls of this tool", func(f *talkFlags) *string { return &f.tool }),
			talkText("thread", "ID", "only of this thread", func(f *talkFlags) *string { return &f.thread }),
			talkText("order", "ORDER", "age, which is the default, or expiry: what comes first",
				func(f *talkFlags) *string { return &f.order }),
			talkSwitch("expired", "print those that nobody answered in time", func(f *talkFlags) *bool { return &f.expired }),
			{
				"limit", "N", "the most questions; default 100",
				func(fs *flag.FlagSet, f *talkFlags) { fs.IntVar(&f.limit, "limit", 100, "") },
			},
			talkSwitch("approve", "answer: the call may run", func(f *talkFlags) *bool { return &f.approve }),
			talkSwitch("deny", "answer: it may not", func(f *talkFlags) *bool { return &f.deny }),
			talkText("reason", "TEXT", "answer: why, for the model and the record",
				func(f *talkFlags) *string { return &f.reason }),
			talkText("arguments", "JSON", "answer: other arguments for an approved call",
				func(f *talkFlags) *string { return &f.arguments }),
			talkText("payload", "JSON", "answer: a value for the tool, or the new totals of a budget",
				func(f *talkFlags) *string { return &f.payload }),
			talkSwitch("json", "print each question, or the result, as JSON in one line",
				func(f *talkFlags) *bool { return &f.json }),
		},
		run: inbox,
	}
}

// inbox executes inbox.
func inbox(ctx context.Context, c *client.Client, f *talkFlags, args []string, h host) error {
	switch {
	case len(args) > 0 && args[0] != "answer":
		return usagef("inbox has no place for %q", args[0])
	case len(args) == 1:
		return usagef("inbox answer wants the id of a call")
	case len(args) == 2:
		return inboxAnswer(ctx, c, f, spool.ToolCallID(args[1]), h)
	}
	more := false
	list := func(ctx context.Context) ([]wire.Question, error) {
		var all []wire.Question
		filter := client.InboxFilter{
			Agent: f.agent, Tool: f.tool, ThreadID: spool.ThreadID(f.thread), Order: wire.ParkOrder(f.order),
			PageSize: pageOf(f.limit),
		}
		if f.expired {
			filter.State = wire.ParkExpired
		}
		for q, err := range c.Inbox(ctx, filter) {
			if err != nil {
				return nil, err
			}
			if more = len(all) == f.limit; more {
				break
			}
			all = append(all, q)
		}
		return all, nil
	}
	if in, out, interactive := terminals(h); interactive && !f.json && !f.expired {
		ctx, release := untilSignal(ctx)
		defer release()
		terminal, err := chat.OpenTerminal(in, out)
		if err != nil {
			return err
		}
		defer terminal.Close()
		return (&chat.Inbox{Client: c, Term: terminal, List: list, Editor: editor(h), Style: styled(out, h)}).Run(ctx)
	}
	all, err := list(ctx)
	if err != nil {
		return err
	}
	lines := []string{row("CALL", "THREAD", "AGENT", "ASKED", "QUESTION")}
	for _, q := range all {
		if f.json {
			if err := jsonLine(h, q); err != nil {
				return err
			}
			continue
		}
		lines = append(lines, row(string(q.ToolCallID), string(q.ThreadID), strings.Join(q.Path, " > "), q.AskedAt,
			chat.Asked(q)))
	}
	return listed(h, f, lines, more, "questions")
}

// inboxAnswer answers one question, as it is shown now.
func inboxAnswer(ctx context.Context, c *client.Client, f *talkFlags, call spool.ToolCallID, h host) error {
	if f.approve == f.deny {
		return usagef("inbox answer wants either --approve or --deny")
	}
	a := chat.Answer{Approve: f.approve, Reason: f.reason}
	if f.arguments != "" {
		a.Arguments = json.RawMessage(f.arguments)
	}
	if f.payload != "" {
		a.Payload = json.RawMessage(f.payload)
	}
	var found []wire.Question
	for q, err := range c.Inbox(ctx, client.InboxFilter{ThreadID: spool.ThreadID(f.thread)}) {
		if err != nil {
			return err
		}
		if q.ToolCallID == call {
			found = append(found, q)
		}
	}
	switch {
	case len(found) == 0:
		return fmt.Errorf("no call %s waits for an answer", chat.Clean(string(call)))
	case len(found) > 1:
		return usagef("the call %s waits in %d threads; name one by --thread", chat.Clean(string(call)), len(found))
	}
	q := found[0]
	if err := a.Check(q.InputRequired); err != nil {
		return &usageError{err}
	}
	r, err := c.Respond(ctx, q.ThreadID, a.Request(q.InputRequired))
	switch {
	case err != nil:
		return err
	case f.json:
		err = jsonLine(h, r)
	case r.Delivered:
		_, err = fmt.Fprintln(h.stdout, map[bool]string{true: "approved", false: "denied"}[f.approve], chat.Asked(q))
	}
	if err == nil && !r.Delivered {
		return errors.New("the answer does not count: " + chat.Line(r.Error, 200))
	}
	return err
}

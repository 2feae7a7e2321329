package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/cmd/spool/internal/chat"
	"github.com/spoolhq/spool/wire"
)

func threadsCommand() talkCommand {
	return talkCommand{
		name: "threads", most: -1,
		usages: [][2]string{
			{"[flags]", "list threads, the last updated one first"},
			{"delete ID...", "delete threads and all that belongs to them"},
		},
		about: "List threads, or delete some.",
		flags: []talkFlag{
			talkText("search", "TEXT", "only threads whose title contains this",
				func(f *talkFlags) *string { return &f.search }),
			talkText("state", "STATE", "only in this state, such as RUNNING or WAITING_FOR_INPUT",
				func(f *talkFlags) *string { return &f.state }),
			talkSwitch("expired", "only with questions that nobody answered in time",
				func(f *talkFlags) *bool { return &f.expired }),
			talkText("owner", "SUBJECT", "only of this subject", func(f *talkFlags) *string { return &f.owner }),
			talkText("label", "KEY:VALUE", "only with this label", func(f *talkFlags) *string { return &f.label }),
			limitOf("threads"),
			talkSwitch("json", "print each thread as JSON in one line", func(f *talkFlags) *bool { return &f.json }),
		},
		run: showThreads,
	}
}

func limitOf(what string) talkFlag {
	return talkFlag{
		"limit", "N", "the most " + what + "; default 20",
		func(fs *flag.FlagSet, f *talkFlags) { fs.IntVar(&f.limit, "limit", 20, "") },
	}
}

// pageOf is the size of the pages of a list with a limit: one more says whether there are more.
func pageOf(limit int) int { return min(limit+1, 1000) }

// listed prints the lines of a list that were not printed as JSON, and tells if there are more.
func listed(h host, f *talkFlags, lines []string, more bool, what string) error {
	if !f.json {
		if err := columns(h, lines); err != nil {
			return err
		}
	}
	if more {
		fmt.Fprintf(h.stderr, "spool: there are more %s; --limit says how many to list\n", what)
	}
	return nil
}

// showThreads executes threads.
func showThreads(ctx context.Context, c *client.Client, f *talkFlags, args []string, h host) error {
	if len(args) > 0 {
		if args[0] != "delete" {
			return usagef(`threads has no place for %q; there is "threads delete ID"`, args[0])
		}
		if len(args) == 1 {
			return usagef("threads delete wants the id of a thread")
		}
		return deleteThreads(ctx, c, f, args[1:], h)
	}
	filter := client.ThreadFilter{
		Title: f.search, State: wire.State(f.state), Expired: f.expired, Owner: f.owner, PageSize: pageOf(f.limit),
	}
	if f.label != "" {
		key, value, ok := strings.Cut(f.label, ":")
		if !ok {
			return usagef("--label: %q must have the form key:value", f.label)
		}
		filter.Labels = map[string]string{key: value}
	}
	lines := []string{row("THREAD", "STATE", "UPDATED", "TITLE")}
	n := 0
	for t, err := range c.Threads(ctx, filter) {
		if err != nil {
			return err
		}
		if n++; n > f.limit {
			break
		}
		switch {
		case f.json:
			if err := jsonLine(h, t); err != nil {
				return err
			}
		default:
			state := string(t.State)
			if t.Expired.Questions > 0 {
				state += ", expired"
			}
			lines = append(lines, row(string(t.ID), state, t.UpdatedAt, chat.Line(t.Title, 60)))
		}
	}
	return listed(h, f, lines, n > f.limit, "threads")
}

// deleteThreads deletes threads one after the other.
func deleteThreads(ctx context.Context, c *client.Client, f *talkFlags, ids []string, h host) error {
	var failed error
	for _, id := range ids {
		r, err := c.DeleteThread(ctx, spool.ThreadID(id))
		switch {
		case err != nil:
			return err
		case f.json:
			if err := jsonLine(h, struct {
				ThreadID string `json:"threadId"`
				wire.DeleteResult
			}{id, r}); err != nil {
				return err
			}
		case r.Accepted:
			if _, err := fmt.Fprintln(h.stdout, "deleted", chat.Clean(id)); err != nil {
				return err
			}
		}
		if !r.Accepted {
			failed = errors.Join(failed, fmt.Errorf("delete %s: %s", chat.Clean(id), chat.Line(r.Error, 200)))
		}
	}
	return failed
}

// jsonLine prints a value as JSON in one line.
func jsonLine(h host, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintf(h.stdout, "%s\n", text)
	}
	return err
}

// columns prints lines with columns separated by tabs.
func columns(h host, lines []string) error {
	w := tabwriter.NewWriter(h.stdout, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, "\t ")); err != nil {
			return err
		}
	}
	return w.Flush()
}

func tailCommand() talkCommand {
	return talkCommand{
		name: "tail", most: 1,
		usages: [][2]string{{"THREAD [flags]", "print the events of a thread, now and as they come"}},
		about: `Print the events of a thread: the entries of its record with their numbers, the items of its
streams with their offsets, and notices. It goes on when the server restarts. Ctrl-C ends it.`,
		flags: []talkFlag{
			{
				"since", "SEQ", "only entries behind this one; default 0, which is all",
				func(fs *flag.FlagSet, f *talkFlags) { fs.Int64Var(&f.since, "since", 0, "") },
			},
			talkText("cursor", "CURSOR", "go on behind this position, which --json prints as id",
				func(f *talkFlags) *string { return &f.cursor }),
			talkSwitch("end", "end when the last run has ended or waits, instead of following",
				func(f *talkFlags) *bool { return &f.end }),
			talkSwitch("json", "print each frame as JSON in one line", func(f *talkFlags) *bool { return &f.json }),
		},
		run: tail,
	}
}

// tail executes tail.
func tail(ctx context.Context, c *client.Client, f *talkFlags, args []string, h host) error {
	ctx, release := untilSignal(ctx, os.Interrupt)
	defer release()
	if len(args) == 0 {
		return usagef("tail wants the id of a thread")
	}
	at := &wire.Cursor{Seq: f.since}
	if f.cursor != "" {
		cursor, ok := wire.ParseCursor(f.cursor)
		if !ok {
			return usagef("--cursor: %q is no cursor", f.cursor)
		}
		at = &cursor
	}
	seq := at.Seq
	o := client.FollowOptions{Cursor: at, OnRetry: func(err error, wait time.Duration) {
		fmt.Fprintf(h.stderr, "spool: %s; trying again in %s\n", spool.MessageOf(err), wait.Round(100*time.Millisecond))
	}}
	for frame, err := range c.Follow(ctx, spool.ThreadID(args[0]), o) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case f.json:
			err = chat.WriteFrame(h.stdout, frame)
		default:
			_, err = fmt.Fprintln(h.stdout, chat.Event(frame))
		}
		if err != nil {
			return err
		}
		if frame.Cursor != nil {
			seq = frame.Cursor.Seq
		}
		if f.end && chat.MayEnd(frame) {
			s, err := c.Snapshot(ctx, spool.ThreadID(args[0]), wire.SnapshotOptions{})
			if err == nil && view.New(s).Settled() && s.LastEventSeq <= seq {
				return nil
			}
		}
	}
	return nil
}

package command

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

func startsCommand() talkCommand {
	return talkCommand{
		name: "starts", most: 3,
		usages: [][2]string{
			{"[flags]", "list starts that wait for their time"},
			{"move RUN TIME", "give one another time: 2027-01-31T09:00:00Z, or now"},
			{"cancel RUN", "remove one"},
		},
		about: "List the starts that wait for their time, and those that were refused then, or act on one by\n" +
			"the id of its run. The token needs the scope read, and write to act.",
		flags: []talkFlag{
			talkText("thread", "ID", "only those of a thread", func(f *talkFlags) *string { return &f.thread }),
			talkSwitch("json", "print each line as JSON", func(f *talkFlags) *bool { return &f.json }),
		},
		run: starts,
	}
}

// starts executes starts.
func starts(ctx context.Context, c *client.Client, f *talkFlags, args []string, h host) error {
	switch {
	case len(args) == 0:
		var all []wire.DelayedStart
		for s, err := range c.DelayedStarts(ctx, spool.ThreadID(f.thread)) {
			if err != nil {
				return err
			}
			all = append(all, s)
		}
		return showStarts(h, f, all, nil)
	case args[0] == "move" && len(args) == 3:
		at := time.Now()
		if args[2] != "now" {
			var err error
			if at, err = time.Parse(time.RFC3339, args[2]); err != nil {
				return usagef("starts move wants a time such as 2027-01-31T09:00:00Z, or now")
			}
		}
		s, err := c.MoveDelayedStart(ctx, spool.RunID(args[1]), at)
		return showStarts(h, f, []wire.DelayedStart{s}, err)
	case args[0] == "cancel" && len(args) == 2:
		s, err := c.CancelDelayedStart(ctx, spool.RunID(args[1]))
		return showStarts(h, f, []wire.DelayedStart{s}, err)
	default:
		return usagef("starts wants nothing, move RUN TIME, or cancel RUN")
	}
}

// showStarts prints starts.
func showStarts(h host, f *talkFlags, list []wire.DelayedStart, err error) error {
	if err != nil {
		return err
	}
	lines := []string{row("RUN", "THREAD", "STARTS", "AGENT", "TITLE")}
	for _, s := range list {
		if f.json {
			if err := jsonLine(h, s); err != nil {
				return err
			}
			continue
		}
		when := shortTime(s.StartAt)
		if !s.RefusedAt.IsZero() {
			when = "refused: " + s.Reason
		}
		lines = append(lines, row(string(s.RunID), string(s.ThreadID), when, s.Agent, s.Title))
	}
	return listed(h, f, lines, false, "starts")
}

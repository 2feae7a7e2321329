package command

import (
	"context"
	"strings"
	"time"

	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

func schedulesCommand() talkCommand {
	return talkCommand{
		name: "schedules", most: 2,
		usages: [][2]string{
			{"[flags]", "list schedules, with their next due times"},
			{"pause NAME [--reason TEXT]", "let nothing come due"},
			{"resume NAME", "let it come due again"},
			{"run NAME", "start a run now"},
			{"ticks NAME", "what became of the last due times"},
		},
		about: "List the runs that start by themselves, or act on one. The token needs the scope schedules.",
		flags: []talkFlag{
			talkText("reason", "TEXT", "pause: why, for people", func(f *talkFlags) *string { return &f.reason }),
			talkSwitch("json", "print each line as JSON", func(f *talkFlags) *bool { return &f.json }),
		},
		run: schedules,
	}
}

// schedules executes schedules.
func schedules(ctx context.Context, c *client.Client, f *talkFlags, args []string, h host) error {
	if len(args) == 0 {
		return listSchedules(ctx, c, f, h)
	}
	act, known := map[string]func(ctx context.Context, name string) error{
		"pause": func(ctx context.Context, name string) error {
			s, err := c.PauseSchedule(ctx, name, f.reason)
			return showSchedules(h, f, []wire.Schedule{s}, err)
		},
		"resume": func(ctx context.Context, name string) error {
			s, err := c.ResumeSchedule(ctx, name)
			return showSchedules(h, f, []wire.Schedule{s}, err)
		},
		"run": func(ctx context.Context, name string) error {
			t, err := c.RunSchedule(ctx, name)
			return showTicks(h, f, []wire.ScheduleTick{t}, err)
		},
		"ticks": func(ctx context.Context, name string) error {
			list, err := c.ScheduleTicks(ctx, name)
			return showTicks(h, f, list, err)
		},
	}[args[0]]
	switch {
	case !known:
		return usagef("schedules has no place for %q; there are pause, resume, run and ticks", args[0])
	case len(args) == 1:
		return usagef("schedules %s wants the name of a schedule", args[0])
	}
	return act(ctx, args[1])
}

func listSchedules(ctx context.Context, c *client.Client, f *talkFlags, h host) error {
	var all []wire.Schedule
	for s, err := range c.Schedules(ctx) {
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	return showSchedules(h, f, all, nil)
}

// showSchedules prints schedules.
func showSchedules(h host, f *talkFlags, list []wire.Schedule, err error) error {
	if err != nil {
		return err
	}
	lines := []string{row("NAME", "WHEN", "NEXT", "LAST")}
	for _, s := range list {
		if f.json {
			if err := jsonLine(h, s); err != nil {
				return err
			}
			continue
		}
		next, last := shortTime(s.NextAt), ""
		if s.Paused {
			next = strings.TrimSuffix("paused: "+s.PausedReason, ": ")
		}
		if s.Last != nil {
			last = string(s.Last.Result) + " " + shortTime(s.Last.At)
		}
		lines = append(lines, row(s.Name, s.InWords, next, last))
	}
	return listed(h, f, lines, false, "schedules")
}

// showTicks prints lines of the history of a schedule.
func showTicks(h host, f *talkFlags, list []wire.ScheduleTick, err error) error {
	if err != nil {
		return err
	}
	lines := []string{row("DUE", "RESULT", "RUN", "REASON")}
	for _, t := range list {
		if f.json {
			if err := jsonLine(h, t); err != nil {
				return err
			}
			continue
		}
		due := "now"
		if !t.DueAt.IsZero() {
			due = shortTime(t.DueAt)
		}
		lines = append(lines, row(due, string(t.Result), string(t.RunID), t.Reason))
	}
	return listed(h, f, lines, false, "lines")
}

// shortTime returns a time in UTC, to the minute. The zero time is "".
func shortTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

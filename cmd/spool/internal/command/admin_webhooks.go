package command

import (
	"context"
	"flag"
	"net/url"
	"strconv"
	"time"
)

func webhookFlags() []adminFlag {
	return []adminFlag{
		{
			"dead", "", "the events that were not delivered, in place of the attempts",
			func(fs *flag.FlagSet, f *adminFlags) { fs.BoolVar(&f.dead, "dead", false, "") },
		},
		textFlag("replay", "EVENT", "deliver a dead event again, or all since 2027-01-31T09:00:00Z",
			func(f *adminFlags) *string { return &f.replay }),
		{
			"test", "", "send a sample event now",
			func(fs *flag.FlagSet, f *adminFlags) { fs.BoolVar(&f.test, "test", false, "") },
		},
	}
}

// shownAttempt is an attempt to deliver an event.
type shownAttempt struct {
	EventID, Type, ThreadID, Result, Error, Answer string
	Attempt, Status                                int
	At, NextAt                                     time.Time
	DurationMS                                     int64 `json:"durationMs"`
}

const attemptHeader = "AT\tEVENT\tTYPE\tATTEMPT\tRESULT\tSTATUS\tMS\tERROR"

func (a shownAttempt) line() string {
	status := ""
	if a.Status != 0 {
		status = strconv.Itoa(a.Status)
	}
	return row(a.At, a.EventID, a.Type, a.Attempt, a.Result, status, a.DurationMS, a.Error)
}

// adminWebhooks executes admin webhooks. The token needs the scope webhooks, and sees the endpoints of its tenant.
func adminWebhooks(ctx context.Context, c *adminClient, f *adminFlags, name string) error {
	chosen := 0
	for _, is := range []bool{f.dead, f.test, f.replay != ""} {
		if is {
			chosen++
		}
	}
	at := "/api/agent/webhooks"
	switch {
	case f.tenant != "":
		return usagef("admin webhooks shows the tenant of the token, and takes no --tenant")
	case name == "" && chosen > 0:
		return usagef("admin webhooks wants the name of an endpoint for --dead, --replay and --test")
	case chosen > 1:
		return usagef("admin webhooks wants one of --dead, --replay and --test")
	case name == "":
		return listWebhooks(ctx, c, at)
	}
	at += "/" + url.PathEscape(name)
	switch {
	case f.dead:
		return listDeadWebhooks(ctx, c, at)
	case f.test:
		var a shownAttempt
		if err := c.post(ctx, at+"/test", struct{}{}, &a); err != nil {
			return err
		}
		return c.table(attemptHeader, a.line())
	case f.replay != "":
		return replayWebhooks(ctx, c, at, f.replay)
	}
	var list struct{ Attempts []shownAttempt }
	if err := c.get(ctx, at+"/attempts", nil, &list); err != nil {
		return err
	}
	lines := []string{attemptHeader}
	for _, a := range list.Attempts {
		lines = append(lines, a.line())
	}
	return c.table(lines...)
}

func listWebhooks(ctx context.Context, c *adminClient, at string) error {
	var list struct {
		Webhooks []struct {
			Name, Origin, Form, MadeBy, DisabledReason string
			FromFile, Host                             bool
			DisabledAt                                 time.Time
		}
	}
	if err := c.get(ctx, at, nil, &list); err != nil {
		return err
	}
	lines := []string{"NAME\tWHERE\tFORM\tMADE BY\tSTATE"}
	for _, e := range list.Webhooks {
		state, by := "on", e.MadeBy
		if !e.DisabledAt.IsZero() {
			state = "disabled: " + e.DisabledReason
		}
		if e.FromFile {
			by = "the file"
		}
		if e.Host {
			state = "for the webhooks of starts"
		}
		lines = append(lines, row(e.Name, e.Origin, e.Form, by, state))
	}
	return c.table(lines...)
}

func listDeadWebhooks(ctx context.Context, c *adminClient, at string) error {
	var list struct {
		Events []struct {
			EventID, Type, ThreadID, RunID, Cause string
			Attempts                              int
			DiedAt                                time.Time
		}
	}
	if err := c.get(ctx, at+"/dead", nil, &list); err != nil {
		return err
	}
	lines := []string{"DIED\tEVENT\tTYPE\tTHREAD\tATTEMPTS\tCAUSE"}
	for _, e := range list.Events {
		lines = append(lines, row(e.DiedAt, e.EventID, e.Type, e.ThreadID, e.Attempts, e.Cause))
	}
	return c.table(lines...)
}

// replayWebhooks delivers an event again, or all that died since a time.
func replayWebhooks(ctx context.Context, c *adminClient, at, which string) error {
	body := map[string]string{"eventId": which}
	if _, err := time.Parse(time.RFC3339, which); err == nil {
		body = map[string]string{"since": which}
	}
	var done struct {
		Events int
		More   bool
	}
	if err := c.post(ctx, at+"/replay", body, &done); err != nil {
		return err
	}
	lines := []string{row("delivered again", done.Events)}
	if done.More {
		lines = append(lines, row("more", "ask again"))
	}
	return c.table(lines...)
}

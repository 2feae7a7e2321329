package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// answerFlags returns the flags of the command that answers a park.
func answerFlags() []adminFlag {
	return []adminFlag{
		{
			"approve", "", "the call runs",
			func(fs *flag.FlagSet, f *adminFlags) { fs.BoolVar(&f.approve, "approve", false, "") },
		},
		{
			"deny", "", "the call does not run, and the model reads the denial",
			func(fs *flag.FlagSet, f *adminFlags) { fs.BoolVar(&f.deny, "deny", false, "") },
		},
		textFlag("call", "ID", "the call, if the run waits for several", func(f *adminFlags) *string { return &f.call }),
		textFlag("reason", "TEXT", "the reason, for the model and the record",
			func(f *adminFlags) *string { return &f.reason }),
		textFlag("arguments", "JSON", "other arguments for the approved call",
			func(f *adminFlags) *string { return &f.arguments }),
		textFlag("payload", "JSON", "any JSON for the tool; for a budget, its new totals",
			func(f *adminFlags) *string { return &f.payload }),
	}
}

// parkOpen is the state of a wait that can be answered.
const parkOpen = "open"

// shownPark has the fields of a park that the command prints.
type shownPark struct {
	ToolCallID, ToolName, Reason, State, Digest string
	ExpiresAt                                   time.Time
	Asked                                       json.RawMessage
}

// argumentsStart returns the beginning of the call's arguments.
func (p shownPark) argumentsStart() string {
	const most = 500
	if text := string(p.Asked); len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(string(p.Asked[:most]), "") + "… (--json has all of it)"
}

// stopRun stops a run, or the thread with that id if there is no such run.
func stopRun(ctx context.Context, c *adminClient, f *adminFlags, run string) error {
	if f.thread != "" {
		return c.stop(ctx, f, "threadId", f.thread)
	}
	err := c.stop(ctx, f, "runId", run)
	var answered *answeredError
	if !errors.As(err, &answered) || answered.status != http.StatusNotFound {
		return err
	}
	if other := c.stop(ctx, f, "threadId", run); !errors.As(other, &answered) || answered.status != http.StatusNotFound {
		return other
	}
	return &answeredError{http.StatusNotFound, "there is neither a run nor a thread " + clean(run)}
}

func (c *adminClient) stop(ctx context.Context, f *adminFlags, field, id string) error {
	var done struct{ Accepted bool }
	if err := c.post(ctx, "/api/admin/stop", f.body(field, id), &done); err != nil {
		return err
	}
	return c.table(row("stopped", strings.TrimSuffix(field, "Id")+" "+id))
}

// body returns the fields of a request, with the tenant if one is named.
func (f *adminFlags) body(field string, value any) map[string]any {
	body := map[string]any{field: value}
	if f.tenant != "" {
		body["tenant"] = f.tenant
	}
	return body
}

// answerPark answers a parked call. It sends the digest of what the server showed, so that the answer
// applies only to that.
func answerPark(ctx context.Context, c *adminClient, f *adminFlags, run string) error {
	switch {
	case f.approve == f.deny:
		return usagef("admin answer wants either --approve or --deny")
	case f.deny && f.arguments != "":
		return usagef("--arguments: goes with --approve")
	}
	body := f.body("approved", f.approve)
	if f.reason != "" {
		body["reason"] = f.reason
	}
	for _, each := range []struct{ name, text string }{{"arguments", f.arguments}, {"payload", f.payload}} {
		if each.text == "" {
			continue
		}
		if !json.Valid([]byte(each.text)) {
			return usagef("--%s: %q is not JSON", each.name, each.text)
		}
		body[each.name] = json.RawMessage(each.text)
	}
	of, park, err := c.openPark(ctx, f, run)
	if err != nil {
		return err
	}
	body["runId"], body["toolCallId"], body["digest"] = of, park.ToolCallID, park.Digest
	var done struct{ Delivered bool }
	if err := c.post(ctx, "/api/admin/respond", body, &done); err != nil {
		return err
	}
	what := map[bool]string{true: "approved", false: "denied"}[f.approve]
	return c.table(row(what, park.ToolName, park.ToolCallID, park.argumentsStart()))
}

// openPark finds the call to answer, of the run or of one of its nested runs.
func (c *adminClient) openPark(ctx context.Context, f *adminFlags, run string) (of string, found shownPark, err error) {
	quiet := *c
	quiet.json = false
	var open []shownPark
	var owners []string
	for look := []string{run}; len(look) > 0; look = look[1:] {
		var d struct {
			Children []shownRun
			Parks    []shownPark
		}
		if err := quiet.get(ctx, "/api/admin/runs/"+url.PathEscape(look[0]), f.query(), &d); err != nil {
			return "", found, err
		}
		for _, p := range d.Parks {
			if p.State == parkOpen && (f.call == "" || f.call == p.ToolCallID) {
				open, owners = append(open, p), append(owners, look[0])
			}
		}
		for _, r := range d.Children {
			if r.State == "WAITING_FOR_INPUT" {
				look = append(look, r.ID)
			}
		}
	}
	switch len(open) {
	case 0:
		return "", found, errors.New("run " + clean(run) + " has no such call that waits for an answer")
	case 1:
		return owners[0], open[0], nil
	}
	calls := make([]string, len(open))
	for i, p := range open {
		calls[i] = clean(p.ToolCallID + " (" + p.ToolName + ")")
	}
	return "", found, fmt.Errorf("run %s waits with several calls; name one by --call: %s", clean(run),
		strings.Join(calls, ", "))
}

package config

import (
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	settings "github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/cron"
	"github.com/spoolhq/spool/wire"
)

// Schedules is the section schedules: runs that start by themselves. A zero field is not in the file.
type Schedules struct {
	Entries      []Schedule
	Max, MaxRuns int
	// MaxScopes bound the schedules of makers without a token of the file. Nil: they make none.
	MaxScopes []string
	// MaxAge is how long such a schedule runs after it was made or changed.
	MaxAge time.Duration
}

// Schedule is an item of schedules.entries.
type Schedule struct {
	Source
	settings.Schedule

	// Rule is when it comes due. An every without a first time counts from when the file was read.
	Rule cron.Schedule
}

// schedulesOptions are the options of the section schedules.
func (c *Config) schedulesOptions() table {
	s := &c.Schedules
	each := shape{kind: kindFields, options: scheduleOptions(new(Schedule))}
	return table{
		row("entries", listOf(&s.Entries, each, s.entry), "The schedules of this file. Default: none."),
		row("max", integer(&s.Max), "How many schedules a tenant may make over the API. Default: 100."),
		row("max_runs", integer(&s.MaxRuns),
			"How many runs of the schedules of one maker may be active at once. Default: 10."),
		row("max_scopes", filled(list(&s.MaxScopes, value.scope)),
			"The most scopes of schedules whose maker has no token of this file, and of its delayed starts behind the end of "+
				"its credentials. It needs max_age. Default: such makers make neither."),
		row("max_age", duration(&s.MaxAge),
			"How long such a schedule runs after it was made or changed, such as 2160h."),
	}
}

func (c *Config) checkSchedules(v value) {
	if s := c.Schedules; (len(s.MaxScopes) > 0) != (s.MaxAge > 0) && !v.at("max_scopes").complained() &&
		!v.at("max_age").complained() {
		v.at("max_scopes").problemf("needs either both max_scopes and max_age, or neither")
	}
}

// overlaps are the values of a schedule's overlap.
var overlaps = []string{
	wire.OverlapSkip, string(spool.BusyReject), string(spool.BusyEnqueue), string(spool.BusyLatest),
	string(spool.BusyInterrupt), string(spool.BusyRollback), string(spool.BusySteer),
}

func scheduleOptions(s *Schedule) table {
	var budget spool.Budget
	bounds := slices.DeleteFunc(boundsOptions(&budget), func(o option) bool { return o.key == "currency" })
	return table{
		row("name", required(text(&s.Name).then(func(v value) { v.id("the name", s.Name) })),
			"The name, which no other schedule of the tenant has."),
		row("tenant", text(&s.Tenant).then(func(v value) { v.tenant(s.Tenant) }),
			`The tenant of its runs. Default: "default".`),
		row("cron", text(&s.Cron),
			"When it comes due, in five fields: minute, hour, day of the month, month and day of the week. A schedule "+
				"has this, every or at."),
		row("zone", text(&s.Zone), "The time zone of cron, such as Europe/Berlin."),
		row("every", durationText(&s.Every), "The duration between two due times: a minute or more."),
		row("from", timeOf(&s.From), "The first due time of every. Default: one duration from now."),
		row("at", timeOf(&s.At), "The only due time, such as 2027-01-31T09:00:00Z."),
		row("agent", text(&s.Agent).then(func(v value) {
			known := func(a Agent) bool { return a.Name == s.Agent }
			if s.Agent != "" && !slices.ContainsFunc(v.d.config.Agents, known) {
				v.problemf("there is no agent %q", s.Agent)
			}
		}), "The agent that runs. Default: the first one."),
		row("model", text(&s.Model).then(func(v value) {
			if s.Model != "" && !v.d.hasModel(s.Model) {
				v.problemf("there is no model %q", s.Model)
			}
		}), "The model. Default: the agent's."),
		row("prompt", required(text(&s.Prompt)), "The text of the user turn."),
		row("thread", text(&s.ThreadID).then(func(v value) { v.id("the thread", string(s.ThreadID)) }),
			"The thread of all its runs. Default: a new thread for each run."),
		row("title", text(&s.Title).then(func(v value) { v.check(wire.CheckTitle(s.Title)) }),
			"The title of a thread that it makes."),
		row("labels", textsByName(&s.Labels, func(entry) {}).then(func(v value) {
			v.check(wire.CheckLabels(s.Labels))
		}), "The labels of a thread that it makes."),
		row("budget", fields(bounds).then(func(value) {
			s.TokenBudget, s.CostBudgetMicros, s.ToolCallBudget = budget.Tokens, budget.CostMicros, budget.ToolCalls
			s.WallTimeMs = budget.WallTime.Milliseconds()
		}), "What each run may use. Default: the agent's budget."),
		row("state", object(&s.HostState, new(map[string]Source)),
			"The host state of its runs, which tools get and no client sees. Default: none."),
		row("overlap", oneOf(&s.Overlap, overlaps...),
			"What a tick does while a run is active: skip, which starts nothing while the run of the last tick is "+
				"active, or a value of when_busy. Default: skip."),
		row("missed", oneOf(&s.Missed, string(wire.MissedSkip), string(wire.MissedLatest), string(wire.MissedAll)),
			"Which of the due times that were missed are started: skip, latest, or all, up to 100. Default: latest."),
		row("jitter", durationText(&s.Jitter), "Ticks come up to this much later than they are due. Default: none."),
		row("grace", durationText(&s.Grace),
			"A due time is missed if its tick comes later than this, jitter apart. Default: 1m."),
		row("subject", text(&s.Subject), "Who starts its runs. Default: nobody is known."),
		row("scopes", list(&s.Scopes, value.scope), "What its runs may do, for only_for. Default: none."),
	}
}

// entry reads an item of schedules.entries.
func (s *Schedules) entry(v value) Schedule {
	e := Schedule{Source: v.source()}
	e.Tenant = spool.DefaultTenant
	t := scheduleOptions(&e)
	f := v.fields(t.keys()...)
	t.read(f)
	e.MayNotStop = !slices.Contains(e.Scopes, "stop")
	e.Rule = v.rule(f, e.ScheduleRule)
	if slices.ContainsFunc(s.Entries, func(o Schedule) bool { return o.Name == e.Name && o.Tenant == e.Tenant }) {
		f["name"].problemf("another schedule of the tenant has the same name")
	}
	return e
}

// rule returns when a schedule comes due.
func (v value) rule(f map[string]value, r wire.ScheduleRule) (out cron.Schedule) {
	var forms []string
	for _, key := range []string{"cron", "every", "at"} {
		if f[key].present() {
			forms = append(forms, key)
		}
		if f[key].complained() {
			return out
		}
	}
	if len(forms) != 1 {
		v.problemf("needs one of cron, every and at")
		return out
	}
	for key, of := range map[string]string{"zone": "cron", "from": "every"} {
		if f[key].present() && forms[0] != of {
			f[key].problemf("is only for %s", of)
		}
	}
	var err error
	switch step, _ := time.ParseDuration(r.Every); forms[0] {
	case "cron":
		out, err = cron.Parse(r.Cron, r.Zone)
	case "every":
		from := r.From
		if from.IsZero() {
			from = time.Now().Add(step)
		}
		out, err = cron.Every(step, from)
	default:
		out, err = cron.At(r.At)
	}
	if err != nil {
		text := spool.MessageOf(err)
		key := text[:len(text)-len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz"))]
		at, ok := f[key]
		if !ok {
			at = f[forms[0]]
		}
		switch {
		case at.complained():
		case at.present() && expands(at.node.Value):
			at.problemf("is not valid") // the text may quote the variable
		default:
			at.problemf("%s", strings.TrimLeft(strings.TrimPrefix(text, key), ": "))
		}
	}
	return out
}

// durationText is a duration that stays as it is written.
func durationText(to *string) kind {
	return of(shape{kind: kindDuration}, to, func(v value) string {
		v.duration()
		return v.quiet()
	})
}

package schedule

import (
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/cron"
	"github.com/spoolhq/spool/wire"
)

const (
	defaultGrace = time.Minute
	maxGrace     = 30 * 24 * time.Hour
	maxJitter    = 24 * time.Hour
	// maxMissed bounds the missed due times that are started, and maxCounted those that are counted.
	maxMissed  = 100
	maxCounted = 10_000
)

// schedule returns the rule of time.
func (d *definition) schedule() (cron.Schedule, error) {
	switch r := d.Rule; {
	case r.Cron != "":
		return cron.Parse(r.Cron, r.Zone)
	case r.Every != "":
		step, err := duration("every", r.Every)
		if err != nil {
			return cron.Schedule{}, err
		}
		return cron.Every(step, r.From)
	default:
		return cron.At(r.At)
	}
}

// fill checks the rule and the policy at a time, and gives them their canonical form and their defaults.
func (d *definition) fill(now time.Time) error {
	if err := d.fillRule(now); err != nil {
		return err
	}
	return d.fillPolicy()
}

func (d *definition) fillRule(now time.Time) error {
	r := &d.Rule
	if err := checkRule(*r); err != nil {
		return err
	}
	if r.Every != "" && r.From.IsZero() {
		step, err := duration("every", r.Every)
		if err != nil {
			return err
		}
		r.From = now.Add(step)
	}
	rule, err := d.schedule()
	if err != nil {
		return err
	}
	switch {
	case r.Cron != "":
		r.Cron = rule.String()
	case r.Every != "":
		step, _ := duration("every", r.Every)
		first, _ := rule.Next(r.From.Add(-time.Second))
		r.Every, r.From = step.String(), first
	default:
		r.At, _ = rule.Next(r.At.Add(-time.Second))
	}
	return nil
}

// checkRule returns an error unless a rule has exactly one of its three kinds, and no field of another one.
func checkRule(r wire.ScheduleRule) error {
	kinds := 0
	for _, has := range []bool{r.Cron != "", r.Every != "", !r.At.IsZero()} {
		if has {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		return spool.Errorf(spool.Invalid, "cron, every or at is required")
	case kinds > 1:
		return spool.Errorf(spool.Invalid, "cron, every and at exclude each other")
	case r.Zone != "" && r.Cron == "":
		return spool.Errorf(spool.Invalid, "zone is only for cron")
	case !r.From.IsZero() && r.Every == "":
		return spool.Errorf(spool.Invalid, "from is only for every")
	}
	return nil
}

func (d *definition) fillPolicy() error {
	p := &d.Policy
	if p.Overlap == "" {
		p.Overlap = wire.OverlapSkip
	}
	if p.Missed == "" {
		p.Missed = wire.MissedLatest
	}
	switch {
	case p.Overlap != wire.OverlapSkip && !spool.WhenBusy(p.Overlap).Known():
		return spool.Errorf(spool.Invalid, "overlap must be skip, reject, enqueue, latest, interrupt, rollback or steer")
	case p.Missed != wire.MissedSkip && p.Missed != wire.MissedLatest && p.Missed != wire.MissedAll:
		return spool.Errorf(spool.Invalid, "missed must be skip, latest or all")
	}
	for _, f := range []struct {
		name        string
		text        *string
		least, most time.Duration
	}{{"jitter", &p.Jitter, 0, maxJitter}, {"grace", &p.Grace, time.Second, maxGrace}} {
		if *f.text == "" {
			continue
		}
		value, err := duration(f.name, *f.text)
		switch {
		case err != nil:
			return err
		case value < f.least || value > f.most:
			return spool.Errorf(spool.Invalid, "%s must be from %s to %s", f.name, f.least, f.most)
		}
		*f.text = value.String()
	}
	return nil
}

// maxDurationLen is more than any duration needs.
const maxDurationLen = 40

func duration(field, text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || len(text) > maxDurationLen {
		return 0, spool.Errorf(spool.Invalid, `%s must be a duration such as "90s", "15m" or "1h30m"`, field)
	}
	return d, nil
}

// known returns a duration that fill has checked.
func known(text string, byDefault time.Duration) time.Duration {
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	return byDefault
}

func (r *row) grace() time.Duration { return known(r.Policy.Grace, defaultGrace) }

// maxJitter returns the bound of the jitter.
func (r *row) maxJitter() time.Duration { return known(r.Policy.Jitter, 0) }

// jitter returns by how much the tick of a due time comes later.
func (r *row) jitter(due time.Time) time.Duration {
	return cron.Jitter(string(r.tenant)+"/"+r.name, due, r.maxJitter())
}

// plan is what a tick does.
type plan struct {
	start time.Time // the due time to start. Zero: none.
	next  time.Time // the due time of the next tick. Zero: nothing comes due any more.
	// missed is how many due times are not started because they were missed, and last is the last of them.
	missed int
	last   time.Time
}

// plan returns what the tick of the row's due time does at a time. A due time is missed if that is more than the jitter
// and the grace later.
func (r *row) plan(rule cron.Schedule, now time.Time) plan {
	until := now.Add(-r.maxJitter() - r.grace())
	if !r.Due.Before(until) {
		return plan{start: r.Due, next: after(rule, r.Due)}
	}
	// The due times until this second were missed: they are before until.
	until = until.Add(-1)
	last, ok := rule.Last(r.Due, until)
	if !ok {
		last = r.Due
	}
	switch r.Policy.Missed {
	case wire.MissedSkip:
		return plan{next: after(rule, last), last: last, missed: r.count(rule, last)}
	case wire.MissedAll:
		last = r.backlog(rule, last)
	case wire.MissedLatest:
	}
	p := plan{start: last, next: after(rule, last)}
	if p.start.After(r.Due) {
		if p.last, ok = rule.Last(r.Due, p.start.Add(-time.Second)); !ok {
			p.last = r.Due
		}
		p.missed = r.count(rule, p.last)
	}
	return p
}

// backlog returns the first of the last missed due times that are started, up to the last one.
func (r *row) backlog(rule cron.Schedule, last time.Time) time.Time {
	first := last
	for range maxMissed - 1 {
		before, ok := rule.Last(r.Due, first.Add(-time.Second))
		if !ok {
			return r.Due
		}
		first = before
	}
	return first
}

// count returns how many due times there are from the row's to a later one. It counts up to a bound.
func (r *row) count(rule cron.Schedule, until time.Time) int {
	n := 1
	for range rule.Between(r.Due, until) {
		if n++; n == maxCounted {
			break
		}
	}
	return n
}

// after returns the first due time after a time, or the zero time.
func after(rule cron.Schedule, t time.Time) time.Time {
	next, _ := rule.Next(t)
	return next
}

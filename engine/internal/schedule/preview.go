package schedule

import (
	"time"

	"github.com/spoolhq/spool/wire"
)

// Preview returns when a rule comes due after a time. It returns an [spool.Invalid] error that names the field.
func Preview(r wire.ScheduleRule, now time.Time) (wire.SchedulePreview, error) {
	d := definition{Rule: r}
	if err := d.fillRule(now); err != nil {
		return wire.SchedulePreview{}, err
	}
	rule, err := d.schedule()
	if err != nil {
		return wire.SchedulePreview{}, err
	}
	p := wire.SchedulePreview{InWords: inWords(d.Rule), Next: []time.Time{}}
	for due := after(rule, now); !due.IsZero() && len(p.Next) < shownNext; due = after(rule, due) {
		p.Next = append(p.Next, due)
	}
	return p, nil
}

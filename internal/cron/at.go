package cron

import (
	"time"

	"github.com/spoolhq/spool"
)

// outside ends a sentence about a time that no schedule can have.
const outside = "is not in the years 2000 to 9999"

// moment is a rule that comes due once.
type moment int64

// At returns the schedule that comes due once. The time is rounded up to a second. The error has the code
// [spool.Invalid], and its message begins with "at".
func At(t time.Time) (Schedule, error) {
	at, ok := roundUp(t)
	if !ok {
		return Schedule{}, spool.Errorf(spool.Invalid, "at: the time %s", outside)
	}
	return Schedule{rule: moment(at)}, nil
}

func (m moment) first(from, to int64) (int64, bool) {
	return int64(m), from <= int64(m) && int64(m) <= to
}

func (m moment) last(from, to int64) (int64, bool) { return m.first(from, to) }

// String returns the time.
func (m moment) String() string { return "at " + text(int64(m)) }

// roundUp returns the first second that is not before t, and whether it is between the bounds.
func roundUp(t time.Time) (int64, bool) {
	at := t.Add(time.Second - 1).Unix()
	return at, earliest <= at && at <= latest
}

func text(at int64) string { return time.Unix(at, 0).UTC().Format(time.RFC3339) }

package cron

import (
	"time"

	"github.com/spoolhq/spool"
)

// minStep is the shortest duration between two due times.
const minStep = time.Minute

// interval is a rule that counts real time. No clock of a zone changes it.
type interval struct{ begin, step int64 }

// Every returns the schedule that comes due at a first time and then after each step, in real time. The step is at
// least a minute, and whole seconds. The first time is rounded up to a second. The error has the code [spool.Invalid],
// and its message begins with "every".
func Every(step time.Duration, first time.Time) (Schedule, error) {
	switch {
	case step < minStep:
		return Schedule{}, spool.Errorf(spool.Invalid, "every: %s is shorter than %s", step, minStep)
	case step%time.Second != 0:
		return Schedule{}, spool.Errorf(spool.Invalid, "every: %s has a part of a second", step)
	}
	begin, ok := roundUp(first)
	if !ok {
		return Schedule{}, spool.Errorf(spool.Invalid, "every: the first due time %s", outside)
	}
	return Schedule{rule: interval{begin: begin, step: int64(step / time.Second)}}, nil
}

func (i interval) first(from, to int64) (int64, bool) {
	steps := (max(from-i.begin, 0) + i.step - 1) / i.step
	due := i.begin + steps*i.step
	return due, due <= to
}

func (i interval) last(from, to int64) (int64, bool) {
	steps := max(to-i.begin, 0) / i.step
	due := i.begin + steps*i.step
	return due, from <= due && due <= to
}

// String returns the step and the first due time.
func (i interval) String() string {
	return "every " + (time.Duration(i.step) * time.Second).String() + " from " + text(i.begin)
}

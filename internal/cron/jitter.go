package cron

import (
	"crypto/sha256"
	"strconv"
	"time"
)

// Jitter returns a delay of a due time: at least zero and less than bound, in whole milliseconds. It is a part of the
// hash of the schedule's id and the due time. So each node finds the same delay, and schedules that come due together
// start apart. A bound that is not positive means no delay.
func Jitter(schedule string, due time.Time, bound time.Duration) time.Duration {
	steps := bound.Milliseconds()
	if steps <= 0 {
		return 0
	}
	sum := sha256.Sum256([]byte(strconv.FormatInt(due.Unix(), 10) + " " + schedule))
	var part int64
	for _, b := range sum[:7] {
		part = part<<8 | int64(b)
	}
	return time.Duration(part%steps) * time.Millisecond
}

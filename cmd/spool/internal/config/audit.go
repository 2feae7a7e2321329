package config

import "time"

// auditRetention reads how long the audit log is kept. 0 in the file means for ever, which is negative
// in a [Limits].
func auditRetention(v value) time.Duration {
	v.shape.is(kindDurationOrNone)
	const want = `0 for ever, or a duration such as "9600h"`
	s, ok := v.scalar(want)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil || d < 0:
		v.problemf("must be %s", want)
		return 0
	case d == 0:
		return -1
	}
	return d
}

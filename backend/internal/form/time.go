package form

import "time"

// Micros returns the stored form of a time: microseconds since 1970, 0 for the zero time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// FromMicros returns the time of a stored one, in UTC.
func FromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// RoundedUp rounds a time up to a microsecond. Stored times are cut to microseconds, so a comparison of them by
// less-than with the rounded time has the right result.
func RoundedUp(t time.Time) time.Time { return t.Add(time.Microsecond - 1) }

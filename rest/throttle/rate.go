package throttle

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate is a maximum number of requests in a window of time.
type Rate struct {
	// Limit is the number of requests allowed in any period as long as Window. It is at least
	// 1.
	Limit int
	// Window is the length of the period, at least a millisecond.
	Window time.Duration
}

// maxWindow and maxLimit keep the sums in counters far from overflow.
const (
	maxWindow = 366 * 24 * time.Hour
	maxLimit  = 1_000_000_000
)

var units = map[string]time.Duration{
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
}

// Parse reads a rate such as "100/min" or "5/10s". The package comment describes the format.
func Parse(text string) (Rate, error) {
	count, window, ok := strings.Cut(text, "/")
	if !ok {
		return Rate{}, fmt.Errorf("rate %q is not a number, a slash and a time, such as 100/min", text)
	}
	limit, err := number(count)
	if err != nil || limit < 1 || limit > maxLimit {
		return Rate{}, fmt.Errorf("rate %q allows no number of requests between 1 and %d", text, maxLimit)
	}
	length, ok := duration(strings.TrimSpace(window))
	if !ok {
		return Rate{}, fmt.Errorf("rate %q has no time such as s, min, hour, day or 10s", text)
	}
	if length > maxWindow {
		return Rate{}, fmt.Errorf("rate %q has a time of more than 366 days", text)
	}
	return Rate{Limit: limit, Window: length}, nil
}

// MustParse is like [Parse], for rates written in code. It panics if the rate is invalid.
func MustParse(text string) Rate {
	rate, err := Parse(text)
	if err != nil {
		panic("throttle: " + err.Error())
	}
	return rate
}

// String returns the rate in the format of [Parse], such as "100/min".
func (r Rate) String() string {
	for _, unit := range [...]struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if r.Window < unit.length || r.Window%unit.length != 0 {
			continue
		}
		if many := int64(r.Window / unit.length); many > 1 {
			return fmt.Sprintf("%d/%d%s", r.Limit, many, unit.name)
		}
		return fmt.Sprintf("%d/%s", r.Limit, unit.name)
	}
	return fmt.Sprintf("%d/%s", r.Limit, r.Window)
}

func duration(text string) (time.Duration, bool) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	many := 1
	if digits > 0 {
		n, err := number(text[:digits])
		if err != nil || n < 1 || n > int(maxWindow/time.Second) {
			return 0, false
		}
		many = n
	}
	name := strings.ToLower(strings.TrimSpace(text[digits:]))
	unit, ok := units[name]
	if !ok && len(name) > 2 {
		unit, ok = units[strings.TrimSuffix(name, "s")]
	}
	if !ok || unit > maxWindow/time.Duration(many) {
		return 0, false
	}
	return time.Duration(many) * unit, true
}

// number is like [strconv.Atoi] without a sign.
func number(text string) (int, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
	return int(n), err
}

package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool/wire"
)

// inWords returns a rule as a short English sentence, or as its pattern if no short sentence says the same.
func inWords(r wire.ScheduleRule) string {
	switch {
	case r.Every != "":
		return "every " + step(known(r.Every, 0))
	case r.Cron == "":
		return "once, at " + r.At.UTC().Format("15:04:05 on 2 January 2006") + " (UTC)"
	}
	fields := strings.Fields(r.Cron)
	if len(fields) != 5 {
		return r.Cron
	}
	times, ok := timesInWords(fields[0], fields[1])
	days, also := daysInWords(fields[2], fields[3], fields[4])
	if !ok || !also {
		return r.Cron + " (" + r.Zone + ")"
	}
	return times + days + " (" + r.Zone + ")"
}

// step returns a duration as a whole number of its largest unit.
func step(d time.Duration) string {
	for _, unit := range []struct {
		name string
		is   time.Duration
	}{{"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		switch n := int64(d / unit.is); {
		case d%unit.is != 0:
		case n == 1:
			return unit.name
		default:
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return d.String()
}

// maxListed bounds the times of day that a sentence lists.
const maxListed = 6

func timesInWords(minute, hour string) (string, bool) {
	if hour == "*" {
		if minute == "*" {
			return "every minute", true
		}
		if n, ok := stepOf(minute); ok && 60%n == 0 {
			return fmt.Sprintf("every %d minutes", n), true
		}
		minutes, ok := numbers(minute, 59)
		if !ok || len(minutes) != 1 {
			return "", false
		}
		return fmt.Sprintf("at minute %d of each hour", minutes[0]), true
	}
	minutes, ok := numbers(minute, 59)
	hours, also := numbers(hour, 23)
	if !ok || !also || len(minutes)*len(hours) > maxListed {
		return "", false
	}
	var times []string
	for _, h := range hours {
		for _, m := range minutes {
			times = append(times, fmt.Sprintf("%02d:%02d", h, m))
		}
	}
	return "at " + list(times), true
}

func daysInWords(day, month, weekday string) (string, bool) {
	months, ok := "", true
	if month != "*" {
		months, ok = named(month, 12, func(n int) string { return time.Month(n).String() })
	}
	if !ok {
		return "", false
	}
	var days string
	switch {
	case day == "*" && weekday == "*":
		if months != "" {
			return " on each day in " + months, true
		}
		return "", true
	case day == "*":
		named, ok := named(weekday, 7, func(n int) string { return time.Weekday(n % 7).String() })
		if !ok {
			return "", false
		}
		days = " on " + named
	case weekday == "*":
		n, ok := numbers(day, 31)
		switch {
		case !ok || len(n) > maxListed:
			return "", false
		case len(n) == 1:
			days = " on day " + strconv.Itoa(n[0])
		default:
			texts := make([]string, len(n))
			for i := range n {
				texts[i] = strconv.Itoa(n[i])
			}
			days = " on the days " + list(texts)
		}
		if months == "" {
			return days + " of each month", true
		}
		return days + " of " + months, true
	default: // a day that fits either counts
		return "", false
	}
	if months != "" {
		days += " in " + months
	}
	return days, true
}

// named returns a list of numbers, or a range of them, with the names of the numbers.
func named(field string, most int, name func(int) string) (string, bool) {
	if from, to, ok := strings.Cut(field, "-"); ok {
		a, okA := numbers(from, most)
		b, okB := numbers(to, most)
		if !okA || !okB || len(a) != 1 || len(b) != 1 {
			return "", false
		}
		return name(a[0]) + " to " + name(b[0]), true
	}
	n, ok := numbers(field, most)
	if !ok || len(n) > maxListed {
		return "", false
	}
	names := make([]string, len(n))
	for i := range n {
		names[i] = name(n[i])
	}
	return list(names), true
}

// numbers returns the numbers of a list, and false for any other field.
func numbers(field string, most int) (list []int, ok bool) {
	for text := range strings.SplitSeq(field, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n > most {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

// stepOf returns the n of */n.
func stepOf(field string) (int, bool) {
	text, ok := strings.CutPrefix(field, "*/")
	n, err := strconv.Atoi(text)
	return n, ok && err == nil && n > 1
}

// list joins texts with commas and an "and".
func list(texts []string) string {
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

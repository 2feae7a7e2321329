package cron_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/cron"
)

// Each row is a day on which libraries, or the crons of systems, start a run at a wrong time, twice or never.
func TestClockChanges(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		pattern, zone string
		after, until  string
		want          string
	}{
		"a time in the gap": {
			"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00+01:00", "2026-03-30T12:00:00+02:00",
			"2026-03-29T03:00:00+02:00 2026-03-30T02:30:00+02:00",
		},
		"a time in New York's gap": {
			"30 2 * * *", "America/New_York", "2026-03-07T12:00:00-05:00", "2026-03-09T12:00:00-04:00",
			"2026-03-08T03:00:00-04:00 2026-03-09T02:30:00-04:00",
		},
		"a time in the gap at the end of Ramadan": {
			"30 2 * * *", "Africa/Casablanca", "2026-03-21T12:00:00Z", "2026-03-23T12:00:00+01:00",
			"2026-03-22T03:00:00+01:00 2026-03-23T02:30:00+01:00",
		},
		"the last minute before the gap, the first in it, and the first behind it": {
			"59,0 1-3 * * *", "Europe/Berlin", "2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00",
			"2026-03-29T01:59:00+01:00 2026-03-29T03:00:00+02:00",
		},
		"several times in the gap": {
			"*/20 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00+01:00", "2026-03-29T12:00:00+02:00",
			"2026-03-29T03:00:00+02:00",
		},
		"a time in the gap and the one behind it": {
			"0 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00:00+01:00", "2026-03-29T12:00:00+02:00",
			"2026-03-29T03:00:00+02:00",
		},
		"each hour, over the gap": {
			"15 * * * *", "Europe/Berlin", "2026-03-29T01:00:00+01:00", "2026-03-29T04:00:00+02:00",
			"2026-03-29T01:15:00+01:00 2026-03-29T03:00:00+02:00 2026-03-29T03:15:00+02:00",
		},
		"a fixed time that comes twice": {
			"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00+02:00", "2026-10-26T12:00:00+01:00",
			"2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00",
		},
		"fixed times around the one that comes twice": {
			"0 1-3 * * *", "Europe/Berlin", "2026-10-25T00:00:00+02:00", "2026-10-25T12:00:00+01:00",
			"2026-10-25T01:00:00+02:00 2026-10-25T02:00:00+02:00 2026-10-25T03:00:00+01:00",
		},
		"each hour, over the hour that comes twice": {
			"0 * * * *", "Europe/Berlin", "2026-10-25T00:30:00+02:00", "2026-10-25T03:00:00+01:00",
			"2026-10-25T01:00:00+02:00 2026-10-25T02:00:00+02:00 2026-10-25T02:00:00+01:00 2026-10-25T03:00:00+01:00",
		},
		"a step within the hour that comes twice": {
			"*/15 1-2 * * *", "Europe/Berlin", "2026-10-25T01:45:00+02:00", "2026-10-25T12:00:00+01:00",
			"2026-10-25T02:00:00+02:00 2026-10-25T02:15:00+02:00 2026-10-25T02:30:00+02:00 2026-10-25T02:45:00+02:00 " +
				"2026-10-25T02:00:00+01:00 2026-10-25T02:15:00+01:00 2026-10-25T02:30:00+01:00 2026-10-25T02:45:00+01:00",
		},
		"a step of a range, within the hour that comes twice": {
			"10-50/20 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00+02:00", "2026-10-25T12:00:00+01:00",
			"2026-10-25T02:10:00+02:00 2026-10-25T02:30:00+02:00 2026-10-25T02:50:00+02:00 " +
				"2026-10-25T02:10:00+01:00 2026-10-25T02:30:00+01:00 2026-10-25T02:50:00+01:00",
		},
		"a range without a step, within the hour that comes twice": {
			"58-59 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00+02:00", "2026-10-25T12:00:00+01:00",
			"2026-10-25T02:58:00+02:00 2026-10-25T02:59:00+02:00",
		},
		"a gap of half an hour": {
			"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00+10:30", "2026-10-05T12:00:00+11:00",
			"2026-10-04T02:30:00+11:00 2026-10-05T02:15:00+11:00",
		},
		"half an hour that comes twice": {
			"*/30 1 * * *", "Australia/Lord_Howe", "2026-04-05T00:00:00+11:00", "2026-04-05T12:00:00+10:30",
			"2026-04-05T01:00:00+11:00 2026-04-05T01:30:00+11:00 2026-04-05T01:30:00+10:30",
		},
		"a fixed time within half an hour that comes twice": {
			"45 1 * * *", "Australia/Lord_Howe", "2026-04-05T00:00:00+11:00", "2026-04-06T12:00:00+10:30",
			"2026-04-05T01:45:00+11:00 2026-04-06T01:45:00+10:30",
		},
		"a day without midnight": {
			"0 0 * * SUN", "America/Santiago", "2026-08-31T00:00:00-04:00", "2026-09-14T00:00:00-03:00",
			"2026-09-06T01:00:00-03:00 2026-09-13T00:00:00-03:00",
		},
		"a date without midnight": {
			"30 0 6 9 *", "America/Santiago", "2026-01-01T00:00:00-03:00", "2027-12-31T00:00:00-03:00",
			"2026-09-06T01:00:00-03:00 2027-09-06T00:30:00-03:00",
		},
		"every two hours, over a midnight that is missing": {
			"0 */2 * * *", "Africa/Cairo", "2026-04-23T21:00:00+02:00", "2026-04-24T04:00:00+03:00",
			"2026-04-23T22:00:00+02:00 2026-04-24T01:00:00+03:00 2026-04-24T02:00:00+03:00 2026-04-24T04:00:00+03:00",
		},
		"a midnight that is missing in Beirut": {
			"0 0 * * *", "Asia/Beirut", "2026-03-28T00:00:00+02:00", "2026-03-30T00:00:00+03:00",
			"2026-03-29T01:00:00+03:00 2026-03-30T00:00:00+03:00",
		},
		"a gap that begins at one minute past midnight": {
			"0,30 0 * * *", "America/St_Johns", "2010-03-13T12:00:00-03:30", "2010-03-14T12:00:00-02:30",
			"2010-03-14T00:00:00-03:30 2010-03-14T01:01:00-02:30",
		},
		"a midnight that comes twice, and an evening before it": {
			"0,30 0,23 * * *", "America/St_Johns", "2010-11-06T22:00:00-02:30", "2010-11-07T12:00:00-03:30",
			"2010-11-06T23:00:00-02:30 2010-11-06T23:30:00-02:30 2010-11-07T00:00:00-02:30 2010-11-07T00:30:00-03:30",
		},
		"a day that is missing": {
			"0 9 * * *", "Pacific/Apia", "2011-12-29T00:00:00-10:00", "2011-12-31T12:00:00+14:00",
			"2011-12-29T09:00:00-10:00 2011-12-31T00:00:00+14:00 2011-12-31T09:00:00+14:00",
		},
		"a date that is missing": {
			"0 12 30 12 *", "Pacific/Apia", "2011-01-01T00:00:00-10:00", "2012-12-31T12:00:00+14:00",
			"2011-12-31T00:00:00+14:00 2012-12-30T12:00:00+14:00",
		},
		"a Friday that is missing": {
			"0 6 * * FRI", "Pacific/Apia", "2011-12-24T00:00:00-10:00", "2012-01-07T00:00:00+14:00",
			"2011-12-31T00:00:00+14:00 2012-01-06T06:00:00+14:00",
		},
		"a midnight behind a day that is missing": {
			"0 0 30,31 12 *", "Pacific/Apia", "2011-12-01T00:00:00-10:00", "2012-01-07T00:00:00+14:00",
			"2011-12-31T00:00:00+14:00",
		},
		"an evening that comes twice because the rule of the zone changed": {
			"30 23 * * *", "America/Ciudad_Juarez", "2022-11-29T00:00:00-06:00", "2022-12-01T00:00:00-07:00",
			"2022-11-29T23:30:00-06:00 2022-11-30T23:30:00-07:00",
		},
		"a gap of two hours because the rule of the zone changed": {
			"30 1-3 * * *", "America/Indiana/Winamac", "2007-03-10T12:00:00-06:00", "2007-03-12T00:00:00-04:00",
			"2007-03-11T01:30:00-06:00 2007-03-11T04:00:00-04:00",
		},
		"the last day of a leap year": {
			"0 12 * * *", "America/New_York", "2040-12-30T00:00:00-05:00", "2041-01-01T12:00:00-05:00",
			"2040-12-30T12:00:00-05:00 2040-12-31T12:00:00-05:00 2041-01-01T12:00:00-05:00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			check(t, c.pattern, c.zone, c.after, c.until, c.want)
		})
	}
}

func TestCalendar(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ pattern, after, until, want string }{
		"a leap day, over a year that is none": {
			"0 0 29 2 *", "2096-03-01T00:00:00Z", "2108-03-01T00:00:00Z", "2104-02-29T00:00:00Z 2108-02-29T00:00:00Z",
		},
		"either day field": {
			"0 0 31 * 1", "2026-01-20T00:00:00Z", "2026-02-10T00:00:00Z",
			"2026-01-26T00:00:00Z 2026-01-31T00:00:00Z 2026-02-02T00:00:00Z 2026-02-09T00:00:00Z",
		},
		"a day that no month has, and a weekday": {
			"0 0 30 2 1", "2026-02-01T00:00:00Z", "2026-02-10T00:00:00Z", "2026-02-02T00:00:00Z 2026-02-09T00:00:00Z",
		},
		"a step of days is a restriction": {
			"0 0 */10 2 1", "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z",
			"2026-02-01T00:00:00Z 2026-02-02T00:00:00Z 2026-02-09T00:00:00Z 2026-02-11T00:00:00Z " +
				"2026-02-16T00:00:00Z 2026-02-21T00:00:00Z 2026-02-23T00:00:00Z",
		},
		"the months that have the day": {
			"0 0 31 * *", "2026-01-31T00:00:00Z", "2026-07-31T00:00:00Z",
			"2026-03-31T00:00:00Z 2026-05-31T00:00:00Z 2026-07-31T00:00:00Z",
		},
		"names": {
			"0 8 * feb-MAR Fri-sun", "2026-02-27T00:00:00Z", "2026-03-07T00:00:00Z",
			"2026-02-27T08:00:00Z 2026-02-28T08:00:00Z 2026-03-01T08:00:00Z 2026-03-06T08:00:00Z",
		},
		"7 is Sunday": {
			"0 8 * * 7", "2026-02-27T00:00:00Z", "2026-03-08T08:00:00Z", "2026-03-01T08:00:00Z 2026-03-08T08:00:00Z",
		},
		"the time itself is not after it": {
			"* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:02:00Z", "2026-01-01T00:01:00Z 2026-01-01T00:02:00Z",
		},
		"a part of a second": {
			"* * * * *", "2026-01-01T00:00:59.999Z", "2026-01-01T00:01:59.999Z", "2026-01-01T00:01:00Z",
		},
		"the end of time": {
			"59 23 31 12 *", "9998-12-31T23:58:00Z", "9999-12-31T23:59:59Z",
			"9998-12-31T23:59:00Z 9999-12-31T23:59:00Z",
		},
		"behind the end of time": {"* * * * *", "9999-12-31T23:59:00Z", "9999-12-31T23:59:59Z", ""},
		"before the beginning": {
			"0 0 1 1 *", "0001-01-01T00:00:00Z", "2001-01-01T00:00:00Z", "2000-01-01T00:00:00Z 2001-01-01T00:00:00Z",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			check(t, c.pattern, "UTC", c.after, c.until, c.want)
		})
	}
}

// check compares the due times between two times with those wanted, from both ends.
func check(t *testing.T, pattern, zone, after, until, want string) {
	t.Helper()

	s := parse(t, pattern, zone)
	location, err := cron.Zone(zone)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := at(t, after), at(t, until)
	forward := slices.Collect(s.Between(begin, end))
	var backward []time.Time
	for last, ok := s.Last(begin, end); ok; last, ok = s.Last(begin, last.Add(-1)) {
		backward = append(backward, last)
	}
	slices.Reverse(backward)
	for name, times := range map[string][]time.Time{"forward": forward, "backward": backward} {
		texts := make([]string, len(times))
		for i, due := range times {
			if due.Location() != time.UTC {
				t.Errorf("%s: %s is not in UTC", name, due)
			}
			texts[i] = due.In(location).Format(time.RFC3339)
		}
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("%s: due at\n%s, want\n%s", name, got, want)
		}
	}
}

func parse(t *testing.T, pattern, zone string) cron.Schedule {
	t.Helper()

	s, err := cron.Parse(pattern, zone)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(t *testing.T, text string) time.Time {
	t.Helper()

	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

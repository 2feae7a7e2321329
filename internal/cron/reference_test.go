package cron_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/cron"
)

// This file compares the package with a reference that shares nothing with it. The reference reads a zone's clock at
// every minute of ten years, and knows two readings: this minute's and the one before. It has no offsets, no periods
// and no search.

func TestReference(t *testing.T) {
	t.Parallel()

	year := func(y int) time.Time { return time.Date(y, time.January, 1, 0, 0, 0, 0, time.UTC) }
	patterns := append(slices.Clone(known), randomPatterns(64-len(known))...)
	for _, c := range []struct {
		zone        string
		from, until time.Time
		changes     int
	}{
		{zone: "UTC", from: year(2016), until: year(2026), changes: 0},
		{zone: "Europe/Berlin", from: year(2016), until: year(2026), changes: 20},
		{zone: "America/New_York", from: year(2016), until: year(2026), changes: 20},
		{zone: "Australia/Lord_Howe", from: year(2016), until: year(2026), changes: 20},
		{zone: "America/Santiago", from: year(2016), until: year(2026), changes: 20},
		{zone: "Africa/Casablanca", from: year(2016), until: year(2026), changes: 25},
		{zone: "Pacific/Apia", from: year(2011), until: year(2012), changes: 3},
	} {
		t.Run(c.zone, func(t *testing.T) {
			t.Parallel()

			k := readClock(t, c.zone, c.from, c.until)
			if len(k.changes) < c.changes {
				t.Fatalf("the clock changes %d times, want at least %d", len(k.changes), c.changes)
			}
			for i, want := range k.walk(patterns) {
				k.compare(t, patterns[i], want)
			}
		})
	}
}

// known has patterns at and around the times at which clocks change.
var known = []string{
	"* * * * *", "*/5 * * * *", "*/15 1-2 * * *", "5-45/20 0-2 * * *", "0 * * * *", "30 * * * *", "7 */2 * * *",
	"0 */3 * * *", "0 0 * * *", "30 0 * * *", "30 1 * * *", "45 1 * * *", "0 2 * * *", "15 2 * * *", "30 2 * * *",
	"59 2 * * *", "0 3 * * *", "0 2,3 * * *", "0-30 1-3 * * 0", "59 23 * * *", "30 0,23 * * *", "0 0 29 2 *",
	"0 0 31 * 1", "0 12 30 12 *", "30 2 * 3,10 7", "0 9 1-7 * MON-FRI", "10,50 0-2 */2 * SUN", "0 0 1 1 *",
}

// randomPatterns returns n patterns that a seed decides.
func randomPatterns(n int) []string {
	random := rand.New(rand.NewPCG(36, 41))
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	number := func(low, high int) string { return strconv.Itoa(low + random.IntN(high-low+1)) }
	span := func(low, high int) string {
		from := low + random.IntN(high-low+1)
		return strconv.Itoa(from) + "-" + number(from, high)
	}
	field := func(low, high int, often string) string {
		return one(
			often, often, often, often, number(low, high), number(low, high)+","+number(low, high), span(low, high),
			span(low, high)+"/"+number(1, 5), "*/"+number(2, high),
		)
	}
	patterns := make([]string, n)
	for i := range patterns {
		patterns[i] = strings.Join([]string{
			field(0, 59, number(0, 59)), field(0, 23, number(0, 3)), field(1, 31, "*"), field(1, 12, "*"),
			field(0, 7, "*"),
		}, " ")
	}
	return patterns
}

// clock is what the clock of a zone shows.
type clock struct {
	zone     string
	begin    time.Time
	readings []int32 // of each minute: the date and time it shows, as the minutes that UTC has at the same reading
	changes  []int   // the minutes that do not show one minute more than the one before
}

// readClock reads the clock at each hour. It reads each minute of the hours that the clock does not pass as usual.
func readClock(t *testing.T, name string, from, until time.Time) *clock {
	t.Helper()

	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	shown := func(at time.Time) int32 {
		at = at.In(zone)
		y, m, d := at.Date()
		hour, minute, _ := at.Clock()
		return int32(time.Date(y, m, d, hour, minute, 0, 0, time.UTC).Unix() / 60)
	}
	k := &clock{zone: name, begin: from}
	for at := from; at.Before(until); at = at.Add(time.Hour) {
		first := shown(at)
		usual := shown(at.Add(time.Hour)) == first+60
		for i := range int32(60) {
			if !usual {
				first = shown(at.Add(time.Duration(i)*time.Minute)) - i
			}
			if n := len(k.readings); n > 0 && first+i != k.readings[n-1]+1 {
				k.changes = append(k.changes, n)
			}
			k.readings = append(k.readings, first+i)
		}
	}
	return k
}

func (k *clock) at(minute int32) time.Time { return k.begin.Add(time.Duration(minute) * time.Minute) }

// walk returns the minutes at which each of up to 64 patterns is due.
func (k *clock) walk(patterns []string) [][]int32 {
	base := k.readings[0]/1440 - 2
	days := make([]uint64, len(k.readings)/1440+6)
	var times [1440]uint64
	var fixed uint64
	for i, text := range patterns {
		p := read(text)
		for m := range times {
			if p.minutes[m%60] && p.hours[m/60] {
				times[m] |= 1 << i
			}
		}
		for d := range days {
			if p.on(time.Unix((int64(base)+int64(d))*86400, 0).UTC()) {
				days[d] |= 1 << i
			}
		}
		if p.fixed {
			fixed |= 1 << i
		}
	}
	fit := func(reading int32) uint64 { return times[reading%1440] & days[reading/1440-base] }

	due := make([][]int32, len(patterns))
	before, highest := k.readings[0], k.readings[0]
	for i, now := range k.readings[1:] {
		who := fit(now)
		if now <= highest { // the clock showed this before
			who &^= fixed
		}
		for skipped := before + 1; skipped < now; skipped++ {
			who |= fit(skipped)
		}
		for ; who != 0; who &= who - 1 {
			p := bits.TrailingZeros64(who)
			due[p] = append(due[p], int32(i+1))
		}
		before, highest = now, max(highest, now)
	}
	return due
}

// reading is a pattern as the reference reads it.
type reading struct {
	minutes, hours, days, months, weekdays [60]bool
	either, fixed                          bool
}

func read(pattern string) reading {
	f := strings.Fields(pattern)
	r := reading{
		minutes: values(f[0], 0, 59), hours: values(f[1], 0, 23), days: values(f[2], 1, 31), months: values(f[3], 1, 12),
		weekdays: values(f[4], 0, 7), either: f[2] != "*" && f[4] != "*", fixed: !strings.ContainsAny(f[0]+f[1], "*/"),
	}
	r.weekdays[0] = r.weekdays[0] || r.weekdays[7]
	return r
}

// on reports whether the pattern has a date.
func (r reading) on(date time.Time) bool {
	day, weekday := r.days[date.Day()], r.weekdays[date.Weekday()]
	return r.months[date.Month()] && (day && weekday || r.either && (day || weekday))
}

var words = strings.NewReplacer("SUN", "0", "MON", "1", "FRI", "5")

// values returns the values of a field that has values between two.
func values(field string, least, most int) (in [60]bool) {
	for text := range strings.SplitSeq(words.Replace(field), ",") {
		text, step, _ := strings.Cut(text, "/")
		low, high, by := least, most, 1
		if text != "*" {
			if n, _ := fmt.Sscanf(text, "%d-%d", &low, &high); n == 1 {
				high = low
			}
		}
		_, _ = fmt.Sscan(step, &by)
		for v := low; v <= high; v += by {
			in[v] = true
		}
	}
	return in
}

// compare checks Next and Last at each due time, or at enough of them: all that are near a change of the clock, and
// some of the others.
func (k *clock) compare(t *testing.T, pattern string, want []int32) {
	t.Helper()

	s, err := cron.Parse(pattern, k.zone)
	if err != nil {
		if len(want) > 0 {
			t.Errorf("%s: %v, but it is due at %s", pattern, err, k.at(want[0]))
		}
		return
	}
	end := int32(len(k.readings) - 1)
	k.between(t, s, want, 0, end, 0)
	for i := 1; i < len(want); i += 1 + len(want)/4000 {
		k.between(t, s, want, want[i-1], want[i], i)
	}
	for _, change := range k.changes {
		const near = 3 * 60
		i, _ := slices.BinarySearch(want, int32(change-near))
		for i = max(i, 1); i < len(want) && want[i] < int32(change+near); i++ {
			k.between(t, s, want, want[i-1], want[i], i)
		}
	}
}

// between checks the first and the last due time after one minute and up to another. first is the index of the first.
func (k *clock) between(t *testing.T, s cron.Schedule, want []int32, after, until int32, first int) {
	t.Helper()

	next, ok := s.Next(k.at(after))
	right := ok && next.After(k.at(until))
	if first < len(want) {
		right = ok && next.Equal(k.at(want[first]))
	}
	if !right {
		t.Fatalf("%s in %s: the next one after %s is %s, %t", s, k.zone, k.at(after), next, ok)
	}
	last, ok := s.Last(k.at(after), k.at(until))
	i, found := slices.BinarySearch(want, until)
	if !found {
		i--
	}
	if ok != (i >= first) || ok && !last.Equal(k.at(want[i])) {
		t.Fatalf("%s in %s: the last one after %s until %s is %s, %t", s, k.zone, k.at(after), k.at(until), last, ok)
	}
}

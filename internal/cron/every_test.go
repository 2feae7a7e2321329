package cron_test

import (
	"slices"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/cron"
)

func TestEvery(t *testing.T) {
	t.Parallel()

	first := at(t, "2026-03-29T00:30:00.25+01:00")
	s, err := cron.Every(90*time.Minute, first)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.String(), "every 1h30m0s from 2026-03-28T23:30:01Z"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
	// Real time passes over the gap of a clock.
	due := []time.Time{at(t, "2026-03-28T23:30:01Z"), at(t, "2026-03-29T01:00:01Z"), at(t, "2026-03-29T02:30:01Z")}
	if got := slices.Collect(s.Between(time.Time{}, due[2])); !slices.Equal(got, due) {
		t.Errorf("due at %s, want %s", got, due)
	}
	for i := 1; i < len(due); i++ {
		for _, until := range []time.Time{due[i], due[i].Add(time.Second), due[i].Add(90*time.Minute - 1)} {
			if last, ok := s.Last(due[i-1], until); !ok || !last.Equal(due[i]) {
				t.Errorf("the last one until %s is %s, %t, want %s", until, last, ok, due[i])
			}
		}
		if last, ok := s.Last(due[i-1], due[i].Add(-1)); ok {
			t.Errorf("%s is between two due times", last)
		}
	}
	if last, ok := s.Last(time.Time{}, due[0].Add(-time.Second)); ok {
		t.Errorf("%s is before the first due time", last)
	}
}

func TestAt(t *testing.T) {
	t.Parallel()

	due := at(t, "2026-12-01T12:00:01Z")
	s, err := cron.At(due.Add(-time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.String(), "at 2026-12-01T12:00:01Z"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
	before := due.Add(-time.Second)
	for _, after := range []time.Time{{}, before} {
		if next, ok := s.Next(after); !ok || next != due {
			t.Errorf("the next one after %s is %s, %t", after, next, ok)
		}
		if last, ok := s.Last(after, due.AddDate(100, 0, 0)); !ok || last != due {
			t.Errorf("the last one after %s is %s, %t", after, last, ok)
		}
	}
	if next, ok := s.Next(due); ok {
		t.Errorf("it is due again at %s", next)
	}
	if last, ok := s.Last(time.Time{}, before); ok {
		t.Errorf("it was due at %s", last)
	}
}

func TestEveryAndAtRefused(t *testing.T) {
	t.Parallel()

	now, old, far := at(t, "2026-12-01T00:00:00Z"), at(t, "1999-12-31T23:59:58Z"), at(t, "9999-12-31T23:59:59.5Z")
	for want, try := range map[string]func() (cron.Schedule, error){
		"every: 59s is shorter than 1m0s":      func() (cron.Schedule, error) { return cron.Every(59*time.Second, now) },
		"every: -1h0m0s is shorter than 1m0s":  func() (cron.Schedule, error) { return cron.Every(-time.Hour, now) },
		"every: 1m0.5s has a part of a second": func() (cron.Schedule, error) { return cron.Every(60500*time.Millisecond, now) },
		"every: the first due time is not in the years 2000 to 9999": func() (cron.Schedule, error) {
			return cron.Every(time.Hour, far)
		},
		"at: the time is not in the years 2000 to 9999": func() (cron.Schedule, error) { return cron.At(old) },
	} {
		_, err := try()
		refused(t, want, err, want)
	}
}

// Last must not walk: these schedules come due four billion times before the year 9999.
func TestLastDoesNotWalk(t *testing.T) {
	t.Parallel()

	first := at(t, "2000-01-01T00:00:00Z")
	every, err := cron.Every(time.Minute, first)
	if err != nil {
		t.Fatal(err)
	}
	want := at(t, "9999-12-31T23:59:00Z")
	for _, s := range []cron.Schedule{every, parse(t, "* * * * *", "America/New_York")} {
		if last, ok := s.Last(first, want.AddDate(1, 0, 0)); !ok || !last.Equal(want) {
			t.Errorf("%s: the last one is %s, %t, want %s", s, last, ok, want)
		}
	}
}

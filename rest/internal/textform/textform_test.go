package textform_test

import (
	"math"
	"net/url"
	"testing"
	"testing/quick"
	"time"

	"github.com/spoolhq/spool/rest/internal/textform"
)

func TestSpan(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]time.Duration{
		"PT1H30M": 90 * time.Minute, "P1DT2H": 26 * time.Hour, "P2W": 14 * 24 * time.Hour, "PT0S": 0, "P0D": 0,
		"PT0.5S": time.Second / 2, "PT0,5S": time.Second / 2, "PT1.5H": 90 * time.Minute, "-PT5M": -5 * time.Minute,
		"+PT5M": 5 * time.Minute, "1h30m": 90 * time.Minute, "-5m": -5 * time.Minute, "0": 0,
	} {
		if got, ok := textform.ParseSpan(text); !ok || got != want {
			t.Errorf("%s is %v %t, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "P", "PT", "P1", "1", "P1M", "P1Y", "P1DT", "PT1M1H", "PT1H1H", "PTH", "PT1.5H1M", "PT.5S", "PT1.S", "PT1e3S",
		"--PT1S", "P-1D", "pt1h", "PT9999999999999H", "P1D2H", "PT1S ", "PT1X", "1 hour",
	} {
		if got, ok := textform.ParseSpan(text); ok {
			t.Errorf("%q was read as %v", text, got)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "PT0S", 90 * time.Minute: "PT1H30M", 26 * time.Hour: "PT26H", time.Second + time.Millisecond: "PT1.001S",
		-time.Minute: "-PT1M", math.MaxInt64: "PT2562047H47M16.854775807S", math.MinInt64: "-PT2562047H47M16.854775808S",
		time.Hour + time.Second: "PT1H1S",
	} {
		if got := textform.SpanText(d); got != want {
			t.Errorf("%v is written %s, want %s", d, got, want)
		}
	}
	if err := quick.Check(func(d int64) bool {
		got, ok := textform.ParseSpan(textform.SpanText(time.Duration(d)))
		return ok && got == time.Duration(d)
	}, nil); err != nil {
		t.Error(err)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"15:04:05": "15:04:05", "15:04:05Z": "15:04:05", "00:00:00.250": "00:00:00.25", "15:04:05+01:00": "15:04:05+01:00",
		"15:04:05-00:30": "15:04:05-00:30", "9:04:05": "", "15:04": "", "25:00:00": "", "15:04:05,5": "", "": "",
	} {
		got := ""
		if value, ok := textform.ParseClock(text); ok {
			got, _ = textform.Text(textform.Clock, value)
		}
		if got != want {
			t.Errorf("%q came back as %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"2026-02-30", "2026-1-2", "26-01-02", "2026-01-02T00:00:00Z", ""} {
		if _, ok := textform.ParseDate(text); ok {
			t.Errorf("%q was read", text)
		}
	}
	if _, err := textform.Text(textform.Date, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)); err == nil {
		t.Error("a date of five digits was written")
	}
}

func TestURL(t *testing.T) {
	t.Parallel()

	for text, reference := range map[string]bool{
		"https://example.com/a?b=c#d": false, "mailto:a@b.org": false, "/a": true, "a?b=c": true, "": true,
	} {
		if _, ok := textform.ParseURL(text, true); !ok {
			t.Errorf("%q is no reference", text)
		}
		value, ok := textform.ParseURL(text, false)
		if ok == reference {
			t.Errorf("%q: %t", text, ok)
		}
		if !ok {
			continue
		}
		if got, err := textform.Text(textform.Address, *value); err != nil || got != text {
			t.Errorf("%q came back as %q %v", text, got, err)
		}
	}
	var to url.URL
	for _, text := range []string{"https:", "%zz", "http://a b/", ":"} {
		if textform.Parse(textform.Address, text, &to) == nil {
			t.Errorf("%q was read as %v", text, to)
		}
	}
}

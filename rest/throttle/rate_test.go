package throttle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest/throttle"
)

func TestParse(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]throttle.Rate{
		"5/s":         {Limit: 5, Window: time.Second},
		"5/sec":       {Limit: 5, Window: time.Second},
		"5/second":    {Limit: 5, Window: time.Second},
		"5/seconds":   {Limit: 5, Window: time.Second},
		"100/m":       {Limit: 100, Window: time.Minute},
		"100/min":     {Limit: 100, Window: time.Minute},
		"100/minute":  {Limit: 100, Window: time.Minute},
		"1000/h":      {Limit: 1000, Window: time.Hour},
		"1000/hour":   {Limit: 1000, Window: time.Hour},
		"10/d":        {Limit: 10, Window: 24 * time.Hour},
		"10/day":      {Limit: 10, Window: 24 * time.Hour},
		"5/10s":       {Limit: 5, Window: 10 * time.Second},
		"5/2min":      {Limit: 5, Window: 2 * time.Minute},
		"5/2 Minutes": {Limit: 5, Window: 2 * time.Minute},
		"5/30days":    {Limit: 5, Window: 30 * 24 * time.Hour},
		" 5 / 1 h ":   {Limit: 5, Window: time.Hour},
	} {
		got, err := throttle.Parse(text)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		"", "5", "/s", "5/", "0/s", "-1/s", "+1/s", "1.5/s", "x/s", "5/x", "5/0s", "5/-1s", "5/+1s", "5/20",
		"5/ss", "5/ms", "5/s/s", "2000000000/s", "99999999999999999999/s", "5/99999999999999999999s",
		"5/367days", "5/9000h", "5/2000000000d",
	} {
		got, err := throttle.Parse(text)
		if err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, got)
		} else if !strings.Contains(err.Error(), text) {
			t.Errorf("Parse(%q): %q does not say what it is about", text, err)
		}
	}
}

func TestRateString(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"5/sec": "5/s", "5/60s": "5/min", "5/90s": "5/90s", "5/120s": "5/2min", "5/24h": "5/day", "5/48h": "5/2day",
	} {
		rate := throttle.MustParse(text)
		if got := rate.String(); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
		if again := throttle.MustParse(rate.String()); again != rate {
			t.Errorf("%q is read as %v, want %v", rate.String(), again, rate)
		}
	}
	odd := throttle.Rate{Limit: 1, Window: 1500 * time.Millisecond}
	if got, want := odd.String(), "1/1.5s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

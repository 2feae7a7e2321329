package schedule

import (
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/cron"
	"github.com/spoolhq/spool/wire"
)

// A sentence says the same as its rule, or there is none.
func TestWords(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"0 9 * * 1-5":       "at 09:00 on Monday to Friday (UTC)",
		"0 9 * * mon-fri":   "at 09:00 on Monday to Friday (UTC)",
		"30 2 * * *":        "at 02:30 (UTC)",
		"0,30 8 * * 0":      "at 08:00 and 08:30 on Sunday (UTC)",
		"0 8,12,18 * * 6,7": "at 08:00, 12:00 and 18:00 on Sunday and Saturday (UTC)",
		"* * * * *":         "every minute (UTC)",
		"*/15 * * * *":      "every 15 minutes (UTC)",
		"5 * * * *":         "at minute 5 of each hour (UTC)",
		"0 0 1 * *":         "at 00:00 on day 1 of each month (UTC)",
		"0 0 1,15 * *":      "at 00:00 on the days 1 and 15 of each month (UTC)",
		"0 0 24 12 *":       "at 00:00 on day 24 of December (UTC)",
		"0 7 * jan-mar 1":   "at 07:00 on Monday in January to March (UTC)",
		"0 7 * 6 *":         "at 07:00 on each day in June (UTC)",
		// Nobody could say these in short words.
		"*/7 * * * *":       "*/7 * * * * (UTC)",
		"0 9 1 * 1":         "0 9 1 * 1 (UTC)",
		"0-20 9 * * *":      "0-20 9 * * * (UTC)",
		"0 */3 * * *":       "0 */3 * * * (UTC)",
		"0 9 1-7 * *":       "0 9 1-7 * * (UTC)",
		"0 9 * * 1-5/2":     "0 9 * * 1-5/2 (UTC)",
		"0,5 1,2,3,4 * * *": "0,5 1,2,3,4 * * * (UTC)",
	} {
		rule, err := cron.Parse(pattern, "UTC")
		if err != nil {
			t.Fatal(err)
		}
		if got := inWords(wire.ScheduleRule{Cron: rule.String(), Zone: "UTC"}); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	for text, want := range map[string]string{
		"1m": "every minute", "90m": "every 90 minutes", "2h": "every 2 hours", "1h": "every hour", "61s": "every 61 seconds",
	} {
		if got := inWords(wire.ScheduleRule{Every: text}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	at := time.Date(2026, time.March, 1, 9, 30, 0, 0, time.FixedZone("", 3600))
	if got := inWords(wire.ScheduleRule{At: at}); got != "once, at 08:30:00 on 1 March 2026 (UTC)" {
		t.Errorf("at: %q", got)
	}
}

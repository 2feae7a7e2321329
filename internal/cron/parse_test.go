package cron_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/cron"
)

func TestCanonical(t *testing.T) {
	t.Parallel()

	for pattern, want := range map[string]string{
		"* * * * *":                      "* * * * *",
		"\t05  00 1 1 7 ":                "5 0 1 1 0",
		"*/1 1-5/2 */10 */3 */2":         "*/1 1-5/2 */10 */3 */2",
		"30,5,30,10-20 0 * * *":          "5,10-20,30 0 * * *",
		"0 0 1-1 JAN,dec Mon-Fri":        "0 0 1 1,12 1-5",
		"0 0 * * fri-sun":                "0 0 * * 5-7",
		"0 0 * * 7-7,sun,SUN-SUN,7-0":    "0 0 * * 0",
		"0 0 * * 7-2":                    "0 0 * * 0-2",
		"0 0 * * 0-7":                    "0 0 * * 0-7",
		"1-1/3 0 * * *":                  "1-1/3 0 * * *",
		"0-59,* *,5 * * *":               "*,0-59 *,5 * * *",
		"0 0 29 2 *":                     "0 0 29 2 *",
		"0 0 31 2,4,6,9,11 sat":          "0 0 31 2,4,6,9,11 6",
		"59 23 31 12 6":                  "59 23 31 12 6",
		"*/59 */23 */31 */12 */7":        "*/59 */23 */31 */12 */7",
		eachMinute() + " 0 * * SUN,MON":  eachMinute() + " 0 * * 0,1",
		eachMinute() + " 0 * * 6,7,0,00": eachMinute() + " 0 * * 0,6",
	} {
		if got := parse(t, pattern, "UTC").String(); got != want {
			t.Errorf("%q is %q, want %q", pattern, got, want)
		}
	}
}

// eachMinute lists the numbers from 0 to 59.
func eachMinute() string {
	var texts []string
	for n := range 60 {
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, ",")
}

func TestRefused(t *testing.T) {
	t.Parallel()

	const needs = "cron needs 5 fields (minute, hour, day of month, month and day of week) and has "
	for pattern, want := range map[string]string{
		"":                                      "cron is required",
		" \t ":                                  "cron is required",
		"0 0 * *":                               needs + "4",
		"daily":                                 needs + "1",
		"0 0 0 * * *":                           needs + "6: there is none for seconds or years",
		"0 0 0 * * * 2027":                      needs + "7: there is none for seconds or years",
		"@daily":                                `cron: "@daily" is not supported: use "0 0 * * *"`,
		"@Yearly":                               `cron: "@Yearly" is not supported: use "0 0 1 1 *"`,
		"@every 5m":                             `cron: "@every" is not supported: use "every" in place of "cron"`,
		"@reboot":                               needs + "1",
		"TZ=UTC 0 0 * * *":                      `cron: "TZ=UTC" is not supported: use "zone"`,
		"60 * * * *":                            `cron: field 1 (minute), "60": use a number from 0 to 59`,
		"-1 * * * *":                            `cron: field 1 (minute), "-1": use a number from 0 to 59`,
		"5- * * * *":                            `cron: field 1 (minute), "5-": use a number from 0 to 59`,
		"1-2-3 * * * *":                         `cron: field 1 (minute), "1-2-3": use a number from 0 to 59`,
		"+5 * * * *":                            `cron: field 1 (minute), "+5": use a number from 0 to 59`,
		"000 * * * *":                           `cron: field 1 (minute), "000": use a number from 0 to 59`,
		"٣ * * * *":                             `cron: field 1 (minute), "٣": use a number from 0 to 59`,
		"* 24 * * *":                            `cron: field 2 (hour), "24": use a number from 0 to 23`,
		"* MON * * *":                           `cron: field 2 (hour), "MON": use a number from 0 to 23`,
		"* * 0 * *":                             `cron: field 3 (day of month), "0": use a number from 1 to 31`,
		"* * 1,32 * *":                          `cron: field 3 (day of month), part 2, "32": use a number from 1 to 31`,
		"* * 1,,2 * *":                          `cron: field 3 (day of month), part 2, "": use a number from 1 to 31`,
		"* * 1, * *":                            `cron: field 3 (day of month), part 2, "": use a number from 1 to 31`,
		"* * * 13 *":                            `cron: field 4 (month), "13": use a number from 1 to 12 or a name from JAN to DEC`,
		"* * * JANUARY *":                       `cron: field 4 (month), "JANUARY": use a number from 1 to 12 or a name from JAN to DEC`,
		"* * * * 8":                             `cron: field 5 (day of week), "8": use a number from 0 to 7 or a name from SUN to SAT`,
		"* * * * MON,TU":                        `cron: field 5 (day of week), part 2, "TU": use a number from 0 to 7 or a name from SUN to SAT`,
		"50-10 * * * *":                         `cron: field 1 (minute), "50-10": the range goes backwards: use 50-59,0-10`,
		"* * * * FRI-MON":                       `cron: field 5 (day of week), "FRI-MON": the range goes backwards: use 5-7,0-1`,
		"* * * 11-2/2 *":                        `cron: field 4 (month), "11-2/2": the range goes backwards: use 11-12,1-2`,
		"*/0 * * * *":                           `cron: field 1 (minute), "*/0": use a step from 1 to 59`,
		"*/60 * * * *":                          `cron: field 1 (minute), "*/60": use a step from 1 to 59`,
		"*/ * * * *":                            `cron: field 1 (minute), "*/": use a step from 1 to 59`,
		"*/2/3 * * * *":                         `cron: field 1 (minute), "*/2/3": use a step from 1 to 59`,
		"*/x * * * *":                           `cron: field 1 (minute), "*/x": use a step from 1 to 59`,
		"5/15 * * * *":                          `cron: field 1 (minute), "5/15": a step needs a range: use 5-59/15`,
		"* * ? * 1":                             `cron: field 3 (day of month), "?": "?" is not supported: use "*"`,
		"* * L * *":                             `cron: field 3 (day of month), "L": "L", "W" and "#" are not supported: use a number from 1 to 31`,
		"* * 15W * *":                           `cron: field 3 (day of month), "15W": "L", "W" and "#" are not supported: use a number from 1 to 31`,
		"* * * * 5#2":                           `cron: field 5 (day of week), "5#2": "L", "W" and "#" are not supported: use a number from 0 to 7 or a name from SUN to SAT`,
		"** * * * *":                            `cron: field 1 (minute), "**": use a number from 0 to 59`,
		"*-5 * * * *":                           `cron: field 1 (minute), "*-5": use a number from 0 to 59`,
		"H * * * *":                             `cron: field 1 (minute), "H": use a number from 0 to 59`,
		"0 0 30 2 *":                            "cron never comes due: none of its months has one of its days",
		"0 0 31 4,6,9,11 *":                     "cron never comes due: none of its months has one of its days",
		strings.Repeat("0,", 250) + "0 * * * *": "cron is longer than 500 characters",
	} {
		_, err := cron.Parse(pattern, "UTC")
		refused(t, pattern, err, want)
	}
}

func TestZone(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"} {
		if zone, err := cron.Zone(name); err != nil || zone.String() != name {
			t.Errorf("%q is %v, %v", name, zone, err)
		}
	}
	const use = `: use one of the IANA database, such as "Europe/Berlin" or "UTC"`
	for name, want := range map[string]string{
		"":                      "zone is required" + use,
		"Local":                 `zone: "Local" depends on the machine` + use,
		"local":                 `zone: "local" is not the name of a time zone` + use,
		"localtime":             `zone: "localtime" is not the name of a time zone` + use,
		"+02:00":                `zone: "+02:00" is not the name of a time zone` + use,
		"UTC+2":                 `zone: "UTC+2" is not the name of a time zone` + use,
		"right/Europe/Berlin":   `zone: "right/Europe/Berlin" is not the name of a time zone` + use,
		"europe/berlin":         `zone: "europe/berlin" is not the name of a time zone` + use,
		"Europe/Atlantis":       `zone: "Europe/Atlantis" is not the name of a time zone` + use,
		"Europe/../../passwd":   `zone: "Europe/../../passwd" is not the name of a time zone` + use,
		"/etc/passwd":           `zone: "/etc/passwd" is not the name of a time zone` + use,
		strings.Repeat("A", 65): "zone is longer than 64 characters",
	} {
		_, err := cron.Parse("0 0 * * *", name)
		refused(t, name, err, want)
	}
}

func refused(t *testing.T, input string, err error, want string) {
	t.Helper()

	if spool.CodeOf(err) != spool.Invalid || err.Error() != want {
		t.Errorf("%q: error %v with the code %q, want %s", input, err, spool.CodeOf(err), want)
	}
}

// FuzzParse parses what it is given. A schedule that comes out has a next due time within eight years and a day, Last
// finds this time too, and the canonical form is the same schedule.
func FuzzParse(f *testing.F) {
	for _, pattern := range append(slices.Clone(known), "0 0 29 2 *", "@daily", "*/0 * * * *", "7-2,5/2 L ? # 8-9") {
		f.Add(pattern, "Europe/Berlin", int64(1_774_000_000))
	}
	f.Add("59 23 * * *", "Pacific/Apia", int64(1_325_150_000))
	f.Add("* * * * *", "Local", int64(-1)<<63)
	f.Add("0 0 29 2 *", "America/New_York", int64(253_402_300_799))
	f.Fuzz(func(t *testing.T, pattern, zone string, seconds int64) {
		if _, err := cron.Zone(zone); err != nil {
			zone = "America/Santiago"
		}
		s, err := cron.Parse(pattern, zone)
		if err != nil {
			if spool.CodeOf(err) != spool.Invalid {
				t.Errorf("%q: %v has not the code invalid", pattern, err)
			}
			return
		}
		again := parse(t, s.String(), zone)
		if again.String() != s.String() {
			t.Errorf("%q becomes %q, and then %q", pattern, s, again)
		}
		after := time.Unix(seconds, 0)
		next, ok := s.Next(after)
		same, _ := again.Next(after)
		last, _ := s.Last(after, next)
		if !next.Equal(same) || !last.Equal(next) {
			t.Errorf("%q: %s is next, then %s and %s", pattern, next, same, last)
		}
		y2000, y9990 := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9990, 1, 1, 0, 0, 0, 0, time.UTC)
		if after.After(y2000) && after.Before(y9990) && (!ok || !next.After(after) || next.After(after.AddDate(8, 0, 1))) {
			t.Errorf("%q: %s is next after %s, %t", pattern, next, after, ok)
		}
	})
}

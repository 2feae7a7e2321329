package cron

import (
	"math/bits"
	"strings"

	"github.com/spoolhq/spool"
)

// maxPatternLen has place for a pattern that lists each value of each field.
const maxPatternLen = 500

// The fields of a pattern, in their order.
const (
	minute = iota
	hour
	day
	month
	weekday
	fields
)

// pattern is a cron pattern. This file reads and writes it; calendar.go finds the times that it fits.
type pattern [fields]field

// Parse returns the schedule of a cron pattern in a zone of the IANA database. A pattern has exactly five fields:
// minute, hour, day of month, month and day of week. A field is "*", a number, a range "a-b", a step "*/n" or "a-b/n",
// or a list of these with commas. Months and days of the week also have English names of three letters, in any case.
// Sunday is 0 and 7. If both day fields are something else than "*", a day that fits one of them is enough.
//
// The error has the code [spool.Invalid]. Its message begins with the name of the field, "cron" or "zone", and names
// the place within the pattern. A pattern that never comes due is refused.
func Parse(expression, zone string) (Schedule, error) {
	p, err := parsePattern(expression)
	if err != nil {
		return Schedule{}, err
	}
	location, err := Zone(zone)
	if err != nil {
		return Schedule{}, err
	}
	return Schedule{rule: zoned{pattern: p, zone: location}}, nil
}

func parsePattern(expression string) (*pattern, error) {
	var p pattern
	if len(expression) > maxPatternLen {
		return nil, spool.Errorf(spool.Invalid, "cron is longer than %d characters", maxPatternLen)
	}
	texts := strings.Fields(expression)
	if err := checkForm(texts); err != nil {
		return nil, err
	}
	for i, text := range texts {
		f, err := parseField(i, text)
		if err != nil {
			return nil, err
		}
		p[i] = f
	}
	if !p.comesDue() {
		return nil, spool.Errorf(spool.Invalid, "cron never comes due: none of its months has one of its days")
	}
	return &p, nil
}

// aliases has what to write for the names that other programs know.
var aliases = map[string]string{
	"@annually": "0 0 1 1 *", "@yearly": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// checkForm refuses a pattern that has not five fields, and says what to write if another program would take it.
func checkForm(texts []string) error {
	const needs = "cron needs 5 fields (minute, hour, day of month, month and day of week)"
	if len(texts) == 0 {
		return spool.Errorf(spool.Invalid, "cron is required")
	}
	head := texts[0]
	alias, known := aliases[strings.ToLower(head)]
	switch {
	case known:
		return spool.Errorf(spool.Invalid, "cron: %q is not supported: use %q", head, alias)
	case strings.EqualFold(head, "@every"):
		return spool.Errorf(spool.Invalid, `cron: %q is not supported: use "every" in place of "cron"`, head)
	case strings.Contains(head, "TZ="):
		return spool.Errorf(spool.Invalid, `cron: %q is not supported: use "zone"`, head)
	case len(texts) > fields:
		return spool.Errorf(spool.Invalid, "%s and has %d: there is none for seconds or years", needs, len(texts))
	case len(texts) < fields:
		return spool.Errorf(spool.Invalid, "%s and has %d", needs, len(texts))
	default:
		return nil
	}
}

// comesDue reports whether the calendar has a day of the pattern. Each weekday comes in each month, so only a pattern
// without weekdays can have none.
func (p *pattern) comesDue() bool {
	lengths := [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	for i, length := range lengths {
		if p[month].has(i+1) && bits.TrailingZeros64(p[day].set) <= length {
			return true
		}
	}
	return !p[weekday].all
}

// fixed reports whether the pattern names its times of day, rather than times that repeat within a day.
func (p *pattern) fixed() bool { return !p[minute].repeats && !p[hour].repeats }

// String returns the fields with a blank between them.
func (p *pattern) String() string {
	texts := make([]string, fields)
	for i, f := range p {
		texts[i] = f.String()
	}
	return strings.Join(texts, " ")
}

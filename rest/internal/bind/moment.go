package bind

import (
	"fmt"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest/internal/fault"
)

func timeParser(format string) (parser, error) {
	switch format {
	case "", "date-time":
		return parseDateTime, nil
	case "date":
		return parseDate, nil
	default:
		return nil, fmt.Errorf("a time has format date-time or date, not %q", format)
	}
}

func parseDateTime(a place, text string) *fault.Fault {
	value, ok := dateTimeOf(text)
	if !ok {
		return new(fault.WithText(fault.Format("", nil, "date-time"), text))
	}
	store(a, value)

	return nil
}

// dateTimeOf is RFC 3339 to the letter. [time.Parse] also takes an hour of one digit, a
// comma before the fraction and offsets that no clock has, which others refuse.
func dateTimeOf(text string) (time.Time, bool) {
	value, err := time.Parse(time.RFC3339, text)
	if err != nil || len(text) < len("2006-01-02T15:04:05Z") || text[13] != ':' || text[19] == ',' {
		return time.Time{}, false
	}

	if zone := text[len(text)-len("07:00"):]; !strings.HasSuffix(text, "Z") && (zone[:2] > "23" || zone[3:] > "59") {
		return time.Time{}, false
	}

	return value, true
}

func parseDate(a place, text string) *fault.Fault {
	value, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return new(fault.WithText(fault.Format("", nil, "date"), text))
	}
	store(a, value)

	return nil
}

func parseDuration(a place, text string) *fault.Fault {
	value, err := time.ParseDuration(text)
	if err != nil {
		return new(fault.WithText(fault.Format("", nil, "duration"), text))
	}
	store(a, value)

	return nil
}

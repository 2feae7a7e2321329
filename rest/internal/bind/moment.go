package bind

import (
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/textform"
)

func timeParser(format string) (parser, error) {
	switch format {
	case "", "date-time":
		return parseDateTime, nil
	case "date":
		return parseForm[time.Time](textform.Date, format), nil
	case "time":
		return parseForm[time.Time](textform.Clock, format), nil
	default:
		return nil, textform.Check(timeType, format)
	}
}

func durationParser(format string) (parser, error) {
	if format != "" && format != "duration" {
		return nil, textform.Check(durationType, format)
	}

	return parseForm[time.Duration](textform.Span, "duration"), nil
}

func urlParser(format string) (parser, error) {
	switch format {
	case "", "uri":
		return parseForm[url.URL](textform.Address, "uri"), nil
	case "uri-reference":
		return parseForm[url.URL](textform.Reference, format), nil
	default:
		return nil, textform.Check(reflect.TypeFor[url.URL](), format)
	}
}

// parseForm reads a text whose form follows from the tag format.
func parseForm[T any](form textform.Form, format string) parser {
	bad := fault.Format("", nil, format)

	return func(a place, text string) *fault.Fault {
		if bad := checkText(text); bad != nil {
			return bad
		}
		var value T
		if textform.Parse(form, text, &value) != nil {
			return new(fault.WithText(bad, text))
		}
		store(a, value)

		return nil
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

// Package textform has the text forms of times, durations and addresses, for fields whose tag format chooses
// another text than encoding/json does. Readers of parameters and bodies, writers of answers, and the
// document all use this package, and so agree.
//
//	time.Time      format:"date"           2026-11-22; 2026-11-22T00:00:00+01:00 is read too
//	time.Time      format:"time"           15:04:05, 15:04:05.5+01:00
//	time.Duration  format:"duration"       PT1H30M; 1h30m is read too
//	url.URL                                https://example.com/a
//	url.URL        format:"uri-reference"  /a?b=c
package textform

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest/internal/opt"
)

// Form is a text form of values.
type Form uint8

// The forms. None means the form of encoding/json.
const (
	None Form = iota
	Date
	Clock
	Span
	Address
	Reference
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	urlType      = reflect.TypeFor[url.URL]()
)

// Of returns the form of a type for the tag format of its field.
func Of(t reflect.Type, format string) Form {
	switch {
	case t == timeType && format == "date":
		return Date
	case t == timeType && format == "time":
		return Clock
	case t == durationType && format == "duration":
		return Span
	case t == urlType && format == "uri-reference":
		return Reference
	case t == urlType:
		return Address
	}

	return None
}

// Check returns an error if a type has forms of its own, and none of them for the tag format of its field.
func Check(t reflect.Type, format string) error {
	var fits string
	switch {
	case format == "":
		return nil
	case t == timeType && format != "date-time" && Of(t, format) == None:
		fits = "date-time, date or time"
	case t == durationType && Of(t, format) == None:
		fits = "duration"
	case t == urlType && format != "uri" && format != "uri-reference":
		fits = "uri or uri-reference"
	default:
		return nil
	}

	return fmt.Errorf("the tag format:%q does not fit %v, which takes %s", format, t, fits)
}

// OfField is [Of] for the type of a field: through pointers, lists and Opt.
func OfField(t reflect.Type, format string) Form { return Of(Elem(t), format) }

// Elem returns the type that the tag format of a field applies to: through pointers, lists and Opt.
func Elem(t reflect.Type) reflect.Type {
	for {
		switch elem, ok := opt.ElemOf(t); {
		case ok:
			t = elem
		case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
			t = t.Elem()
		default:
			return t
		}
	}
}

// names are the formats of texts that are checked, wherever texts are read. Other formats are notes for the
// reader of the document.
var names = map[string]bool{
	"date-time": true, "date-time-http": true, "date": true, "time": true, "duration": true,
	"email": true, "idn-email": true, "hostname": true, "idn-hostname": true, "ipv4": true, "ipv6": true, "ip": true,
	"uri": true, "uri-reference": true, "iri": true, "iri-reference": true, "uri-template": true, "uuid": true,
	"json-pointer": true, "relative-json-pointer": true, "regex": true,
}

// CheckText returns an error if a format is for texts and the field's type is not a text.
func CheckText(t reflect.Type, format string) error {
	if !names[format] {
		return nil
	}
	for _, one := range []reflect.Type{timeType, durationType, urlType} {
		if Check(one, format) == nil {
			return fmt.Errorf("the tag format:%q does not fit %v: it is for string and %v", format, t, one)
		}
	}

	return fmt.Errorf("the tag format:%q does not fit %v: it is for string", format, t)
}

// IsURL reports whether a type is url.URL.
func IsURL(t reflect.Type) bool { return t == urlType }

var errForm = errors.New("the text has another form")

// Parse reads a text into the value that dst points to, whose type has the form.
func Parse(form Form, text string, dst any) error {
	switch to := dst.(type) {
	case *time.Time:
		read := ParseDay
		if form == Clock {
			read = ParseClock
		}
		value, ok := read(text)
		if !ok {
			return errForm
		}
		*to = value
	case *time.Duration:
		value, ok := ParseSpan(text)
		if !ok {
			return errForm
		}
		*to = value
	case *url.URL:
		value, ok := ParseURL(text, form == Reference)
		if !ok {
			return errForm
		}
		*to = *value
	default:
		return errForm
	}

	return nil
}

// ParseDate reads a date such as 2026-11-22, as the start of its day in UTC.
func ParseDate(text string) (time.Time, bool) {
	value, err := time.Parse(time.DateOnly, text)

	return value, err == nil
}

// ParseDay reads a date, or a time at midnight such as 2026-11-22T00:00:00+01:00, which many languages write
// for a day. The day is the written one, whatever its zone.
func ParseDay(text string) (time.Time, bool) {
	if len(text) < len("2006-01-02T15:04:05Z") {
		return ParseDate(text)
	}
	at, err := time.Parse(time.RFC3339, text)
	hour, minute, second := at.Clock()
	if err != nil || hour+minute+second+at.Nanosecond() != 0 || text[13] != ':' || strings.Contains(text, ",") {
		return time.Time{}, false
	}

	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC), true
}

// ParseClock reads a time of day such as 15:04:05 or 15:04:05Z, on the first day of the year
// 0. Without an offset it is in UTC.
func ParseClock(text string) (time.Time, bool) {
	for _, layout := range [...]string{time.TimeOnly, "15:04:05Z07:00"} {
		value, err := time.Parse(layout, text)
		if err == nil && len(text) >= len(time.TimeOnly) && text[2] == ':' && !strings.Contains(text, ",") {
			return value, true
		}
	}

	return time.Time{}, false
}

// ParseURL reads an address. It has a scheme, unless references are allowed.
func ParseURL(text string, reference bool) (*url.URL, bool) {
	value, err := url.Parse(text)
	if err != nil || !reference && (!value.IsAbs() || value.Host == "" && value.Opaque == "" && value.Path == "") {
		return nil, false
	}

	return value, true
}

var errYear = errors.New("the year of a date is not of four digits")

// Text returns the text of a value whose type has the form.
func Text(form Form, value any) (string, error) {
	switch v := value.(type) {
	case time.Time:
		if form == Clock {
			return clockText(v), nil
		}
		if v.Year() < 0 || v.Year() > 9999 {
			return "", errYear
		}

		return v.Format(time.DateOnly), nil
	case time.Duration:
		return SpanText(v), nil
	case url.URL:
		return v.String(), nil
	}

	return "", errForm
}

// clockText leaves out the offset if it is that of UTC: most times of day have none.
func clockText(t time.Time) string {
	if _, offset := t.Zone(); offset == 0 {
		return t.Format("15:04:05.999999999")
	}

	return t.Format("15:04:05.999999999Z07:00")
}

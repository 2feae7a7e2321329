package bind

import (
	"net/mail"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// compileText compiles the limits of texts, which also hold for the text of types that
// unmarshal it.
func (s *scalar) compileText(tags tags) error {
	if s.class != classText {
		if err := tags.refuse("is for text, not for "+s.typ.String(), "minLength", "maxLength", "pattern"); err != nil {
			return err
		}
		return nil
	}

	low, high, err := tags.span("minLength", "maxLength")
	if err != nil {
		return err
	}
	s.checks = append(s.checks, lengthChecks(low, high)...)

	if pattern, ok := tags.lookup("pattern"); ok {
		matcher, err := regexp.Compile(pattern)
		if err != nil {
			return badTag("pattern", pattern, "is no regular expression")
		}
		bad := fault.Pattern("", nil, pattern)
		s.checks = append(s.checks, failingText(&bad, func(text string) bool { return !matcher.MatchString(text) }))
	}

	if format, ok := tags.lookup("format"); ok && formats[format] != nil {
		valid := formats[format]
		bad := fault.Format("", nil, format)
		s.checks = append(s.checks, failingText(&bad, func(text string) bool { return !valid(text) }))
	}

	return nil
}

func lengthChecks(low, high int) []check {
	var checks []check

	if low >= 0 {
		bad := fault.TooShort("", nil, low)
		checks = append(checks, failingText(&bad, func(text string) bool { return utf8.RuneCountInString(text) < low }))
	}
	if high >= 0 {
		bad := fault.TooLong("", nil, high)
		checks = append(checks, failingText(&bad, func(text string) bool { return utf8.RuneCountInString(text) > high }))
	}

	return checks
}

func failingText(bad *fault.Fault, condition func(text string) bool) check {
	return func(_ place, text string) *fault.Fault {
		if condition(text) {
			return bad
		}

		return nil
	}
}

// compileEnum compiles the allowed values. They are compared as values, so that 1 and 01
// are the same integer; types that unmarshal text are compared by their text.
func (s *scalar) compileEnum(tags tags) error {
	words, ok, err := tags.list("enum")
	if !ok || err != nil {
		return err
	}
	if len(words) == 0 {
		return badTag("enum", "", "allows nothing")
	}

	allowed := make([]any, len(words))
	for i, word := range words {
		value := reflect.New(s.typ)
		into, _ := placeOf(value.Interface(), value.Type())
		if bad := s.parse(into, word); bad != nil {
			return badTag("enum", tags.text("enum"), "has a value that is no "+s.typ.String())
		}
		allowed[i] = value.Elem().Interface()
		if s.class == classText {
			allowed[i] = word
		}
	}
	bad := fault.Enum("", nil, allowed)

	if s.class == classText {
		s.checks = append(s.checks, failingText(&bad, func(text string) bool { return !slices.Contains(words, text) }))
		return nil
	}

	typ := s.typ
	s.checks = append(s.checks, failing(&bad, func(a place) bool {
		return !slices.Contains(allowed, a.value(typ).Interface())
	}))

	return nil
}

// formats are the formats of texts that are checked. Others only stand in the document.
var formats = map[string]func(text string) bool{
	"date-time": func(text string) bool { return new(time.Time).UnmarshalText([]byte(text)) == nil },
	"date":      func(text string) bool { _, err := time.Parse(time.DateOnly, text); return err == nil },
	"time":      isTime,
	"duration":  func(text string) bool { _, err := time.ParseDuration(text); return err == nil },
	"email":     isEmail,
	"hostname":  isHostname,
	"ipv4":      func(text string) bool { addr, err := netip.ParseAddr(text); return err == nil && addr.Is4() },
	"ipv6":      func(text string) bool { addr, err := netip.ParseAddr(text); return err == nil && addr.Is6() },
	"uri":       func(text string) bool { u, err := url.Parse(text); return err == nil && u.IsAbs() },
	"uuid":      isUUID,
}

func isTime(text string) bool {
	for _, layout := range [...]string{time.TimeOnly, "15:04:05Z07:00"} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}

	return false
}

// isEmail accepts an address alone, without the name that may stand before it in a letter.
func isEmail(text string) bool {
	addr, err := mail.ParseAddress(text)
	return err == nil && addr.Address == text
}

func isHostname(text string) bool {
	if text == "" || len(text) > 253 {
		return false
	}

	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
		for _, r := range label {
			if r != '-' && !('0' <= r && r <= '9') && !('a' <= r && r <= 'z') && !('A' <= r && r <= 'Z') {
				return false
			}
		}
	}

	return true
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func isUUID(text string) bool { return uuidPattern.MatchString(text) }

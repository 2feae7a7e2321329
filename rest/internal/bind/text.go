package bind

import (
	"regexp"
	"unicode/utf8"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// compileText compiles the limits of texts. They also apply to the text of types that unmarshal it.
func (s *scalar) compileText(tags tags) error {
	if s.class != classText {
		return tags.refuse("is for text, not for "+s.typ.String(), "minLength", "maxLength", "pattern")
	}

	low, high, err := tags.span("minLength", "maxLength")
	if err != nil {
		return err
	}
	if low >= 0 {
		bad := fault.TooShort("", nil, low)
		s.checks = append(s.checks, failingText(&bad, func(text string) bool { return utf8.RuneCountInString(text) < low }))
	}
	if high >= 0 {
		bad := fault.TooLong("", nil, high)
		s.checks = append(s.checks, failingText(&bad, func(text string) bool { return utf8.RuneCountInString(text) > high }))
	}

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
		s.checks = append(s.checks, func(_ place, text string) *fault.Fault {
			if valid(text) {
				return nil
			}
			return new(fault.WithText(bad, text))
		})
	}

	return nil
}

func failingText(bad *fault.Fault, condition func(text string) bool) check {
	return func(_ place, text string) *fault.Fault {
		if condition(text) {
			return bad
		}

		return nil
	}
}

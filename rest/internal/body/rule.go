package body

import (
	"fmt"
	"regexp"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// newNumberRule returns nil if there are no limits.
func newNumberRule(s *Schema) *numberRule {
	rule := &numberRule{}
	add := func(limit *float64, broken func(value, limit float64) bool, fail func(string, []any, float64) fault.Fault) {
		if limit != nil {
			rule.limits = append(rule.limits, numberLimit{*limit, broken, fail("", nil, *limit)})
		}
	}
	add(s.Minimum, func(value, limit float64) bool { return value < limit }, fault.GreaterEqual)
	add(s.ExclusiveMinimum, func(value, limit float64) bool { return value <= limit }, fault.Greater)
	add(s.Maximum, func(value, limit float64) bool { return value > limit }, fault.LessEqual)
	add(s.ExclusiveMaximum, func(value, limit float64) bool { return value >= limit }, fault.Less)
	add(s.MultipleOf, func(value, limit float64) bool { return !multiple(value, limit) }, fault.MultipleOf)

	var allowed []any
	rule.enum, allowed = enumOf[float64](s)
	rule.enumFault = fault.Enum("", nil, allowed)
	if rule.limits == nil && rule.enum == nil {
		return nil
	}

	return rule
}

// newTextRule returns nil if there are no limits.
func newTextRule(s *Schema) (*textRule, error) {
	rule := &textRule{minLength: orNone(s.MinLength), maxLength: orNone(s.MaxLength)}
	rule.minFault = fault.TooShort("", nil, rule.minLength)
	rule.maxFault = fault.TooLong("", nil, rule.maxLength)

	if s.Pattern != "" {
		pattern, err := regexp.Compile(s.Pattern)
		if err != nil {
			return nil, fmt.Errorf("pattern: %w", err)
		}
		rule.pattern, rule.patternFault = pattern, fault.Pattern("", nil, s.Pattern)
	}
	if check, ok := formats[s.Format]; ok {
		rule.format, rule.formatFault = check, fault.Format("", nil, s.Format)
	}

	var allowed []any
	rule.enum, allowed = enumOf[string](s)
	rule.enumFault = fault.Enum("", nil, allowed)

	if rule.minLength <= 0 && rule.maxLength < 0 && rule.pattern == nil && rule.format == nil && rule.enum == nil {
		return nil, nil //nolint:nilnil // no rule is a rule that holds for all
	}

	return rule, nil
}

// enumOf returns the allowed values of type T, also in the form in which a fault lists them.
func enumOf[T any](s *Schema) (values []T, listed []any) {
	for _, value := range s.Enum {
		if value, ok := value.(T); ok {
			values, listed = append(values, value), append(listed, value)
		}
	}

	return values, listed
}

package rest

import (
	"github.com/spoolhq/spool/rest/internal/fault"
)

// ValidateFirst asks the methods Validate of an input also where the body lacks fields or has values
// beyond their limits, and answers with the error of those methods before it tells of that. It is for a
// program that says itself in which order the mistakes of a body are told. A field that was not sent has
// its zero value then. [Validator] says what holds without the option.
//
// A value that is not of its field's type, and a key that is there twice, are told first in any case.
func ValidateFirst() APIOption { return apiOption(func(c *apiConfig) { c.validateFirst = true }) }

// beyondLimits reports whether all faults are of values of the body that are absent or beyond their limits,
// so that the others could be stored.
func beyondLimits(faults []fault.Fault) bool {
	for _, f := range faults {
		if f.In != fault.Body || len(f.Path) == 0 {
			return false
		}
		switch f.Kind {
		case fault.KindMissing, fault.KindTooShort, fault.KindTooLong, fault.KindPattern, fault.KindEnum,
			fault.KindGreater, fault.KindGreaterEqual, fault.KindLess, fault.KindLessEqual, fault.KindMultipleOf,
			fault.KindListTooShort, fault.KindListTooLong:
		default:
			return false
		}
	}
	return true
}

package rest

import (
	"github.com/spoolhq/spool/rest/internal/fault"
)

// ValidateFirst calls the Validate methods of an input even if the body lacks fields or has values
// beyond their limits. If a Validate method returns an error, the API answers with that error and does
// not report the other mistakes. The option is for a program that orders the mistakes of a body itself.
// Validate sees the zero value of a field that was not sent. [Validator] says what holds without it.
//
// The API always reports a value of the wrong type, and a key that occurs twice, before it calls Validate.
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

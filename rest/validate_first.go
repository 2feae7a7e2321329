package rest

import (
	"github.com/spoolhq/spool/rest/internal/fault"
)

// ValidateFirst calls the Validate methods of an input even if the body lacks fields or has
// values that break limits. If Validate returns an error, the API answers with it and does not
// report the other mistakes. The option is for a program that decides itself which mistake
// comes first. Validate sees the zero value of a missing field. For the usual order, see
// [Validator].
//
// A value of the wrong type and a repeated key are always reported before Validate is called.
func ValidateFirst() APIOption { return apiOption(func(c *apiConfig) { c.validateFirst = true }) }

// beyondLimits reports whether every fault is a missing body field or a body value that breaks
// a limit. All other values could then be decoded.
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

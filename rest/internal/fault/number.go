package fault

import (
	"fmt"
	"strconv"
)

// IntType is something else than a number where an integer is wanted.
func IntType(in string, path []any) Fault {
	return New(in, path, KindIntType, "Input should be a valid integer")
}

// IntParsing is text that is not an integer.
func IntParsing(in string, path []any) Fault {
	return New(in, path, KindIntParsing,
		"Input should be a valid integer, unable to parse string as an integer")
}

// IntFromFloat is a number with a fraction or an exponent where an integer is wanted.
func IntFromFloat(in string, path []any) Fault {
	return New(in, path, KindIntFromFloat,
		"Input should be a valid integer, got a number with a fractional part")
}

// IntOverflow is an integer that does not fit into so many bits.
func IntOverflow(in string, path []any, bits int, unsigned bool) Fault {
	kind := "a signed"
	if unsigned {
		kind = "an unsigned"
	}

	return limited(in, path, KindIntOverflow,
		fmt.Sprintf("Input should fit %s integer of %d bits", kind, bits), "bits", bits)
}

// FloatType is something else than a number where a number is wanted.
func FloatType(in string, path []any) Fault {
	return New(in, path, KindFloatType, "Input should be a valid number")
}

// FloatParsing is text that is not a number.
func FloatParsing(in string, path []any) Fault {
	return New(in, path, KindFloatParsing,
		"Input should be a valid number, unable to parse string as a number")
}

// FloatOverflow is a number that does not fit into a float of so many bits.
func FloatOverflow(in string, path []any, bits int) Fault {
	return limited(in, path, KindFloatOverflow,
		fmt.Sprintf("Input should fit a floating point number of %d bits", bits), "bits", bits)
}

// BoolType is something else than true or false where one of them is wanted.
func BoolType(in string, path []any) Fault {
	return New(in, path, KindBoolType, "Input should be a valid boolean")
}

// BoolParsing is text that does not say yes or no.
func BoolParsing(in string, path []any) Fault {
	return New(in, path, KindBoolParsing,
		"Input should be a valid boolean, unable to interpret input")
}

// Greater is a number that is not above the limit.
func Greater(in string, path []any, limit float64) Fault {
	return limited(in, path, KindGreater, "Input should be greater than "+number(limit), "gt", limit)
}

// GreaterEqual is a number below the limit.
func GreaterEqual(in string, path []any, limit float64) Fault {
	return limited(in, path, KindGreaterEqual,
		"Input should be greater than or equal to "+number(limit), "ge", limit)
}

// Less is a number that is not below the limit.
func Less(in string, path []any, limit float64) Fault {
	return limited(in, path, KindLess, "Input should be less than "+number(limit), "lt", limit)
}

// LessEqual is a number above the limit.
func LessEqual(in string, path []any, limit float64) Fault {
	return limited(in, path, KindLessEqual,
		"Input should be less than or equal to "+number(limit), "le", limit)
}

// MultipleOf is a number that the step does not divide.
func MultipleOf(in string, path []any, step float64) Fault {
	return limited(in, path, KindMultipleOf,
		"Input should be a multiple of "+number(step), "multiple_of", step)
}

func number(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

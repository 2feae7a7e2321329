package fault

import (
	"math"
	"strconv"
)

// The messages of several kinds.
const (
	wholeNumber = "must be a whole number"
	aNumber     = "must be a number"
)

// IntType returns the fault of a value that is not a number where an integer is required.
func IntType(in string, path []any) Fault { return New(in, path, KindIntType, wholeNumber) }

// IntParsing returns the fault of text that is not an integer.
func IntParsing(in string, path []any) Fault { return New(in, path, KindIntParsing, wholeNumber) }

// IntFromFloat returns the fault of a number with a fraction or an exponent where an integer is wanted.
func IntFromFloat(in string, path []any) Fault {
	return New(in, path, KindIntFromFloat, wholeNumber+", without a fraction")
}

// IntOverflow returns the fault of an integer that does not fit into so many bits.
func IntOverflow(in string, path []any, bits int, unsigned bool) Fault {
	low, high := "0", strconv.FormatUint(math.MaxUint64>>(64-bits), 10)
	if !unsigned {
		low = strconv.FormatInt(math.MinInt64>>(64-bits), 10)
		high = strconv.FormatInt(math.MaxInt64>>(64-bits), 10)
	}

	return Limited(in, path, KindIntOverflow, wholeNumber+" from "+low+" to "+high, "bits", bits)
}

// IntBeyond returns the fault of an integer that fits its type and lies beyond what can be computed with.
func IntBeyond(in string, path []any, low, high int64) Fault {
	return Limited(in, path, KindIntOverflow,
		wholeNumber+" from "+strconv.FormatInt(low, 10)+" to "+strconv.FormatInt(high, 10), "bits", 64)
}

// FloatType returns the fault of a value that is not a number where a number is required.
func FloatType(in string, path []any) Fault { return New(in, path, KindFloatType, aNumber) }

// FloatParsing returns the fault of text that is not a number.
func FloatParsing(in string, path []any) Fault { return New(in, path, KindFloatParsing, aNumber) }

// FloatOverflow returns the fault of a number that does not fit into a float of so many bits.
func FloatOverflow(in string, path []any, bits int) Fault {
	return Limited(in, path, KindFloatOverflow,
		aNumber+" that fits a floating point number of "+strconv.Itoa(bits)+" bits", "bits", bits)
}

// NotFinite returns the fault of infinity or NaN where a number is required.
func NotFinite(in string, path []any) Fault {
	return New(in, path, KindNotFinite, "must be a finite number")
}

// BoolType returns the fault of a value that is not true or false where one of them is required.
func BoolType(in string, path []any) Fault {
	return New(in, path, KindBoolType, "must be true or false")
}

// BoolParsing returns the fault of a text that is not a boolean.
func BoolParsing(in string, path []any) Fault {
	return New(in, path, KindBoolParsing, "must be true or false")
}

// Greater returns the fault of a number that is not above the limit.
func Greater(in string, path []any, limit float64) Fault {
	return Limited(in, path, KindGreater, "must be greater than "+number(limit), "gt", limit)
}

// GreaterEqual returns the fault of a number below the limit.
func GreaterEqual(in string, path []any, limit float64) Fault {
	return Limited(in, path, KindGreaterEqual,
		"must be at least "+number(limit), "ge", limit)
}

// Less returns the fault of a number that is not below the limit.
func Less(in string, path []any, limit float64) Fault {
	return Limited(in, path, KindLess, "must be less than "+number(limit), "lt", limit)
}

// LessEqual returns the fault of a number above the limit.
func LessEqual(in string, path []any, limit float64) Fault {
	return Limited(in, path, KindLessEqual, "must be at most "+number(limit), "le", limit)
}

// MultipleOf returns the fault of a number that the step does not divide.
func MultipleOf(in string, path []any, step float64) Fault {
	return Limited(in, path, KindMultipleOf,
		"must be a multiple of "+number(step), "multiple_of", step)
}

func number(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

package bind

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/textform"
)

// parser reads a text into the memory of a value. The caller adds the name of the field to the fault.
type parser func(a place, text string) *fault.Fault

// check compares a value, and the text that it was read from, with one limit.
type check func(a place, text string) *fault.Fault

// scalar reads one value of a type.
type scalar struct {
	typ    reflect.Type
	class  class
	parse  parser
	checks []check
	// low and high are the faults of numbers beyond the limits; nil without one.
	low, high *fault.Fault
}

// limited returns the fault of the limit that a number breaks which its type cannot hold: the limit says more
// than the type. It returns other faults, and that of a number without such a limit, as they are.
func (s *scalar) limited(bad *fault.Fault, text string) *fault.Fault {
	switch negative := strings.HasPrefix(text, "-"); {
	case bad.Kind != fault.KindIntOverflow && bad.Kind != fault.KindFloatOverflow:
	case negative && s.low != nil:
		return s.low
	case !negative && s.high != nil:
		return s.high
	}

	return bad
}

// class groups types by the limits that fit them.
type class int

const (
	classText class = iota + 1
	classBool
	classInt
	classUint
	classFloat
	classTime
	classDuration
	classFile
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

var errUnsupported = errors.New("unsupported type")

// scalarOf compiles the reader of a type. Format is the tag of that name, which decides the form of a time.
func scalarOf(t reflect.Type, format string) (scalar, error) {
	switch {
	case t == timeType:
		parse, err := timeParser(format)
		return scalar{typ: t, class: classTime, parse: parse}, err
	case t == durationType:
		parse, err := durationParser(format)
		return scalar{typ: t, class: classDuration, parse: parse}, err
	case textform.IsURL(t):
		parse, err := urlParser(format)
		return scalar{typ: t, class: classText, parse: parse}, err
	case t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(textType):
		return scalar{typ: t, class: classText, parse: unmarshalParser(t)}, nil
	}

	of, ok := kinds[t.Kind()]
	if !ok {
		return scalar{}, fmt.Errorf("%w %s", errUnsupported, t)
	}
	if of.class != classText {
		if err := textform.CheckText(t, format); err != nil {
			return scalar{}, err
		}
	}

	return scalar{typ: t, class: of.class, parse: of.parse}, nil
}

// kinds are how values of the basic kinds are read.
var kinds = map[reflect.Kind]struct {
	parse parser
	class class
}{
	reflect.String:  {parseString, classText},
	reflect.Bool:    {parseBool, classBool},
	reflect.Int:     {parseInt[int](strconv.IntSize), classInt},
	reflect.Int8:    {parseInt[int8](8), classInt},
	reflect.Int16:   {parseInt[int16](16), classInt},
	reflect.Int32:   {parseInt[int32](32), classInt},
	reflect.Int64:   {parseInt[int64](64), classInt},
	reflect.Uint:    {parseUint[uint](strconv.IntSize), classUint},
	reflect.Uint8:   {parseUint[uint8](8), classUint},
	reflect.Uint16:  {parseUint[uint16](16), classUint},
	reflect.Uint32:  {parseUint[uint32](32), classUint},
	reflect.Uint64:  {parseUint[uint64](64), classUint},
	reflect.Float32: {parseFloat[float32](32), classFloat},
	reflect.Float64: {parseFloat[float64](64), classFloat},
}

// checkText refuses texts that databases or terminals cannot handle.
func checkText(text string) *fault.Fault {
	if strings.IndexByte(text, 0) >= 0 {
		return new(fault.NUL("", nil))
	}
	if !utf8.ValidString(text) {
		return new(fault.Unicode("", nil))
	}

	return nil
}

func parseString(a place, text string) *fault.Fault {
	if bad := checkText(text); bad != nil {
		return bad
	}
	store(a, text)

	return nil
}

func parseBool(a place, text string) *fault.Fault {
	value, ok := boolOf(text)
	if !ok {
		return new(fault.BoolParsing("", nil))
	}
	store(a, value)

	return nil
}

var (
	yesWords = []string{"true", "1", "yes", "on", "t", "y"}
	noWords  = []string{"false", "0", "no", "off", "f", "n"}
)

func boolOf(text string) (value, ok bool) {
	is := func(word string) bool { return len(word) == len(text) && strings.EqualFold(word, text) }
	if slices.ContainsFunc(yesWords, is) {
		return true, true
	}

	return false, slices.ContainsFunc(noWords, is)
}

func parseInt[T int | int8 | int16 | int32 | int64](bits int) parser {
	return func(a place, text string) *fault.Fault {
		value, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			return intFault(err, bits, false)
		}
		store(a, T(value))

		return nil
	}
}

func parseUint[T uint | uint8 | uint16 | uint32 | uint64](bits int) parser {
	return func(a place, text string) *fault.Fault {
		value, err := strconv.ParseUint(text, 10, bits)
		if err != nil {
			if isNegative(text) {
				return new(fault.IntOverflow("", nil, bits, true))
			}
			return intFault(err, bits, true)
		}
		store(a, T(value))

		return nil
	}
}

// isNegative reports whether text is an integer below zero. It is a valid integer, but no unsigned type can
// have it.
func isNegative(text string) bool {
	digits, ok := strings.CutPrefix(text, "-")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

func intFault(err error, bits int, unsigned bool) *fault.Fault {
	if errors.Is(err, strconv.ErrRange) {
		return new(fault.IntOverflow("", nil, bits, unsigned))
	}

	return new(fault.IntParsing("", nil))
}

func parseFloat[T float32 | float64](bits int) parser {
	return func(a place, text string) *fault.Fault {
		value, err := strconv.ParseFloat(text, bits)

		switch {
		case errors.Is(err, strconv.ErrRange):
			return new(fault.FloatOverflow("", nil, bits))
		case err != nil || strings.ContainsAny(text, "xX_"): // hexadecimal is for source code
			return new(fault.FloatParsing("", nil))
		case math.IsNaN(value) || math.IsInf(value, 0):
			return new(fault.NotFinite("", nil))
		}
		store(a, T(value))

		return nil
	}
}

package bind

import (
	"cmp"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest/internal/fault"
)

var (
	boundTags  = [...]string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}
	numberTags = [...]string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"}
)

// compileNumber compiles the limits of numbers and durations. Integers are compared as
// integers: a float64 holds not all of them.
func (s *scalar) compileNumber(tags tags) error {
	switch s.class {
	case classInt:
		parse := func(text string) (int64, error) { return strconv.ParseInt(text, 10, s.typ.Bits()) }
		return compileLimits(s, tags, intLoaders[s.typ.Kind()], parse, func(step, n int64) bool { return n%step == 0 })
	case classUint:
		parse := func(text string) (uint64, error) { return strconv.ParseUint(text, 10, s.typ.Bits()) }
		return compileLimits(s, tags, uintLoaders[s.typ.Kind()], parse, func(step, n uint64) bool { return n%step == 0 })
	case classFloat:
		value := load[float64]
		if s.typ.Kind() == reflect.Float32 {
			value = widened[float32, float64]
		}
		return compileLimits(s, tags, value, parseFinite, divides)
	case classDuration:
		if err := tags.refuse("is for numbers, not for "+s.typ.String(), "multipleOf"); err != nil {
			return err
		}
		return compileBounds(s, tags, load[time.Duration], time.ParseDuration, durationFault)
	default:
		return tags.refuse("is for numbers, not for "+s.typ.String(), numberTags[:]...)
	}
}

// compileLimits compiles the five tags of numbers.
func compileLimits[N int64 | uint64 | float64](
	s *scalar, tags tags, value func(place) N, parse func(string) (N, error), divides func(step, value N) bool,
) error {
	if err := compileBounds(s, tags, value, parse, numberFault[N]); err != nil {
		return err
	}
	text, ok := tags.lookup("multipleOf")
	if !ok {
		return nil
	}
	step, err := parse(text)
	if err != nil || step <= 0 {
		return badTag("multipleOf", text, "is no number above 0")
	}
	bad := fault.MultipleOf("", nil, float64(step))
	s.checks = append(s.checks, failing(&bad, func(a place) bool { return !divides(step, value(a)) }))

	return nil
}

func parseFinite(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
		err = strconv.ErrSyntax
	}

	return n, err
}

// divides allows for rounding of binary fractions: 0.3 is a multiple of 0.1.
func divides(step, value float64) bool {
	quotient := value / step
	return math.Abs(quotient-math.Round(quotient)) <= 1e-9*math.Max(1, math.Abs(quotient))
}

// compileBounds compiles the four tags that a value is compared with.
func compileBounds[N cmp.Ordered](
	s *scalar, tags tags, value func(place) N, parse func(string) (N, error),
	describe func(tag string, limit N) fault.Fault,
) error {
	var low, high *N

	for _, tag := range boundTags {
		text, ok := tags.lookup(tag)
		if !ok {
			continue
		}

		limit, err := parse(text)
		if err != nil {
			return badTag(tag, text, "is no "+s.typ.String())
		}

		bad := describe(tag, limit)
		if strings.HasSuffix(strings.ToLower(tag), "minimum") {
			s.low = &bad
		} else {
			s.high = &bad
		}
		switch tag {
		case "minimum":
			low = &limit
			s.checks = append(s.checks, failing(&bad, func(a place) bool { return value(a) < limit }))
		case "exclusiveMinimum":
			s.checks = append(s.checks, failing(&bad, func(a place) bool { return value(a) <= limit }))
		case "maximum":
			high = &limit
			s.checks = append(s.checks, failing(&bad, func(a place) bool { return value(a) > limit }))
		case "exclusiveMaximum":
			s.checks = append(s.checks, failing(&bad, func(a place) bool { return value(a) >= limit }))
		}
	}

	if low != nil && high != nil && *low > *high {
		return badTag("minimum", tags.text("minimum"), "is above maximum")
	}

	return nil
}

// failing returns a check that returns the fault if the condition holds. The fault is created once: a report
// fills the place into a copy.
func failing(bad *fault.Fault, condition func(place) bool) check {
	return func(a place, _ string) *fault.Fault {
		if condition(a) {
			return bad
		}

		return nil
	}
}

func numberFault[N int64 | uint64 | float64](tag string, limit N) fault.Fault {
	switch n := float64(limit); tag {
	case "minimum":
		return fault.GreaterEqual("", nil, n)
	case "exclusiveMinimum":
		return fault.Greater("", nil, n)
	case "maximum":
		return fault.LessEqual("", nil, n)
	default:
		return fault.Less("", nil, n)
	}
}

// durationFault is numberFault for limits that read as 1h30m.
func durationFault(tag string, limit time.Duration) fault.Fault {
	switch text := limit.String(); tag {
	case "minimum":
		return fault.Limited("", nil, fault.KindGreaterEqual, "must be at least "+text, "ge", text)
	case "exclusiveMinimum":
		return fault.Limited("", nil, fault.KindGreater, "must be more than "+text, "gt", text)
	case "maximum":
		return fault.Limited("", nil, fault.KindLessEqual, "must be at most "+text, "le", text)
	default:
		return fault.Limited("", nil, fault.KindLess, "must be less than "+text, "lt", text)
	}
}

// intLoaders and uintLoaders read a number of a kind that lies in memory.
var (
	intLoaders = map[reflect.Kind]func(place) int64{
		reflect.Int: widened[int, int64], reflect.Int8: widened[int8, int64], reflect.Int16: widened[int16, int64],
		reflect.Int32: widened[int32, int64], reflect.Int64: load[int64],
	}
	uintLoaders = map[reflect.Kind]func(place) uint64{
		reflect.Uint: widened[uint, uint64], reflect.Uint8: widened[uint8, uint64], reflect.Uint16: widened[uint16, uint64],
		reflect.Uint32: widened[uint32, uint64], reflect.Uint64: load[uint64],
	}
)

type numeric interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func widened[From, To numeric](a place) To { return To(load[From](a)) }

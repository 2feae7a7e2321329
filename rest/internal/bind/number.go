package bind

import (
	"cmp"
	"math"
	"reflect"
	"strconv"
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
		return s.compileInt(tags)
	case classUint:
		return s.compileUint(tags)
	case classFloat:
		return s.compileFloat(tags)
	case classDuration:
		return s.compileDuration(tags)
	default:
		return tags.refuse("is for numbers, not for "+s.typ.String(), numberTags[:]...)
	}
}

func (s *scalar) compileInt(tags tags) error {
	value := intLoader(s.typ.Kind())
	parse := func(text string) (int64, error) { return strconv.ParseInt(text, 10, s.typ.Bits()) }

	if err := compileBounds(s, tags, value, parse, numberFault[int64]); err != nil {
		return err
	}

	step, ok, err := stepOf(tags, parse)
	if ok {
		bad := fault.MultipleOf("", nil, float64(step))
		s.checks = append(s.checks, failing(&bad, func(a place) bool { return value(a)%step != 0 }))
	}

	return err
}

func (s *scalar) compileUint(tags tags) error {
	value := uintLoader(s.typ.Kind())
	parse := func(text string) (uint64, error) { return strconv.ParseUint(text, 10, s.typ.Bits()) }

	if err := compileBounds(s, tags, value, parse, numberFault[uint64]); err != nil {
		return err
	}

	step, ok, err := stepOf(tags, parse)
	if ok {
		bad := fault.MultipleOf("", nil, float64(step))
		s.checks = append(s.checks, failing(&bad, func(a place) bool { return value(a)%step != 0 }))
	}

	return err
}

func (s *scalar) compileFloat(tags tags) error {
	value := load[float64]
	if s.typ.Kind() == reflect.Float32 {
		value = func(a place) float64 { return float64(load[float32](a)) }
	}
	parse := func(text string) (float64, error) {
		n, err := strconv.ParseFloat(text, 64)
		if err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
			err = strconv.ErrSyntax
		}
		return n, err
	}

	if err := compileBounds(s, tags, value, parse, numberFault[float64]); err != nil {
		return err
	}

	step, ok, err := stepOf(tags, parse)
	if ok {
		bad := fault.MultipleOf("", nil, step)
		s.checks = append(s.checks, failing(&bad, func(a place) bool { return !divides(step, value(a)) }))
	}

	return err
}

// divides allows for what binary fractions do to decimal ones: 0.3 is a multiple of 0.1.
func divides(step, value float64) bool {
	quotient := value / step
	return math.Abs(quotient-math.Round(quotient)) <= 1e-9*math.Max(1, math.Abs(quotient))
}

func (s *scalar) compileDuration(tags tags) error {
	if err := tags.refuse("is for numbers, not for "+s.typ.String(), "multipleOf"); err != nil {
		return err
	}

	return compileBounds(s, tags, load[time.Duration], time.ParseDuration, durationFault)
}

// compileBounds compiles the four tags that a value is compared with.
func compileBounds[N cmp.Ordered](
	s *scalar, tags tags, value func(place) N, parse func(string) (N, error), describe func(tag string, limit N) fault.Fault,
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

// failing is a check that gives the fault when the condition holds. The fault is made once:
// who reports it fills the place into a copy.
func failing(bad *fault.Fault, condition func(place) bool) check {
	return func(a place, _ string) *fault.Fault {
		if condition(a) {
			return bad
		}

		return nil
	}
}

func stepOf[N cmp.Ordered](tags tags, parse func(string) (N, error)) (step N, ok bool, err error) {
	text, ok := tags.lookup("multipleOf")
	if !ok {
		return step, false, nil
	}

	var zero N
	if step, err = parse(text); err != nil || step <= zero {
		return step, false, badTag("multipleOf", text, "is no number above 0")
	}

	return step, true, nil
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

func intLoader(kind reflect.Kind) func(place) int64 {
	switch kind {
	case reflect.Int8:
		return func(a place) int64 { return int64(load[int8](a)) }
	case reflect.Int16:
		return func(a place) int64 { return int64(load[int16](a)) }
	case reflect.Int32:
		return func(a place) int64 { return int64(load[int32](a)) }
	case reflect.Int:
		return func(a place) int64 { return int64(load[int](a)) }
	default:
		return load[int64]
	}
}

func uintLoader(kind reflect.Kind) func(place) uint64 {
	switch kind {
	case reflect.Uint8:
		return func(a place) uint64 { return uint64(load[uint8](a)) }
	case reflect.Uint16:
		return func(a place) uint64 { return uint64(load[uint16](a)) }
	case reflect.Uint32:
		return func(a place) uint64 { return uint64(load[uint32](a)) }
	case reflect.Uint:
		return func(a place) uint64 { return uint64(load[uint](a)) }
	default:
		return load[uint64]
	}
}

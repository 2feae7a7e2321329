package body

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// numeral is a number of the document.
type numeral struct {
	raw      []byte
	neg      bool
	whole    bool   // has neither fraction nor exponent
	exponent bool   // has an exponent
	long     bool   // has more digits than digits holds
	digits   uint64 // all digits as one number, without sign and point
	scale    int    // the number of digits after the point
}

// numeral reads the number at pos.
func (x *lexer) numeral() (numeral, bool) {
	data, i := x.data, x.pos
	num := numeral{whole: true}

	if data[i] == '-' {
		num.neg = true
		i++
	}

	first := i
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		num.add(data[i])
		i++
	}
	if i == first || i > first+1 && data[first] == '0' {
		x.pos = i
		return num, x.syntax("invalid number")
	}

	if i < len(data) && data[i] == '.' {
		num.whole = false
		i++
		point := i
		for i < len(data) && '0' <= data[i] && data[i] <= '9' {
			num.add(data[i])
			i++
		}
		if num.scale = i - point; num.scale == 0 {
			x.pos = i
			return num, x.syntax("invalid number")
		}
	}

	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		num.whole, num.exponent = false, true
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		power := i
		for i < len(data) && '0' <= data[i] && data[i] <= '9' {
			i++
		}
		if i == power {
			x.pos = i
			return num, x.syntax("invalid number")
		}
	}

	num.raw = data[x.pos:i]
	x.pos = i

	return num, true
}

func (n *numeral) add(digit byte) {
	const room = (math.MaxUint64 - 9) / 10
	if n.digits > room {
		n.long = true
		return
	}
	n.digits = n.digits*10 + uint64(digit-'0')
}

// powersOfTen are the powers of ten that a float64 holds exactly.
var powersOfTen = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// float returns the nearest float64, and false if the number is too large.
func (n *numeral) float() (float64, bool) {
	if !n.long && !n.exponent && n.digits < 1<<53 && n.scale < len(powersOfTen) {
		// Both are exact, so their quotient is rounded once, which is correct.
		value := float64(n.digits) / powersOfTen[n.scale]
		if n.neg {
			value = -value
		}

		return value, true
	}

	value, err := strconv.ParseFloat(view(n.raw), 64)

	return value, err == nil
}

// numeric reads a number value.
func (s *scanner) numeric(n *node, to unsafe.Pointer) bool {
	num, ok := s.numeral()
	if !ok {
		return false
	}

	switch n.kind {
	case kindInt, kindUint:
		if !num.whole {
			if s.plan.opts.Loose {
				return s.report(fault.IntFromFloat(fault.Body, s.where()))
			}
			switch num.settle() {
			case fractional:
				return s.report(fault.IntFromFloat(fault.Body, s.where()))
			case tooLarge:
				return s.overflow(n, num.raw, fault.IntOverflow(fault.Body, s.where(), n.bits, n.kind == kindUint))
			}
		}
		if n.kind == kindUint && num.neg {
			return s.report(fault.GreaterEqual(fault.Body, s.where(), 0))
		}
		if !num.fits(n) {
			return s.overflow(n, num.raw, fault.IntOverflow(fault.Body, s.where(), n.bits, n.kind == kindUint))
		}
	case kindFloat:
		if !num.inFloat(n.bits) {
			return s.overflow(n, num.raw, fault.FloatOverflow(fault.Body, s.where(), n.bits))
		}
	}
	if to != nil {
		num.store(n, to)
	}
	if n.number == nil && n.kind != kindInteger && n.kind != kindNumber {
		return true
	}

	value, ok := num.float()
	if !ok {
		return s.report(fault.FloatOverflow(fault.Body, s.where(), 64))
	}
	if n.kind == kindInteger && value != math.Trunc(value) {
		return s.report(fault.IntFromFloat(fault.Body, s.where()))
	}
	if n.number == nil {
		return true
	}

	return s.checkNumber(n.number, value)
}

// overflow reports a number that its Go type cannot hold. If the number breaks a limit, that is what it
// reports: the limit says more than the type.
func (s *scanner) overflow(n *node, raw []byte, bad fault.Fault) bool {
	value, _ := strconv.ParseFloat(view(raw), 64) // an infinity is beyond each limit
	if n.number != nil {
		for i := range n.number.limits {
			if l := &n.number.limits[i]; l.broken(value, l.limit) && l.fault.Kind != fault.KindMultipleOf {
				return s.refuse(l.fault)
			}
		}
	}

	return s.report(bad)
}

// fits reports whether a whole number fits the Go integer of n.
func (n *numeral) fits(to *node) bool {
	if n.long {
		// add gives up a little early.
		value, err := strconv.ParseUint(strings.TrimPrefix(view(n.raw), "-"), 10, to.bits)
		n.digits = value

		return to.kind == kindUint && !n.neg && err == nil
	}
	if to.kind == kindUint {
		return to.bits == 64 || n.digits < 1<<to.bits
	}

	limit := uint64(1) << (to.bits - 1)
	if n.neg {
		return n.digits <= limit
	}

	return n.digits < limit
}

// inFloat reports whether the number fits the Go float.
func (n *numeral) inFloat(bits int) bool {
	if !n.exponent && len(n.raw) < 38 {
		return true
	}
	_, err := strconv.ParseFloat(view(n.raw), bits)

	return err == nil
}

// checkNumber checks a number against its rule.
func (s *scanner) checkNumber(rule *numberRule, value float64) bool {
	for i := range rule.limits {
		if l := &rule.limits[i]; l.broken(value, l.limit) && !s.refuse(l.fault) {
			return false
		}
	}
	if rule.enum != nil && !slices.Contains(rule.enum, value) {
		return s.refuse(rule.enumFault)
	}

	return true
}

// multiple allows for the rounding of a decimal step to a binary number.
func multiple(value, step float64) bool {
	const tolerance = 1e-9
	rest := math.Mod(value, step)

	return math.Abs(rest) <= tolerance || math.Abs(rest-step) <= tolerance
}

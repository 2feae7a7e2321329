package body

import (
	"bytes"
	"strconv"
)

// The meaning of a number with a fraction or an exponent as an integer. In JSON, 1, 1.0 and 1e0 are the same
// number.
type integral uint8

const (
	settled    integral = iota // it is an integer
	fractional                 // it is none
	tooLarge                   // it is one that no Go integer holds
)

// mostDigits is how many digits the largest Go integer has.
const mostDigits = 20

// settle turns a number with a fraction or an exponent into a whole number.
func (n *numeral) settle() integral {
	text, ok := n.integer(mostDigits)
	switch {
	case !ok:
		return fractional
	case text == nil:
		return tooLarge
	}
	value, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return tooLarge
	}
	n.digits, n.scale = value, 0
	n.whole, n.exponent, n.long = true, false, false

	return settled
}

// integer returns the digits of the number without its sign. It returns false if the number is not an
// integer, and no digits if it has more than the given number of digits.
func (n *numeral) integer(most int) ([]byte, bool) {
	mantissa, exponent := bytes.TrimPrefix(n.raw, []byte("-")), 0
	if at := bytes.IndexAny(mantissa, "eE"); at >= 0 {
		exponent = power(mantissa[at+1:])
		mantissa = mantissa[:at]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	fraction = bytes.TrimRight(fraction, "0")
	digits := append(bytes.Clone(whole), fraction...)
	exponent -= len(fraction)

	for exponent < 0 && len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits, exponent = digits[:len(digits)-1], exponent+1
	}
	digits = bytes.TrimLeft(digits, "0")

	switch {
	case len(digits) == 0:
		return []byte("0"), true
	case exponent < 0:
		return nil, false
	case len(digits)+exponent > most:
		return nil, true
	}

	return append(digits, bytes.Repeat([]byte("0"), exponent)...), true
}

// power reads an exponent. It stops at a bound that is larger than the number of digits of any document, so
// the result is the same.
func power(text []byte) int {
	const bound = 1 << 40
	value, err := strconv.Atoi(string(text))
	if err != nil || value > bound || value < -bound {
		if text[0] == '-' {
			return -bound
		}

		return bound
	}

	return value
}

// wholeText is the text of an integer without point and exponent, for types that read
// digits only. The integer is one that a float64 holds.
func wholeText(raw []byte) []byte {
	if !bytes.ContainsAny(raw, ".eE") || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return raw
	}
	const most = 400
	digits, ok := (&numeral{raw: raw}).integer(most)
	if !ok || digits == nil {
		return raw
	}
	if raw[0] == '-' && digits[0] != '0' {
		digits = append([]byte("-"), digits...)
	}

	return digits
}

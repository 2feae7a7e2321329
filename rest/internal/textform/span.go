package textform

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseSpan reads a duration of ISO 8601, such as PT1H30M or P1DT2H, or one as Go writes it,
// such as 1h30m. A day has 24 hours. Months and years have no length and are refused.
func ParseSpan(text string) (time.Duration, bool) {
	rest, iso := strings.CutPrefix(strings.TrimLeft(text, "+-"), "P")
	if !iso {
		value, err := time.ParseDuration(text)
		return value, err == nil
	}
	sign := text[:strings.IndexByte(text, 'P')]
	if len(sign) > 1 {
		return 0, false
	}
	days, clock, timed := strings.Cut(rest, "T")
	if rest == "" || timed && clock == "" {
		return 0, false
	}

	total, ok := sum(0, days, []unit{{'W', 7 * 24 * time.Hour}, {'D', 24 * time.Hour}})
	if ok {
		total, ok = sum(total, clock, []unit{{'H', time.Hour}, {'M', time.Minute}, {'S', time.Second}})
	}
	if sign == "-" {
		total = -total
	}

	return total, ok
}

type unit struct {
	letter byte
	length time.Duration
}

// sum adds numbers with units. Each unit comes at most once, in a fixed order. The last number may have a
// fraction.
func sum(total time.Duration, text string, units []unit) (time.Duration, bool) {
	for text != "" {
		end := strings.IndexFunc(text, func(c rune) bool { return c >= 'A' && c <= 'Z' })
		if end < 1 {
			return 0, false
		}
		number, letter := text[:end], text[end]
		text = text[end+1:]
		for len(units) > 0 && units[0].letter != letter {
			units = units[1:]
		}
		if len(units) == 0 {
			return 0, false
		}
		part, ok := times(number, units[0].length, text == "")
		if !ok || part > math.MaxInt64-total {
			return 0, false
		}
		total, units = total+part, units[1:]
	}

	return total, true
}

// times multiplies a number by its unit.
func times(number string, length time.Duration, last bool) (time.Duration, bool) {
	whole, fraction, has := strings.Cut(strings.Replace(number, ",", ".", 1), ".")
	if strings.Trim(whole+fraction, "0123456789") != "" || whole == "" || has && (fraction == "" || !last) {
		return 0, false
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > int64(math.MaxInt64/length) {
		return 0, false
	}
	total := time.Duration(n) * length
	if has {
		part, err := strconv.ParseFloat("0."+fraction, 64)
		more := time.Duration(math.Round(part * float64(length)))
		if err != nil || more > math.MaxInt64-total {
			return 0, false
		}
		total += more
	}

	return total, true
}

// SpanText returns a duration in the form of ISO 8601, in hours, minutes and seconds: PT26H30M.
func SpanText(d time.Duration) string {
	left, sign := uint64(d), "" //nolint:gosec // the least duration is its own negative
	if d < 0 {
		left, sign = -left, "-"
	}
	const minute, hour = uint64(time.Minute), uint64(time.Hour)
	text := sign + "PT"
	if left >= hour {
		text += strconv.FormatUint(left/hour, 10) + "H"
		left %= hour
	}
	if left >= minute {
		text += strconv.FormatUint(left/minute, 10) + "M"
		left %= minute
	}
	if left == 0 && d != 0 {
		return text
	}
	text += strconv.FormatUint(left/uint64(time.Second), 10)
	if nanos := left % uint64(time.Second); nanos > 0 {
		digits := strconv.FormatUint(uint64(time.Second)+nanos, 10)
		text += "." + strings.TrimRight(digits[1:], "0")
	}

	return text + "S"
}

package cron

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

// spec says what a field may have.
type spec struct {
	name     string
	min, max int
	names    []string // The first one stands for min.
}

var specs = [fields]spec{
	minute: {name: "minute", min: 0, max: 59},
	hour:   {name: "hour", min: 0, max: 23},
	day:    {name: "day of month", min: 1, max: 31},
	month: {name: "month", min: 1, max: 12, names: []string{
		"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
	}},
	weekday: {name: "day of week", min: 0, max: sunday, names: []string{
		"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT",
	}},
}

// sunday is the number of Sunday at the end of a range, such as FRI-SUN. In every other place, Sunday becomes 0.
const sunday = 7

// field is one field of a pattern.
type field struct {
	parts   []part
	set     uint64 // a bit for each value that fits
	all     bool   // it is exactly "*"
	repeats bool   // it has a "*" or a step
}

// part is one part of a field's list. A single number is a range to itself, and a part without a step has the step 0.
type part struct {
	low, high, step int
	star            bool
}

func (f *field) has(value int) bool { return f.set>>value&1 == 1 }

// String returns the parts in the order of their values.
func (f *field) String() string {
	texts := make([]string, len(f.parts))
	for i, p := range f.parts {
		texts[i] = p.String()
	}
	return strings.Join(texts, ",")
}

func (p part) String() string {
	text := strconv.Itoa(p.low)
	switch {
	case p.star:
		text = "*"
	case p.high > p.low || p.step > 0:
		text += "-" + strconv.Itoa(p.high)
	}
	if p.step > 0 {
		text += "/" + strconv.Itoa(p.step)
	}
	return text
}

// parseField returns the field with an index. Its error names the field, and the part if the field has several.
func parseField(index int, text string) (field, error) {
	var f field
	s := specs[index]
	texts := strings.Split(text, ",")
	for i, text := range texts {
		p, err := s.part(text)
		if err != nil {
			place := fmt.Sprintf("field %d (%s)", index+1, s.name)
			if len(texts) > 1 {
				place += fmt.Sprintf(", part %d", i+1)
			}
			return field{}, spool.Errorf(spool.Invalid, "cron: %s, %q: %s", place, text, err)
		}
		f.add(p)
	}
	if index == weekday && f.has(sunday) {
		f.set |= 1 // the bit of 0
	}
	f.all = text == "*"
	slices.SortFunc(f.parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high), cmp.Compare(a.String(), b.String()))
	})
	f.parts = slices.Compact(f.parts)
	return f, nil
}

func (f *field) add(p part) {
	f.parts = append(f.parts, p)
	f.repeats = f.repeats || p.star || p.step > 0
	for value := p.low; value <= p.high; value += max(p.step, 1) {
		f.set |= 1 << value
	}
}

// part returns the part that a text says. Its error says what to use.
func (s spec) part(text string) (part, error) {
	span, step, stepped := strings.Cut(text, "/")
	p, err := s.span(span)
	if err != nil || !stepped {
		return p, err
	}
	n, ok := number(step)
	switch {
	case !ok || n < 1 || n > s.max:
		return part{}, fmt.Errorf("use a step from 1 to %d", s.max)
	case !p.star && !strings.Contains(span, "-"):
		return part{}, fmt.Errorf("a step needs a range: use %d-%d/%d", p.low, s.max, n)
	}
	p.step = n
	return p, nil
}

// span returns the part in front of a step.
func (s spec) span(text string) (part, error) {
	if text == "*" {
		return part{low: s.min, high: s.max, star: true}, nil
	}
	from, to, ranged := strings.Cut(text, "-")
	low, err := s.value(from)
	if err != nil {
		return part{}, err
	}
	high := low
	if ranged {
		if high, err = s.value(to); err != nil {
			return part{}, err
		}
	}
	week := s.max == sunday
	if week && low == sunday {
		low, high = 0, high%sunday
	}
	switch {
	case week && low > high && high == 0:
		high = sunday
	case low > high:
		return part{}, fmt.Errorf("the range goes backwards: use %d-%d,%d-%d", low, s.max, s.min, high)
	}
	return part{low: low, high: high}, nil
}

// value returns the value of a number or a name.
func (s spec) value(text string) (int, error) {
	for i, name := range s.names {
		if strings.EqualFold(text, name) {
			return s.min + i, nil
		}
	}
	n, ok := number(text)
	if ok && s.min <= n && n <= s.max {
		return n, nil
	}
	use := fmt.Sprintf("use a number from %d to %d", s.min, s.max)
	if s.names != nil {
		use += fmt.Sprintf(" or a name from %s to %s", s.names[0], s.names[len(s.names)-1])
	}
	switch {
	case text == "?":
		return 0, errors.New(`"?" is not supported: use "*"`)
	case strings.ContainsAny(text, "LW#") && strings.Trim(text, "0123456789LW#") == "":
		return 0, fmt.Errorf(`"L", "W" and "#" are not supported: %s`, use)
	default:
		return 0, errors.New(use)
	}
}

// number returns the value of one or two digits.
func number(text string) (int, bool) {
	if text == "" || len(text) > 2 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WithText adds Pydantic's reason for a text that does not have the form that f is about. It looks only at
// forms. Of the text itself, f keeps at most one unexpected character, as Pydantic does.
func WithText(f Fault, text string) Fault {
	reason := ""
	switch f.Kind {
	case KindDate:
		return dateReason(f, text)
	case KindDateTime:
		reason = dayReason(text)
		if reason == "" && len(text) > len("2006-01-02") {
			reason = "unexpected extra characters at the end of the input"
		}
	case KindTime:
		reason = clockReason(text)
	case KindDuration:
		reason = durationReason(text)
	case KindUUID:
		reason = uuidReason(text)
	case KindURL:
		reason = urlReason(text)
	case KindEmail:
		reason = emailReason(text)
	}
	if reason != "" {
		f.python = &python{reason: reason}
	}

	return f
}

// dateReason returns the reason for a date. Pydantic also tries a date with a time.
func dateReason(f Fault, text string) Fault {
	reason := dayReason(text)
	if len(text) > 10 && reason == "" {
		if strings.ContainsRune("Tt_ ", rune(text[10])) {
			reason = clockReason(text[11:])
		} else {
			reason = "invalid datetime separator, expected `T`, `t`, `_` or space"
		}
	}
	_, err := strconv.ParseFloat(text, 64)
	number := err == nil && strings.Trim(text, "-0123456789.") == ""
	if number || reason == "" {
		f.python = &python{kind: kindInexact}
		return f
	}
	f.python = &python{reason: reason}

	return f
}

// digits reports whether text has only digits.
func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// dayReason returns the reason for the date at the beginning of text.
func dayReason(text string) string {
	if len(text) < len("2006-01-02") {
		return tooShortInput
	}

	year, month, day := text[:4], text[5:7], text[8:10]
	switch {
	case !digits(year):
		return "invalid character in year"
	case text[4] != '-':
		return "invalid date separator, expected `-`"
	case !digits(month):
		return "invalid character in month"
	case month < "01" || month > "12":
		return "month value is outside expected range of 1-12"
	case text[7] != '-':
		return "invalid date separator, expected `-`"
	case !digits(day):
		return "invalid character in day"
	case day < "01" || day > lastDay(year, month):
		return "day value is outside expected range"
	}

	return ""
}

func lastDay(year, month string) string {
	switch month {
	case "04", "06", "09", "11":
		return "30"
	case "02":
		n, _ := strconv.Atoi(year)
		if n%4 == 0 && (n%100 != 0 || n%400 == 0) {
			return "29"
		}

		return "28"
	}

	return "31"
}

const tooShortInput = "input is too short"

// clockReason returns the reason for a time of day.
func clockReason(text string) string {
	if len(text) < len("15:04") {
		return tooShortInput
	}

	names, highest := [...]string{"hour", "minute", "second"}, [...]string{"23", "59", "59"}
	for i, name := range names {
		switch {
		case i == 2 && (len(text) == 0 || text[0] != ':'):
			return zoneReason(text)
		case i > 0 && text[0] != ':':
			return "invalid time separator, expected `:`"
		case i > 0:
			text = text[1:]
		}
		if len(text) < 2 {
			return tooShortInput
		}
		if !digits(text[:2]) {
			return "invalid character in " + name
		}
		if text[:2] > highest[i] {
			return name + " value is outside expected range of 0-" + highest[i]
		}
		text = text[2:]
	}
	if fraction, ok := strings.CutPrefix(text, "."); ok {
		if text = strings.TrimLeft(fraction, "0123456789"); len(text) == len(fraction) {
			return "second fraction digits missing after `.`"
		}
	}

	return zoneReason(text)
}

// zoneReason returns the reason for the zone after a time.
func zoneReason(text string) string {
	switch {
	case text == "":
		return ""
	case text[0] == 'Z' || text[0] == 'z':
		if len(text) > 1 {
			return "unexpected extra characters at the end of the input"
		}

		return ""
	case text[0] != '+' && text[0] != '-':
		return "invalid timezone sign"
	case len(text) < 3 || !digits(text[1:3]):
		return "invalid timezone hour"
	}
	minutes := strings.TrimPrefix(text[3:], ":")
	switch {
	case len(minutes) < 2 || !digits(minutes[:2]):
		return "invalid timezone minute"
	case text[1:3] > "23":
		return "timezone offset must be less than 24 hours"
	case len(minutes) > 2:
		return "unexpected extra characters at the end of the input"
	}

	return ""
}

func durationReason(text string) string {
	text = strings.TrimPrefix(text, "-")
	switch {
	case text == "" || text == "P":
		return tooShortInput
	case !digits(text[:1]) && text[0] != 'P':
		return "invalid digit in duration"
	case text[0] != 'P':
		return `"day" identifier in duration not correctly formatted`
	}

	return ""
}

func uuidReason(text string) string {
	before := 0
	if rest, ok := strings.CutPrefix(text, "urn:uuid:"); ok {
		before, text = len(text)-len(rest), rest
	}
	for i, c := range text {
		if !strings.ContainsRune("-0123456789abcdefABCDEF", c) {
			return fmt.Sprintf("invalid character: found `%c` at %d", c, before+i)
		}
	}
	groups := strings.Split(text, "-")
	switch {
	case len(groups) == 1:
		return "invalid length: found " + strconv.Itoa(len(text))
	case len(groups) != 5:
		return "invalid group count: expected 5, found " + strconv.Itoa(len(groups))
	}
	for i, want := range [...]int{8, 4, 4, 4, 12} {
		if found := len(groups[i]); found != want {
			return fmt.Sprintf("invalid group length in group %d: expected %d, found %d", i, want, found)
		}
	}

	return ""
}

// urlReason returns the reason for a URL, if its beginning shows one.
func urlReason(text string) string {
	if text == "" {
		return "input is empty"
	}
	scheme, rest, found := strings.Cut(text, ":")
	scheme = strings.ToLower(scheme)
	if !found || scheme == "" || scheme[0] < 'a' || scheme[0] > 'z' ||
		strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		return "relative URL without a base"
	}
	if !slices.Contains([]string{"http", "https", "ws", "wss", "ftp"}, scheme) {
		return ""
	}
	host := strings.TrimLeft(rest, "/\\")
	if i := strings.IndexAny(host, "/\\?#"); i >= 0 {
		host = host[:i]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if strings.HasPrefix(host, "[") {
		if !strings.Contains(host, "]") {
			return "invalid IPv6 address"
		}

		return ""
	}
	host, port, _ := strings.Cut(host, ":")
	if host == "" {
		return "empty host"
	}
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n > 65535) {
		return "invalid port number"
	}
	if strings.ContainsAny(host, " <>%^|\x00\t\n") {
		return "invalid international domain name"
	}
	if last := host[strings.LastIndexByte(host, '.')+1:]; digits(last) {
		return "invalid IPv4 address"
	}

	return ""
}

// emailReason returns the reason of the package email-validator.
func emailReason(text string) string {
	local, domain, found := strings.Cut(text, "@")
	const two = "An email address cannot have two periods in a row."
	switch {
	case !found:
		return "An email address must have an @-sign."
	case domain == "":
		return "There must be something after the @-sign."
	case local == "":
		return "There must be something before the @-sign."
	case strings.HasPrefix(local, "."):
		return "An email address cannot start with a period."
	case strings.HasSuffix(local, "."):
		return "An email address cannot have a period immediately before the @-sign."
	case strings.Contains(local, ".."):
		return two
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."
	if bad := strangers(local, letters+"!#$%&'*+/=?^_`{|}~"); bad != "" {
		return "The email address contains invalid characters before the @-sign: " + bad + "."
	}
	if bad := strangers(domain, letters); bad != "" {
		return "The part after the @-sign contains invalid characters: " + bad + "."
	}
	switch {
	case strings.HasPrefix(domain, "."):
		return "An email address cannot have a period immediately after the @-sign."
	case strings.HasSuffix(domain, "."):
		return "An email address cannot end with a period."
	case strings.Contains(domain, ".."):
		return two
	case strings.HasPrefix(domain, "-"):
		return "An email address cannot have a hyphen immediately after the @-sign."
	case !strings.Contains(domain, "."):
		return "The part after the @-sign is not valid. It should have a period."
	}

	return ""
}

// strangers lists the characters of text that are not among the known ones.
func strangers(text, known string) string {
	var list []string
	for _, c := range text {
		name := "'" + string(c) + "'"
		if c == ' ' {
			name = "SPACE"
		}
		if c < utf8.RuneSelf && !strings.ContainsRune(known, c) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)

	return strings.Join(list, ", ")
}

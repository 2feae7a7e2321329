package fault

import "strconv"

// StringType returns the fault of a value that is not a string where one is required.
func StringType(in string, path []any) Fault {
	return New(in, path, KindStringType, "must be a string")
}

// TooShort returns the fault of a string with fewer characters than the limit.
func TooShort(in string, path []any, limit int) Fault {
	return Limited(in, path, KindTooShort,
		"must be at least "+count(limit, "character", "characters"), "min_length", limit)
}

// TooLong returns the fault of a string with more characters than the limit.
func TooLong(in string, path []any, limit int) Fault {
	return Limited(in, path, KindTooLong,
		"must be at most "+count(limit, "character", "characters"), "max_length", limit)
}

// Pattern returns the fault of a string that a regular expression does not match.
func Pattern(in string, path []any, pattern string) Fault {
	return Limited(in, path, KindPattern,
		"must match the pattern "+pattern, "pattern", pattern)
}

// format has the kind and the message for a named format of strings.
type format struct{ kind, message string }

var formats = map[string]format{
	"date-time":      {KindDateTime, "must be a date and time, such as 2026-11-22T17:30:00Z"},
	"date-time-http": {KindDateTime, "must be a date of an HTTP header, such as Sun, 22 Nov 2026 17:30:00 GMT"},
	"date":           {KindDate, "must be a date, such as 2026-11-22"},
	"time":           {KindTime, "must be a time, such as 17:30:00Z"},
	"duration":       {KindDuration, "must be a duration, such as 1h30m"},
	"email":          {KindEmail, "must be an email address"},
	"idn-email":      {KindEmail, "must be an email address"},
	"hostname":       {KindHostname, "must be a host name, such as www.example.com"},
	"idn-hostname":   {KindHostname, "must be a host name, such as www.example.com"},
	"uri":            {KindURL, "must be a URL, such as https://example.com/"},
	"uri-reference":  {KindURL, "must be a URL or a path"},
	"iri":            {KindURL, "must be a URL, such as https://example.com/"},
	"iri-reference":  {KindURL, "must be a URL or a path"},
	"uuid":           {KindUUID, "must be a UUID, such as 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"},
	"ip":             {KindIP, "must be an IP address"},
	"ipv4":           {KindIPv4, "must be an IPv4 address, such as 192.0.2.1"},
	"ipv6":           {KindIPv6, "must be an IPv6 address, such as 2001:db8::1"},
	"byte":           {KindBytes, "must be base64 text"},
	"decimal":        {KindDecimal, "must be a decimal number, such as 12.50"},
}

// Format returns the fault of a string without the named format, which is a name of JSON Schema such as
// "date-time" or "uuid". A format without a message of its own becomes [KindFormat].
func Format(in string, path []any, name string) Fault {
	if known, ok := formats[name]; ok {
		return New(in, path, known.kind, known.message)
	}

	return Limited(in, path, KindFormat, "must have the format '"+name+"'", "format", name)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}

	return strconv.Itoa(n) + " " + many
}

package fault

import "fmt"

// StringType is something else than a string where one is wanted.
func StringType(in string, path []any) Fault {
	return New(in, path, KindStringType, "Input should be a valid string")
}

// TooShort is a string with fewer characters than the limit.
func TooShort(in string, path []any, limit int) Fault {
	return limited(in, path, KindTooShort,
		"String should have at least "+count(limit, "character"), "min_length", limit)
}

// TooLong is a string with more characters than the limit.
func TooLong(in string, path []any, limit int) Fault {
	return limited(in, path, KindTooLong,
		"String should have at most "+count(limit, "character"), "max_length", limit)
}

// Pattern is a string that a regular expression does not match.
func Pattern(in string, path []any, pattern string) Fault {
	return limited(in, path, KindPattern,
		fmt.Sprintf("String should match pattern '%s'", pattern), "pattern", pattern)
}

// format says which kind and which words belong to a named format of strings.
type format struct{ kind, message string }

var formats = map[string]format{
	"date-time":      {KindDateTime, "Input should be a valid datetime"},
	"date-time-http": {KindDateTime, "Input should be a valid datetime of an HTTP header"},
	"date":           {KindDate, "Input should be a valid date"},
	"time":           {KindTime, "Input should be a valid time"},
	"duration":       {KindDuration, "Input should be a valid duration"},
	"email":          {KindEmail, "Input should be a valid email address"},
	"idn-email":      {KindEmail, "Input should be a valid email address"},
	"hostname":       {KindHostname, "Input should be a valid host name"},
	"idn-hostname":   {KindHostname, "Input should be a valid host name"},
	"uri":            {KindURL, "Input should be a valid URL"},
	"uri-reference":  {KindURL, "Input should be a valid URL or URL reference"},
	"iri":            {KindURL, "Input should be a valid URL"},
	"iri-reference":  {KindURL, "Input should be a valid URL or URL reference"},
	"uuid":           {KindUUID, "Input should be a valid UUID"},
	"ip":             {KindIP, "Input should be a valid IP address"},
	"ipv4":           {KindIPv4, "Input should be a valid IPv4 address"},
	"ipv6":           {KindIPv6, "Input should be a valid IPv6 address"},
	"byte":           {KindBytes, "Input should be valid base64"},
	"decimal":        {KindDecimal, "Input should be a valid decimal"},
}

// Format is a string that does not have the named format, which is a name of JSON Schema
// such as "date-time" or "uuid". A format without words of its own becomes [KindFormat].
func Format(in string, path []any, name string) Fault {
	if known, ok := formats[name]; ok {
		return New(in, path, known.kind, known.message)
	}

	return limited(in, path, KindFormat, "Input should have the format '"+name+"'", "format", name)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	return fmt.Sprintf("%d %ss", n, noun)
}

package body

import (
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest/internal/textform"
)

// formats are the formats of strings that are checked, the same as huma's. Other formats are notes for the
// reader of the schema.
var formats = map[string]func(string) bool{
	"date-time":      func(s string) bool { return isTime(s, time.RFC3339) },
	"date-time-http": func(s string) bool { return isTime(s, time.RFC1123) },
	"date":           func(s string) bool { _, ok := textform.ParseDate(s); return ok },
	"time":           func(s string) bool { _, ok := textform.ParseClock(s); return ok },
	"duration":       func(s string) bool { _, ok := textform.ParseSpan(s); return ok },
	"email":          isEmail,
	"idn-email":      isEmail,
	"hostname":       isHostname,
	"idn-hostname":   isHostname,
	"ipv4":           func(s string) bool { addr, err := netip.ParseAddr(s); return err == nil && addr.Is4() },
	"ipv6": func(s string) bool {
		addr, err := netip.ParseAddr(s)
		return err == nil && addr.Is6() && !addr.Is4In6()
	},
	"ip":            func(s string) bool { _, err := netip.ParseAddr(s); return err == nil },
	"uri":           isURI,
	"uri-reference": isReference,
	"iri":           isURI,
	"iri-reference": isReference,
	"uri-template": func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && uriTemplate.MatchString(u.Path)
	},
	"uuid":                  isUUID,
	"json-pointer":          jsonPointer.MatchString,
	"relative-json-pointer": relativePointer.MatchString,
	"regex":                 func(s string) bool { _, err := regexp.Compile(s); return err == nil },
}

var (
	hostname        = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
	uriTemplate     = regexp.MustCompile(`^([^{]*(\{[^}]*\})?)*$`)
	jsonPointer     = regexp.MustCompile(`^(/([^~/]|~[01])*)*$`)
	relativePointer = regexp.MustCompile(`^(0|[1-9][0-9]*)(#|(/([^~/]|~[01])*)*)$`)
)

// isDay is the format date of a time, which is the one of a text or any midnight.
func isDay(s string) bool {
	_, ok := textform.ParseDay(s)

	return ok
}

func isTime(s, layout string) bool {
	_, err := time.Parse(layout, s)

	return err == nil
}

// isEmail accepts only an address, without a name before it.
func isEmail(s string) bool {
	addr, err := mail.ParseAddress(s)

	return err == nil && addr.Address == s
}

func isHostname(s string) bool { return len(s) < 256 && hostname.MatchString(s) }

// isURI accepts only addresses with a scheme: others are references in RFC 3986.
func isURI(s string) bool {
	u, err := url.Parse(s)

	return err == nil && u.IsAbs()
}

func isReference(s string) bool {
	_, err := url.Parse(s)

	return err == nil
}

// isUUID accepts UUIDs in four forms: plain, without hyphens, in braces, and as a URN.
func isUUID(s string) bool {
	switch len(s) {
	case 32:
		return isHex(s)
	case 38:
		if s[0] != '{' || s[37] != '}' {
			return false
		}
		s = s[1:37]
	case 45:
		if !strings.EqualFold(s[:9], "urn:uuid:") {
			return false
		}
		s = s[9:]
	case 36:
	default:
		return false
	}

	return s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		isHex(s[:8]) && isHex(s[9:13]) && isHex(s[14:18]) && isHex(s[19:23]) && isHex(s[24:])
}

func isHex(s string) bool {
	for i := range len(s) {
		if hex(s[i]) < 0 {
			return false
		}
	}

	return true
}

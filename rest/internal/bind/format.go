package bind

import (
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/spoolhq/spool/rest/internal/textform"
)

// formats are the formats of texts that are checked. Other formats are only shown in the document.
var formats = map[string]func(text string) bool{
	"date-time": func(text string) bool { _, ok := dateTimeOf(text); return ok },
	"date":      func(text string) bool { _, ok := textform.ParseDate(text); return ok },
	"time":      func(text string) bool { _, ok := textform.ParseClock(text); return ok },
	"duration":  func(text string) bool { _, ok := textform.ParseSpan(text); return ok },
	"email":     isEmail,
	"hostname":  isHostname,
	"ipv4":      func(text string) bool { addr, err := netip.ParseAddr(text); return err == nil && addr.Is4() },
	"ipv6":      func(text string) bool { addr, err := netip.ParseAddr(text); return err == nil && addr.Is6() },
	"uri":       func(text string) bool { u, err := url.Parse(text); return err == nil && u.IsAbs() },
	"uuid":      isUUID,
}

// isEmail accepts only an address, without the name that mail programs put before it.
func isEmail(text string) bool {
	addr, err := mail.ParseAddress(text)
	return err == nil && addr.Address == text
}

const hostnameLetters = "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func isHostname(text string) bool {
	if text == "" || len(text) > 253 {
		return false
	}

	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
		if strings.Trim(label, hostnameLetters) != "" {
			return false
		}
	}

	return true
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func isUUID(text string) bool { return uuidPattern.MatchString(text) }

package relay

import (
	"net/http"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// ownHeaders are the headers that a configuration must not set: those that the relay sends, and those of the
// connection.
var ownHeaders = []string{
	"Connection", "Content-Length", "Content-Type", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
}

// checkHeader returns an error for headers that cannot be sent. The error has no value in it, because a value
// may be a secret.
func checkHeader(h http.Header) error {
	for name, values := range h {
		key := http.CanonicalHeaderKey(name)
		switch {
		case !token(name):
			return spool.Errorf(spool.Invalid, "Header: %q is no name of a header", name)
		case slices.Contains(ownHeaders, key), strings.HasPrefix(key, "Webhook-"):
			return spool.Errorf(spool.Invalid, "Header: %s is the relay's own", key)
		case slices.ContainsFunc(values, unprintable):
			return spool.Errorf(spool.Invalid, "Header: the value of %s has a character that no header may have", key)
		}
	}
	return nil
}

// token reports whether a text can be the name of a header.
func token(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func unprintable(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

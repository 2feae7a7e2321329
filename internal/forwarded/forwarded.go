// Package forwarded tells requests that a proxy has passed on.
package forwarded

import (
	"net/http"
	"slices"
	"strings"
)

// Header returns the name of a header that a proxy has set, and "" where there is none. Proxies
// make names of their own that begin with X-Forwarded: each of them counts. A proxy that is
// configured to say nothing looks like the client itself.
func Header(h http.Header) string {
	for name := range h {
		name = http.CanonicalHeaderKey(name)
		if strings.HasPrefix(name, "X-Forwarded") || slices.Contains([]string{"Forwarded", "Via", "X-Real-Ip"}, name) {
			return name
		}
	}
	return ""
}

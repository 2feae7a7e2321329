// Package forwarded recognises requests that came through a proxy.
package forwarded

import (
	"net/http"
	"slices"
	"strings"
)

// Header returns the name of a header that a proxy has set, or "" if the request has none. Some proxies
// use names of their own that begin with X-Forwarded; each of these counts. A proxy that sets no such
// header cannot be distinguished from the client.
func Header(h http.Header) string {
	for name := range h {
		name = http.CanonicalHeaderKey(name)
		if strings.HasPrefix(name, "X-Forwarded") || slices.Contains([]string{"Forwarded", "Via", "X-Real-Ip"}, name) {
			return name
		}
	}
	return ""
}

// Package forwarded recognises requests that came through a proxy.
package forwarded

import (
	"net/http"
	"slices"
	"strings"
)

// names are the names of headers that say for whom a proxy asks, besides X-Forwarded and Cloudflare's.
var names = []string{
	"Cdn-Loop", "Fastly-Client-Ip", "Fly-Client-Ip", "Forwarded", "Forwarded-For", "True-Client-Ip", "Via",
	"X-Azure-Clientip", "X-Azure-Socketip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Envoy-External-Address",
	"X-Original-Forwarded-For", "X-Original-Host", "X-Proxyuser-Ip", "X-Real-Ip",
}

// Header returns the name of a header that a proxy has set, or "" if the request has none. Some proxies
// use names of their own that begin with X-Forwarded; each of these counts. A proxy that sets no such
// header cannot be distinguished from the client.
func Header(h http.Header) string {
	for name := range h {
		name = http.CanonicalHeaderKey(name)
		if strings.HasPrefix(name, "X-Forwarded") || strings.HasPrefix(name, "Cf-") || slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

package rest

import (
	"net/http"
	"strings"
)

// redirect answers with a redirect if a corrected path has a route: with or without the last
// slash, with single slashes, with "." and ".." resolved. If method is not empty, that route
// has to take the method. It reports whether it has answered.
func (a *API) redirect(w http.ResponseWriter, r *http.Request, path, method string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	candidates := [3]string{otherSlash(path), path, path}
	// steps may be escaped
	if strings.Contains(path, "//") || strings.Contains(path, "/.") || strings.Contains(path, "/%2") {
		clean := cleaned(path)
		candidates[1], candidates[2] = clean, otherSlash(clean)
	}
	for _, to := range candidates {
		if to == path || (method == "" && len(a.allowed(to)) == 0) || (method != "" && a.find(method, to) == nil) {
			continue
		}
		location := reference(path, to)
		if r.URL.RawQuery != "" {
			location += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusPermanentRedirect)
		return true
	}
	return false
}

// otherSlash removes the path's trailing slashes, or adds one if it has none.
func otherSlash(path string) string {
	if other := strings.TrimRight(path, "/"); other != path {
		return other
	}
	return path + "/"
}

// cleaned returns the path with single slashes and with "." and ".." resolved.
func cleaned(path string) string {
	var kept []string
	directory := true
	for left := path; left != ""; {
		var part string
		part, left = cutSegment(left)
		directory = part == ""
		switch {
		case part == "":
		case isStep(part):
			directory = true
			if unescaped(part) == ".." && len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
		default:
			kept = append(kept, part)
		}
	}
	if directory && len(kept) > 0 {
		kept = append(kept, "")
	}
	return "/" + strings.Join(kept, "/")
}

// reference returns a relative link from one path to another. It is relative, so that it works
// below any prefix that a proxy before the API removes. It begins with a dot, so that it can never
// lead to another host.
func reference(from, to string) string {
	base, target := directories(from), strings.Split(to[1:], "/")
	shared := 0
	for shared < len(base) && shared < len(target)-1 && base[shared] == target[shared] {
		shared++
	}
	up := len(base) - shared
	text := strings.Repeat("../", up) + strings.Join(target[shared:], "/")
	if up == 0 {
		text = "./" + text
	}
	return text
}

// directories returns the segments against which a client resolves a relative address: all but
// the last one, with "." and ".." resolved. Empty segments count, because clients do not merge
// slashes. Escaped steps count too: a client that treats them as steps has already resolved
// them.
func directories(path string) []string {
	parts := strings.Split(path[1:], "/")
	var kept []string
	for _, part := range parts[:len(parts)-1] {
		switch part {
		case ".":
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, part)
		}
	}
	return kept
}

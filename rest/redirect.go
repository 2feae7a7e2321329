package rest

import (
	"net/http"
	"strings"
)

// redirect leads a request to the path that it means, if there is one: with its last slash or
// without, with single slashes instead of several, with its steps taken. A method that is not
// empty is one that the path has to have. It reports whether it did.
func (a *API) redirect(w http.ResponseWriter, r *http.Request, method string) bool {
	path := r.URL.EscapedPath()
	if path == "" || path[0] != '/' {
		return false
	}
	clean := cleaned(path)
	for _, to := range []string{otherSlash(path), clean, otherSlash(clean)} {
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

// otherSlash returns the path with its last slash if it has none, and without if it has.
func otherSlash(path string) string {
	if other := strings.TrimRight(path, "/"); other != path {
		return other
	}
	return path + "/"
}

// cleaned returns the path with its steps taken and single slashes.
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

// reference returns the address of a path as seen from another one. It is relative, so that it
// holds below any prefix that something before the API has cut off, and begins with a dot, so
// that it can never lead to another host.
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

// directories returns the segments that a client resolves a relative address against: all but
// the last one, with the steps taken. Empty ones count: a client does not merge slashes. An
// escaped step counts too: a client that takes it for one has not sent it.
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

package rest

import (
	"net/http"
	"net/url"
	"strings"
)

// tree finds the route of a path. Each tree is a node: it holds what may follow the path up to
// it.
//
// [http.ServeMux] is not used for this. It cleans paths before it matches them, and it answers
// some requests itself, in HTML or plain text; neither can be switched off. A ServeMux still
// decides which patterns conflict: every pattern is registered there too. So, as in a
// ServeMux, the most specific pattern is tried first.
type tree struct {
	literals map[string]*tree
	param    *tree // any one segment that is not empty
	end      leaf  // nothing follows
	slash    leaf  // exactly one slash follows
	rest     leaf  // a slash and anything else follow
}

// leaf lists the shapes of a path by method. It is short, so a slice is enough.
type leaf []methodShape

type methodShape struct {
	method string
	shape  *shape
}

// anyMethod stands for all methods. No request has it, because a method has no spaces.
const anyMethod = " "

// find returns the candidate that takes the method and the whole path. One for GET also takes
// HEAD. With anyMethod, it returns any candidate that takes the path.
func (l leaf) find(method, whole string) *candidate {
	var get *candidate
	for _, m := range l {
		if m.method != method && method != anyMethod && (m.method != http.MethodGet || method != http.MethodHead) {
			continue
		}
		c := m.shape.take(whole)
		if c != nil && (m.method == method || method == anyMethod) {
			return c
		}
		if c != nil {
			get = c
		}
	}
	return get
}

// add adds the shape to the tree at the pattern's path.
func (n *tree) add(method string, p pathPattern, s *shape) {
	for _, part := range p.segments {
		switch {
		case part.name == "":
			next := n.literals[part.literal]
			if next == nil {
				next = &tree{}
				if n.literals == nil {
					n.literals = map[string]*tree{}
				}
				n.literals[part.literal] = next
			}
			n = next
		case part.kind == restKind:
			n.rest = append(n.rest, methodShape{method, s})
			return
		default:
			if n.param == nil {
				n.param = &tree{}
			}
			n = n.param
		}
	}
	if p.slash || len(p.segments) == 0 {
		n.slash = append(n.slash, methodShape{method, s})
		return
	}
	n.end = append(n.end, methodShape{method, s})
}

// find returns the candidate for a request of the method, or of anyMethod, and the whole path,
// or nil. Whole is escaped and begins with a slash; path is the part of it after this node. A
// segment "." or ".." never matches a parameter, because a proxy before the program would
// resolve it.
func (n *tree) find(method, path, whole string) *candidate {
	if path == "" {
		return n.end.find(method, whole)
	}
	if path == "/" {
		if c := n.slash.find(method, whole); c != nil {
			return c
		}
		return n.rest.find(method, whole)
	}
	part, left := cutSegment(path)
	if part != "" && !isStep(part) {
		if next := n.literals[unescaped(part)]; next != nil {
			if c := next.find(method, left, whole); c != nil {
				return c
			}
		}
		if n.param != nil {
			if c := n.param.find(method, left, whole); c != nil {
				return c
			}
		}
	}
	if len(n.rest) > 0 && !hasStep(path) {
		return n.rest.find(method, whole)
	}
	return nil
}

// cutSegment returns the first segment of a path that begins with a slash, and the rest.
func cutSegment(path string) (part, left string) {
	path = path[1:]
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

func unescaped(text string) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	plain, err := url.PathUnescape(text)
	if err != nil {
		return text // cannot happen for a text from [url.URL.EscapedPath]
	}
	return plain
}

// isStep reports whether a segment is "." or "..". Escaped forms count too, because browsers
// treat them as steps.
func isStep(part string) bool {
	if len(part) > len("%2e%2e") || (part[0] != '.' && part[0] != '%') {
		return false
	}
	plain := unescaped(part)
	return plain == "." || plain == ".."
}

func hasStep(path string) bool {
	for path != "" {
		part, left := cutSegment(path)
		if path = left; part != "" && isStep(part) {
			return true
		}
	}
	return false
}

// param returns the text of the pattern's n-th parameter, counted from 0, in an escaped path
// that matches the pattern.
func (p pathPattern) param(n int, path string) string {
	for _, s := range p.segments {
		if path == "" {
			return "" // a middleware has changed the path
		}
		part, left := cutSegment(path)
		if s.name == "" {
			path = left
			continue
		}
		if n == 0 && s.kind == restKind {
			return unescaped(path[1:])
		}
		if n == 0 {
			return unescaped(part)
		}
		n--
		path = left
	}
	return ""
}

// accepts reports whether the converters accept the parameters of an escaped path. The path's
// literal parts must match the pattern already.
func (p pathPattern) accepts(path string) bool {
	if !p.typed {
		return true
	}
	for _, s := range p.segments {
		if path == "" {
			return false
		}
		part, left := cutSegment(path)
		if s.name != "" && s.kind != restKind && !s.kind.matches(unescaped(part)) {
			return false
		}
		path = left
	}
	return true
}

// setPathValues sets the parameters on the request by name, for [http.Request.PathValue].
// Middleware, plain handlers and huma operations read them there.
func (p pathPattern) setPathValues(r *http.Request) {
	path := r.URL.EscapedPath()
	n := 0
	for _, s := range p.segments {
		if s.name != "" {
			r.SetPathValue(s.name, p.param(n, path))
			n++
		}
	}
}

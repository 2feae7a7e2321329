package rest

import (
	"net/http"
	"net/url"
	"strings"
)

// tree finds the route of a path. It is a node of it: what may follow the path until here.
//
// It is our own because [http.ServeMux] cleans paths before it looks at them, answers some
// requests by itself, in HTML and plain text, and lets nobody switch that off. Which patterns
// conflict is still decided by a ServeMux, to which every pattern is given when it is
// registered: so what is most specific is asked first, as there.
type tree struct {
	literals map[string]*tree
	param    *tree // any one segment that is not empty
	end      leaf  // nothing follows
	slash    leaf  // a slash follows, and nothing else
	rest     leaf  // a slash follows, and anything
}

// leaf has the shapes of a path by their methods. There are few.
type leaf []methodShape

type methodShape struct {
	method string
	shape  *shape
}

// find returns the shape of the method that takes the whole path. That of GET takes HEAD too.
func (l leaf) find(method, whole string) *shape {
	var get *shape
	for _, m := range l {
		switch {
		case m.method == method && m.shape.takes(whole):
			return m.shape
		case m.method == http.MethodGet && method == http.MethodHead && m.shape.takes(whole):
			get = m.shape
		}
	}
	return get
}

// add puts the shape at the path of the pattern.
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

// find returns the shape that takes requests of the method for the whole path, which is escaped
// and begins with a slash. The path is what follows the node. A segment of dots is never part of a parameter: it is a step, and what
// stands before the program would take it as one.
func (n *tree) find(method, path, whole string) *shape {
	if path == "" {
		return n.end.find(method, whole)
	}
	if path == "/" {
		if s := n.slash.find(method, whole); s != nil {
			return s
		}
		return n.rest.find(method, whole)
	}
	part, left := cutSegment(path)
	if part != "" && !isStep(part) {
		if next := n.literals[unescaped(part)]; next != nil {
			if s := next.find(method, left, whole); s != nil {
				return s
			}
		}
		if n.param != nil {
			if s := n.param.find(method, left, whole); s != nil {
				return s
			}
		}
	}
	if len(n.rest) > 0 && !hasStep(path) {
		return n.rest.find(method, whole)
	}
	return nil
}

// cutSegment returns the first segment of a path that begins with a slash, and what follows.
func cutSegment(path string) (part, left string) {
	path = path[1:]
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// unescaped returns what an escaped text stands for.
func unescaped(text string) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	plain, err := url.PathUnescape(text)
	if err != nil {
		return text // not from [url.URL.EscapedPath]
	}
	return plain
}

// isStep reports whether a segment is a step in the path, also an escaped one: to a browser
// that is the same.
func isStep(part string) bool {
	if len(part) > len("%2e%2e") || (part[0] != '.' && part[0] != '%') {
		return false
	}
	plain := unescaped(part)
	return plain == "." || plain == ".."
}

// hasStep reports whether a path has a segment that is a step.
func hasStep(path string) bool {
	for path != "" {
		part, left := cutSegment(path)
		if path = left; part != "" && isStep(part) {
			return true
		}
	}
	return false
}

// param returns the text of the parameter that is the n-th of the pattern, in an escaped path
// that the pattern takes.
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

// accepts reports whether the converters accept the parameters in an escaped path whose
// literal parts fit already.
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

// setPathValues tells the request the parameters by their names, for what reads them there:
// middleware, plain handlers and operations of huma.
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

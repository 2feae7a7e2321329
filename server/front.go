package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
)

// front stands before all routes, and before what no route answers: it guards a server on
// loopback, lets pages of allowed origins read the answers, and says of paths and methods
// what there is. A path is one of the table to the letter; a slash more is another path.
func (s *Server) front(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &answerWriter{ResponseWriter: w, timeout: s.config.WriteTimeout}
		r, known := identify(r)
		out.Header().Set(headerRequestID, known.id)
		found, ok := s.paths.find(r.URL.Path)
		defer func() { s.logged(r, known, out, found.path) }()
		if s.config.Loopback && !found.signed(r.Method) {
			if err := s.checkLoopback(r); err != nil {
				refuse(out, err)
				return
			}
		}
		s.origins.expose(out, r)
		if s.crossOrigin != nil && !found.signed(r.Method) {
			if err := s.checkCrossOrigin(r, found); err != nil {
				refuse(out, err)
				return
			}
		}
		switch {
		case !ok:
			refuse(out, spool.Errorf(spool.NotFound, "no such path: %s", r.URL.Path))
		case r.Method == http.MethodOptions:
			s.options(out, r, found)
		case !found.has(r.Method):
			out.Header().Set("Allow", found.allow)
			refuse(out, spool.Errorf(codeMethod, "%s is not allowed here", r.Method))
		default:
			next.ServeHTTP(out, s.lenient(out, r))
			out.follow(r)
		}
	})
}

// found is what a path has.
type found struct {
	path    string
	methods []string
	// allow lists the methods for the Allow header.
	allow string
	// delivery says that a queue's deliveries come here. They are proven by a signature,
	// which no web page can make: they need no guard against those.
	delivery bool
	// streams says that a GET is kept open.
	streams bool
}

func (f found) has(method string) bool { return slices.Contains(f.methods, method) }

func (f found) signed(method string) bool { return f.delivery && method == http.MethodPost }

// paths are the server's by their whole path.
type paths struct {
	exact map[string]found
	// below has the paths whose last segment is a parameter, up to it and with its slash.
	below map[string]found
	docs  string // below it is the docs page with all that it loads
}

func newPaths(at string, api *rest.API) paths {
	p := paths{exact: map[string]found{}, below: map[string]found{}, docs: at + "/docs"}
	for _, route := range api.Routes() {
		in, path := p.exact, route.Path
		if head, _, ok := strings.Cut(path, "{"); ok {
			in, path = p.below, head
		}
		f := in[path].with(route.Methods...)
		f.path = route.Path
		f.delivery = f.delivery || route.Name == "Queue.deliver"
		f.streams = f.streams || route.Name == "Follow.stream"
		in[path] = f
	}
	for _, path := range []string{p.docs, at + "/openapi.json"} {
		p.exact[path] = found{path: path}.with(http.MethodGet)
	}
	return p
}

func (p paths) find(path string) (found, bool) {
	f, ok := p.exact[path]
	if !ok && strings.HasPrefix(path, p.docs+"/") {
		return p.exact[p.docs], true
	}
	if slash := strings.LastIndexByte(path, '/') + 1; !ok && slash > 0 && slash < len(path) {
		f, ok = p.below[path[:slash]]
	}
	return f, ok
}

// with adds methods. HEAD is GET, whose body net/http drops.
func (f found) with(methods ...string) found {
	f.methods = slices.Concat(f.methods, methods)
	if slices.Contains(methods, http.MethodGet) {
		f.methods = append(f.methods, http.MethodHead)
	}
	all := append([]string{http.MethodOptions}, f.methods...)
	slices.Sort(all)
	f.allow = strings.Join(all, ", ")
	return f
}

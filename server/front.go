package server

import (
	"net/http"
	"slices"
	"strings"
	"time"

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
		to := s.paths.find(r.URL.Path)
		defer s.logged(r, known, out, to.path)
		if s.answered(out, r, to) {
			return
		}
		s.handled(next, out, s.lenient(out, r))
		out.follow(r)
	})
}

// handled has a request handled, and gives back what its body has taken. A stream that the
// request opens lasts longer.
func (s *Server) handled(next http.Handler, w http.ResponseWriter, r *http.Request) {
	defer releaseBody(r)
	next.ServeHTTP(w, r)
}

// answered answers what no route is to see, and reports whether it has.
func (s *Server) answered(w http.ResponseWriter, r *http.Request, to *found) bool {
	if r.ContentLength != 0 { // net/http waits for what nobody reads of a body, before it answers
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(min(unreadTimeout, s.config.WriteTimeout/2)))
	}
	if s.config.Loopback && !to.signed(r.Method) {
		if err := s.checkLoopback(r); err != nil {
			refuse(w, err)
			return true
		}
	}
	s.origins.expose(w, r)
	if s.crossOrigin != nil && !to.signed(r.Method) {
		if err := s.checkCrossOrigin(r, to); err != nil {
			refuse(w, err)
			return true
		}
	}
	switch {
	case to == nowhere:
		refuse(w, spool.Errorf(spool.NotFound, "no such path: %s", r.URL.Path))
	case r.Method == http.MethodOptions:
		s.options(w, r, to)
	case to.root && to.has(r.Method):
		s.root(w, r)
	case !to.has(r.Method):
		w.Header().Set("Allow", to.allow)
		refuse(w, spool.Errorf(codeMethod, "%s is not allowed here", r.Method))
	default:
		return false
	}
	return true
}

// found is what a path has. It is never changed once all are known, and passed by its
// address: a copy on the stack of a stream would be there for as long as its client is.
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
	// root says that it is the page above all.
	root bool
}

func (f *found) has(method string) bool { return slices.Contains(f.methods, method) }

func (f *found) signed(method string) bool { return f.delivery && method == http.MethodPost }

// paths are the server's by their whole path.
type paths struct {
	exact map[string]*found
	// below has the paths whose last segment is a parameter, up to it and with its slash.
	below map[string]*found
	docs  string // below it is the docs page with all that it loads
	root  *found
}

func newPaths(at string, api *rest.API) paths {
	p := paths{exact: map[string]*found{}, below: map[string]*found{}, docs: at + "/docs"}
	for _, route := range api.Routes() {
		in, path := p.exact, route.Path
		if head, _, ok := strings.Cut(path, "{"); ok {
			in, path = p.below, head
		}
		f := in[path]
		if f == nil {
			f = &found{path: route.Path}
			in[path] = f
		}
		f.add(route.Methods...)
		f.delivery = f.delivery || route.Name == "Queue.deliver"
		f.streams = f.streams || route.Name == "Follow.stream"
	}
	p.root = &found{path: at + "/", root: true}
	p.root.add(http.MethodGet)
	p.exact[at+"/"] = p.root
	if at != "" {
		p.exact[at] = p.root
	}
	for _, path := range []string{p.docs, at + "/openapi.json"} {
		page := &found{path: path}
		page.add(http.MethodGet)
		p.exact[path] = page
	}
	return p
}

// nowhere is what a path has that is not there.
var nowhere = &found{}

func (p *paths) find(path string) *found {
	if f := p.exact[path]; f != nil {
		return f
	}
	if dotted(path) {
		return nowhere
	}
	if strings.HasPrefix(path, p.docs+"/") {
		return p.exact[p.docs]
	}
	if slash := strings.LastIndexByte(path, '/') + 1; slash > 0 && slash < len(path) {
		if f := p.below[path[:slash]]; f != nil {
			return f
		}
	}
	return nowhere
}

// dotted reports whether a path is a way to another one, to which a mux redirects.
func dotted(path string) bool {
	return strings.Contains(path, "//") || strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../")
}

// add adds methods. HEAD is GET, whose body net/http drops.
func (f *found) add(methods ...string) {
	f.methods = append(f.methods, methods...)
	if slices.Contains(methods, http.MethodGet) {
		f.methods = append(f.methods, http.MethodHead)
	}
	all := append([]string{http.MethodOptions}, f.methods...)
	slices.Sort(all)
	f.allow = strings.Join(all, ", ")
}

package server

import (
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// endpoint answers a request. An error that it returns is answered by [Server.fail]; it
// then must not have written anything.
type endpoint func(w http.ResponseWriter, r *http.Request, p Principal) error

// operation is one method of a path.
type operation struct {
	// scope is what the caller needs. Empty: nobody is asked who they are.
	scope Scope
	serve endpoint
	// signed says that the operation wants each request proven by its sender's signature,
	// which no web page can make: it needs no guard against those.
	signed bool
}

// route is the operations of a path by method.
type route map[string]operation

// table lists the endpoints by their whole path.
func (s *Server) table() map[string]route {
	at := s.config.BasePath
	return map[string]route{
		at + "/api/agent/run":       {http.MethodPost: {scope: ScopeWrite, serve: s.startRun}},
		at + "/api/agent/control":   {http.MethodPost: {scope: ScopeStop, serve: s.stopRun}},
		at + "/api/agent/respond":   {http.MethodPost: {scope: ScopeApprove, serve: s.respond}},
		at + "/api/agent/history":   {http.MethodGet: {scope: ScopeRead, serve: s.history}},
		at + "/api/agent/stream":    {http.MethodGet: {scope: ScopeRead, serve: s.stream}},
		at + "/api/agent/usage":     {http.MethodGet: {scope: ScopeRead, serve: s.usage}},
		at + "/api/threads":         {http.MethodGet: {scope: ScopeRead, serve: s.threads}, http.MethodDelete: {scope: ScopeWrite, serve: s.deleteThread}},
		at + "/api/queue/agent-run": {http.MethodPost: {serve: s.queueDelivery, signed: true}},
		at + "/healthz":             {http.MethodGet: {serve: s.health}},
	}
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &responseWriter{ResponseWriter: w}
	defer s.recoverPanic(out, r)
	if err := s.dispatch(out, r); err != nil {
		s.fail(out, r, err)
	}
}

func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) error {
	found, ok := s.routes[r.URL.Path]
	op, allowed := found.operation(r.Method)
	if s.config.Loopback && !op.signed {
		if err := s.checkLoopback(r); err != nil {
			return err
		}
	}
	s.origins.expose(w, r)
	if !ok {
		return spool.Errorf(spool.NotFound, "no such path: %s", r.URL.Path)
	}
	if r.Method == http.MethodOptions {
		return s.options(w, r, found)
	}
	if !allowed {
		w.Header().Set("Allow", found.allow())
		return spool.Errorf(codeMethod, "%s is not allowed here", r.Method)
	}
	if op.scope == "" {
		return op.serve(w, r, Principal{})
	}
	p, err := s.authenticate(w, r, op.scope)
	if err != nil {
		return err
	}
	return op.serve(w, r, p)
}

// operation finds the operation of a method. HEAD is GET, whose body net/http drops.
func (t route) operation(method string) (operation, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	op, ok := t[method]
	return op, ok
}

// allow lists the methods of the path for the Allow header.
func (t route) allow() string {
	methods := []string{http.MethodOptions}
	for method := range t {
		methods = append(methods, method)
		if method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// recoverPanic turns a panic into an answer where none has begun, and cuts the
// connection where one has, so that the client does not take a part for the whole.
func (s *Server) recoverPanic(w *responseWriter, r *http.Request) {
	reason := recover()
	if reason == nil {
		return
	}
	if reason == http.ErrAbortHandler { //nolint:errorlint,err113 // a panic value is compared as it is, as net/http does
		panic(reason)
	}
	s.log.ErrorContext(r.Context(), "handler panicked", "method", r.Method, "path", r.URL.Path,
		"panic", reason, "stack", string(debug.Stack()))
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	s.writeError(w, r, http.StatusInternalServerError, spool.Internal, "Internal error")
}

// responseWriter remembers whether an answer has begun.
type responseWriter struct {
	http.ResponseWriter

	begun bool
}

func (w *responseWriter) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *responseWriter) Write(b []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(b)
}

// FlushError sends the header too, if that has not been sent.
func (w *responseWriter) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	w.begun = w.begun || err == nil
	return err
}

// Unwrap lets [http.ResponseController] find the connection.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

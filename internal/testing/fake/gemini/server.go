package gemini

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxBody bounds a request. It is the API's bound.
const maxBody = 20 << 20

// Config configures a [Server].
type Config struct {
	// Answer returns the answer to a request that the server accepts. It is called by several goroutines.
	//
	// Defaults to [Echo].
	Answer func(r *Request) Answer

	// Early is asked before a request is checked. If it returns true, the server answers without a check.
	//
	// Defaults to none.
	Early func(r *http.Request, body []byte) (Answer, bool)

	// Key is the only API key that the server accepts. Empty: it accepts every key, and none.
	Key string

	// Signing says which parts of an answer get signatures.
	//
	// Defaults to [SignAsGemini3].
	Signing Signing

	// NoIDs leaves out the ids of function calls.
	//
	// Defaults to false.
	NoIDs bool

	// Keep is how many of the last requests [Server.Requests] returns. -1: none.
	//
	// Defaults to 100.
	Keep int

	// Unknown are fields of a request that the server accepts although the API does not know them.
	Unknown []string
}

// Signing says which parts of an answer get signatures.
type Signing int

// The kinds of signing.
const (
	// SignAsGemini3 signs the first function call. If there is none, it signs the last text: by chance, either its last
	// piece, or an empty text after it.
	SignAsGemini3 Signing = iota
	// SignAll also signs all thoughts and texts.
	SignAll
	// SignNone signs nothing.
	SignNone
)

// Server is the handler of the interface. It is safe for concurrent use.
type Server struct {
	config Config

	mu       sync.Mutex
	bodies   []string
	requests int
	refused  []string
	// fixed are the signatures that scripts have chosen, with what they sign.
	fixed map[string]bool
}

// New returns a server.
func New(config Config) *Server {
	if config.Answer == nil {
		config.Answer = Echo
	}
	if config.Keep == 0 {
		config.Keep = 100
	}
	return &Server{config: config, fixed: make(map[string]bool)}
}

// Requests returns the bodies of the last requests, in order.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// Count returns how many requests the server got.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Refused returns the errors with which the server itself refused requests, at most 100. Errors of scripts are not
// among them.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return
	}
	s.record(body)
	if s.config.Early != nil {
		if answer, ok := s.config.Early(r, body); ok {
			s.write(w, r, &Request{Model: modelOf(r), Body: body}, answer)
			return
		}
	}
	request, failed := s.read(r, body)
	if failed == nil {
		failed = s.check(request)
	}
	if failed != nil {
		s.refuse(w, failed)
		return
	}
	s.write(w, r, request, s.config.Answer(request))
}

func (s *Server) record(body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.config.Keep < 0 {
		return
	}
	s.bodies = append(s.bodies, string(body))
	if over := len(s.bodies) - s.config.Keep; over > 0 {
		s.bodies = slices.Delete(s.bodies, 0, over)
	}
}

func (s *Server) refuse(w http.ResponseWriter, failed *Error) {
	s.mu.Lock()
	if len(s.refused) < 100 {
		s.refused = append(s.refused, failed.Message)
	}
	s.mu.Unlock()
	failed.write(w)
}

// modelOf returns the model in the path of a request, or an empty string.
func modelOf(r *http.Request) string {
	name, ok := strings.CutPrefix(r.URL.Path, "/v1beta/models/")
	if !ok {
		return ""
	}
	name, ok = strings.CutSuffix(name, ":streamGenerateContent")
	if !ok || strings.Contains(name, "/") {
		return ""
	}
	return name
}

// read checks everything of a request but its contents.
func (s *Server) read(r *http.Request, body []byte) (*Request, *Error) {
	key := r.Header.Get("X-Goog-Api-Key")
	switch {
	case modelOf(r) == "" || r.Method != http.MethodPost:
		return nil, &Error{Status: http.StatusNotFound, Code: "NOT_FOUND", Message: "the path or the method is not known"}
	case r.URL.RawQuery != "alt=sse":
		return nil, invalid("the query is %q, want alt=sse", r.URL.RawQuery)
	case s.config.Key != "" && key == "":
		return nil, &Error{
			Status: http.StatusForbidden, Code: "PERMISSION_DENIED",
			Message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
		}
	case s.config.Key != "" && key != s.config.Key:
		return nil, &Error{
			Status: http.StatusBadRequest, Code: "INVALID_ARGUMENT", Reason: "API_KEY_INVALID",
			Message: "API key not valid. Please pass a valid API key.",
		}
	case len(body) > maxBody:
		return nil, invalid("Request payload size exceeds the limit: %d bytes.", maxBody)
	}
	return decode(modelOf(r), body, s.config.Unknown)
}

// after waits, unless the caller goes away before.
func after(r *http.Request, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

// Package anthropic is a fake of Anthropic's Messages API for tests. It speaks the real wire, and it is strict: it
// refuses with status 400 what the real service refuses, above all blocks of thinking that were left out, moved,
// altered or made by another model.
//
// Its signatures are made from the content, the place and the model of a block with a secret of the server. So
// the server keeps no state of conversations, and servers with the same secret accept each other's
// signatures.
package anthropic

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxBody  = 64 << 20
	maxFlood = 256 << 20
	// maxProblems bounds the list of what was refused.
	maxProblems = 100
)

// Config configures a [Server].
type Config struct {
	// Answer returns the answer to a request that passed all checks. It may be called concurrently. Required.
	Answer func(Request) Answer
	// Key is the x-api-key that requests must have. Empty: any.
	Key string
	// Random makes the ids of calls. Defaults to a source of the system.
	Random io.Reader
	// Record keeps the bodies of all requests for [Server.Requests].
	Record bool
	// Secret signs the blocks of thinking. Defaults to a fixed one.
	Secret string
}

// Server is the fake. It is safe for concurrent use.
type Server struct {
	config Config
	signer signer
	gone   chan struct{}
	once   sync.Once

	answered, refused atomic.Int64

	mu       sync.Mutex
	bodies   []string
	problems []string
}

var _ http.Handler = (*Server)(nil)

// New returns a server.
func New(config Config) *Server {
	if config.Secret == "" {
		config.Secret = "the secret of the fake"
	}
	if config.Random == nil {
		config.Random = rand.Reader
	}
	return &Server{
		config: config, signer: signer{secret: []byte(config.Secret), random: config.Random}, gone: make(chan struct{}),
	}
}

// Requests returns the bodies of the requests in their order, if they are recorded.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// Problems returns why requests were refused with 400, the first hundred of them.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// Counts returns how many requests passed the checks, and how many were refused with 400.
func (s *Server) Counts() (passed, refused int64) { return s.answered.Load(), s.refused.Load() }

// Gone is closed when the caller of an answer that stalls or floods has gone away.
func (s *Server) Gone() <-chan struct{} { return s.gone }

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, &Error{
			Status: http.StatusRequestEntityTooLarge, Type: "request_too_large", Message: "Request exceeds the maximum size",
		})
		return
	}
	if s.config.Record {
		s.mu.Lock()
		s.bodies = append(s.bodies, string(raw))
		s.mu.Unlock()
	}
	if e := s.admit(r); e != nil {
		refuse(w, e)
		return
	}
	request := Request{Header: r.Header, Raw: raw}
	if problem := s.read(&request); problem != "" {
		s.refused.Add(1)
		s.mu.Lock()
		if len(s.problems) < maxProblems {
			s.problems = append(s.problems, problem)
		}
		s.mu.Unlock()
		refuse(w, &Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: problem})
		return
	}
	s.answered.Add(1)
	s.serve(w, r, request)
}

func (s *Server) admit(r *http.Request) *Error {
	switch {
	case r.URL.Path != "/v1/messages" || r.Method != http.MethodPost:
		return &Error{Status: http.StatusNotFound, Type: "not_found_error", Message: "Not found"}
	case s.config.Key != "" && r.Header.Get("X-Api-Key") != s.config.Key:
		return &Error{Status: http.StatusUnauthorized, Type: "authentication_error", Message: "invalid x-api-key"}
	case r.Header.Get("Anthropic-Version") == "":
		return &Error{
			Status: http.StatusBadRequest, Type: "invalid_request_error", Message: "anthropic-version: header is required",
		}
	default:
		return nil
	}
}

// refuse writes an error's response.
func refuse(w http.ResponseWriter, e *Error) {
	for name, values := range e.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	body := e.Body
	if body == "" {
		body = string(e.event())
	}
	_, _ = io.WriteString(w, body)
}

// Error is an error of the service.
type Error struct {
	Status  int
	Type    string
	Message string
	Header  http.Header
	// Body replaces the JSON of the error.
	Body string
}

func (e *Error) event() []byte {
	return encode(map[string]any{
		"type":       "error",
		"error":      map[string]any{"type": e.Type, "message": e.Message},
		"request_id": "req_fake",
	})
}

// encode writes JSON as the service does, with "<", ">" and "&" as they are.
func encode(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // only tests' own values get here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// stall waits until the caller goes away.
func (s *Server) stall(r *http.Request) {
	<-r.Context().Done()
	s.once.Do(func() { close(s.gone) })
}

// flood writes until the caller goes away.
func (s *Server) flood(w io.Writer, r *http.Request, garbage string) {
	for sent := 0; sent < maxFlood; sent += len(garbage) {
		if _, err := io.WriteString(w, garbage); err != nil || r.Context().Err() != nil {
			s.once.Do(func() { close(s.gone) })
			return
		}
	}
}

// pause waits, or until the caller goes away.
func pause(r *http.Request, d time.Duration) {
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

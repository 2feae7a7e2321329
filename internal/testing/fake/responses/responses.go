// Package responses is a server with OpenAI's Responses interface, for tests. It answers by a script, and it is as
// strict as the real server: it refuses reasoning that it did not encrypt, that is not followed by its item, ids
// that it does not know, results without their call, and more. See [Server.ServeHTTP].
//
// It imports nothing of ours, so that it does not share our misreadings of the interface. It is safe for
// concurrent use, and keeps no more than the requests and the stored responses.
package responses

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Server is the server. Its zero value is not usable; call [New].
type Server struct {
	script func(*Request) Answer
	secret []byte

	mu     sync.Mutex
	made   int
	sealed map[string]string    // items that only this server understands, by their digest; the value is the model
	stored map[string]*response // by id
	known  map[string]bool      // ids of items that are stored
	log    []Request
	posts  int
	quiet  bool
}

// New returns a server that answers by a script. The script gets each valid request that asks for an answer. It
// may be called concurrently.
func New(script func(*Request) Answer) *Server {
	return &Server{
		script: script, secret: []byte(rand.Text()),
		sealed: make(map[string]string), stored: make(map[string]*response), known: make(map[string]bool),
	}
}

// Sign makes the server sign with a secret, in place of a random one. It must be called before the first request.
func (s *Server) Sign(secret string) { s.secret = []byte(secret) }

// Request is a request that the server got.
type Request struct {
	Method string
	// Path is below the place where the server is mounted, such as "/responses".
	Path   string
	Query  string
	Host   string
	Header http.Header
	// Raw is the body. The other fields are set from it in requests for an answer.
	Raw   string
	Model string
	Input []Input
	// Body has all fields.
	Body map[string]any
	// Status is that of the server's answer.
	Status int
}

// Background reports whether the request asks for a background answer.
func (r *Request) Background() bool { return r.Body["background"] == true }

// NoCalls reports whether the answer must not call a tool.
func (r *Request) NoCalls() bool { return r.Body["tool_choice"] == "none" }

// Count returns how many items of a type the input has, such as "function_call_output".
func (r *Request) Count(kind string) int {
	n := 0
	for _, in := range r.Input {
		if in.Type == kind {
			n++
		}
	}
	return n
}

// Format returns the field text.format, or nil.
func (r *Request) Format() map[string]any {
	text, _ := r.Body["text"].(map[string]any)
	format, _ := text["format"].(map[string]any)
	return format
}

// LastText returns the text of the last user message.
func (r *Request) LastText() string {
	for _, in := range slices.Backward(r.Input) {
		if in.Type == "message" && in.Role == "user" {
			return in.text()
		}
	}
	return ""
}

// Forget makes the server keep no requests, for campaigns of many. [Server.Posts] goes on counting.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet, s.log = true, nil
}

// Requests returns all requests so far, in their order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Bodies returns the bodies of the requests for answers, in their order.
func (s *Server) Bodies() []string {
	var out []string
	for _, r := range s.Requests() {
		if r.Method == http.MethodPost && r.Path == "/responses" {
			out = append(out, r.Raw)
		}
	}
	return out
}

// Posts returns how many requests for answers were accepted. Each of them is paid for.
func (s *Server) Posts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.posts
}

// id returns a new id with a prefix, such as "resp".
func (s *Server) id(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return fmt.Sprintf("%s_%06d", prefix, s.made)
}

func (s *Server) record(r *Request, status int) {
	r.Status = status
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.quiet {
		s.log = append(s.log, *r)
	}
}

// problem is the server's refusal of a request.
type problem struct {
	status            int
	code, text, param string
	kind, retryAfter  string
}

func refuse(code, param, format string, args ...any) *problem {
	return &problem{
		status: http.StatusBadRequest, code: code, param: param, text: fmt.Sprintf(format, args...),
		kind: "invalid_request_error",
	}
}

func (p *problem) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if p.retryAfter != "" {
		w.Header().Set("Retry-After", p.retryAfter)
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(encode(fields{
		"error": fields{"message": p.text, "type": p.kind, "param": nullable(p.param), "code": nullable(p.code)},
	}))
}

func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// fields are those of a JSON object.
type fields map[string]any

func encode(value any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(fmt.Sprintf("encode %v: %v", value, err)) // a mistake of the script
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

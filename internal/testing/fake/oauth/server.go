// Package oauth is a strict authorization server and a guard for protected servers, for tests. It refuses what a
// lenient server would let pass: a missing or a wrong resource, secrets in the wrong place, repeated fields.
package oauth

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server is an authorization server with one client. Its exported fields must not change after the first request,
// except within Change.
type Server struct {
	*httptest.Server

	// ClientID and ClientSecret are those of the client. They need quoting in headers.
	ClientID, ClientSecret string
	// Method is the only way in which the secret may be sent.
	Method string
	// Resource is the only resource that tokens are for.
	Resource string
	// Scope is what tokens are to allow. Empty: no scope may be asked for.
	Scope string
	// Lifetime is that of tokens. Zero: tokens have no end.
	Lifetime time.Duration
	// Named is the issuer of the metadata. Empty: the URL of the server.
	Named string
	// Path is the path of the issuer.
	Path string
	// OpenID serves the metadata as OpenID Connect does.
	OpenID bool
	// Fails answers requests for tokens with a status, if it is not zero. The answer repeats the request.
	Fails int
	// Marks begins all tokens.
	Marks string
	// Codes lets people sign in. Nil: the client has credentials.
	Codes *Codes

	mu      sync.Mutex
	tokens  map[string]time.Time // with their ends
	issued  int
	asked   int
	refusal string
}

// Open starts a server. It ends when close is called.
func Open() *Server {
	s := &Server{
		ClientID: "a client+id", ClientSecret: "hunter2%/+secret", Method: "client_secret_basic", Lifetime: time.Hour,
		Marks: "token-mark-", tokens: make(map[string]time.Time),
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Issuer returns the issuer.
func (s *Server) Issuer() string { return s.URL + s.Path }

// Change calls fn while no request is served.
func (s *Server) Change(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

// Issued returns how many tokens were issued, and how many requests for tokens there were.
func (s *Server) Issued() (issued, asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issued, s.asked
}

// Refusal returns why the last request was refused.
func (s *Server) Refusal() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusal
}

// Revoke ends all tokens.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	metadata := "/.well-known/oauth-authorization-server" + s.Path
	if s.OpenID {
		metadata = s.Path + "/.well-known/openid-configuration"
	}
	switch r.URL.Path {
	case metadata:
		issuer := s.Named
		if issuer == "" {
			issuer = s.Issuer()
		}
		document := map[string]any{
			"issuer": issuer, "token_endpoint": s.URL + "/token", "token_endpoint_auth_methods_supported": []string{s.Method},
			"grant_types_supported": []string{"client_credentials"},
		}
		if s.Codes != nil {
			s.Codes.describe(s, document)
		}
		reply(w, http.StatusOK, document)
	case "/authorize":
		if s.Codes == nil {
			http.NotFound(w, r)
			return
		}
		s.Codes.authorize(s, w, r)
	case "/token":
		s.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

// token answers a request for a token.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.asked++
	body := http.MaxBytesReader(w, r.Body, 1<<16)
	r.Body = body
	if err := r.ParseForm(); err != nil {
		s.refuse(w, http.StatusBadRequest, "invalid_request", "no form")
		return
	}
	if s.Fails != 0 {
		reply(w, s.Fails, map[string]any{
			"error": "failed " + r.PostForm.Encode(), "error_description": s.ClientSecret + r.Header.Get("Authorization"),
		})
		return
	}
	if s.Codes != nil {
		s.Codes.token(s, w, r)
		return
	}
	if wrong := s.wrong(r); wrong != "" {
		s.refuse(w, http.StatusBadRequest, "invalid_request", wrong)
		return
	}
	if !s.authenticated(r) {
		s.refuse(w, http.StatusUnauthorized, "invalid_client", "wrong client")
		return
	}
	if r.PostForm.Get("resource") != s.Resource {
		s.refuse(w, http.StatusBadRequest, "invalid_target", "wrong resource "+r.PostForm.Get("resource"))
		return
	}
	if r.PostForm.Get("scope") != s.Scope {
		s.refuse(w, http.StatusBadRequest, "invalid_scope", "wrong scope")
		return
	}
	token, answer := s.Marks+rand.Text(), map[string]any{"token_type": "bearer"}
	s.issued++
	s.tokens[token] = time.Now().Add(100 * time.Hour)
	if s.Lifetime > 0 {
		s.tokens[token], answer["expires_in"] = time.Now().Add(s.Lifetime), int(s.Lifetime.Seconds())
	}
	answer["access_token"] = token
	reply(w, http.StatusOK, answer)
}

// wrong returns what is wrong with the form of a request.
func (s *Server) wrong(r *http.Request) string {
	allowed := []string{"grant_type", "resource", "scope"}
	if s.Method == "client_secret_post" {
		allowed = append(allowed, "client_id", "client_secret")
	}
	for name, values := range r.PostForm {
		if len(values) != 1 || !slices.Contains(allowed, name) {
			return "field " + name
		}
	}
	switch {
	case r.Method != http.MethodPost, r.URL.RawQuery != "",
		r.Header.Get("Content-Type") != "application/x-www-form-urlencoded":
		return "no form"
	case r.PostForm.Get("grant_type") != "client_credentials":
		return "grant_type"
	default:
		return ""
	}
}

// authenticated reports whether the client has its secret where the method wants it, and nowhere else.
func (s *Server) authenticated(r *http.Request) bool {
	name, secret, header := r.BasicAuth()
	if s.Method == "client_secret_post" {
		return !header && r.PostForm.Get("client_id") == s.ClientID && r.PostForm.Get("client_secret") == s.ClientSecret
	}
	id, wrongID := url.QueryUnescape(name)
	text, wrongSecret := url.QueryUnescape(secret)
	return header && wrongID == nil && wrongSecret == nil && id == s.ClientID && text == s.ClientSecret
}

func (s *Server) refuse(w http.ResponseWriter, status int, code, why string) {
	s.refusal = why
	reply(w, status, map[string]any{"error": code, "error_description": why + " " + s.ClientSecret})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // the bodies are above, and a client may have gone
}

// Guard lets only requests with a token through to a server. It serves the server's metadata for the path, which
// names the issuers.
func (s *Server) Guard(path string, issuers []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		link := "http://" + r.Host + "/.well-known/oauth-protected-resource" + strings.TrimSuffix(path, "/")
		if r.URL.Path == "/.well-known/oauth-protected-resource"+strings.TrimSuffix(path, "/") {
			reply(w, http.StatusOK, map[string]any{"resource": "http://" + r.Host + path, "authorization_servers": issuers})
			return
		}
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		s.mu.Lock()
		end, known := s.tokens[token]
		s.mu.Unlock()
		if !ok || !known || time.Now().After(end) {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", resource_metadata="`+link+`"`)
			http.Error(w, "no token: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Codes makes the server one where people sign in. It takes no other grant then, and no secret. Its fields must not
// change after the first request, except within [Server.Change].
type Codes struct {
	// Person signs in at the authorization endpoint, without a page.
	Person string
	// Denies answers that the person refuses.
	Denies bool
	// NoPKCE, NoDocuments and NoIssuer leave capabilities out of the metadata.
	NoPKCE, NoDocuments, NoIssuer bool
	// Iss is the parameter iss of answers. Empty: the issuer.
	Iss string
	// NoRefresh gives no refresh tokens.
	NoRefresh bool
	// Redirect is the only redirect URI.
	Redirect string

	codes     map[string]code
	refreshes map[string]string // with their people; used ones have none
	people    map[string]string // by access tokens
	// reused counts refresh tokens that came a second time, and refreshed those that were taken.
	reused, refreshed int
	secrets           []string
}

type code struct{ person, client, redirect, challenge, resource string }

// Secrets returns all codes, verifiers and tokens of people so far.
func (s *Server) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.Codes.secrets)
}

// Refreshes returns how many refresh tokens were taken, and how many came again.
func (s *Server) Refreshes() (taken, again int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Codes.refreshed, s.Codes.reused
}

// PersonOf returns who has the token of a request, or "".
func (s *Server) PersonOf(r *http.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Codes == nil {
		return ""
	}
	return s.Codes.people[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
}

// SignOut ends the tokens of everybody, also those that refresh.
func (s *Server) SignOut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
	clear(s.Codes.refreshes)
}

// describe adds to the metadata.
func (c *Codes) describe(s *Server, metadata map[string]any) {
	metadata["authorization_endpoint"] = s.URL + "/authorize"
	metadata["grant_types_supported"] = []string{"authorization_code", "refresh_token"}
	metadata["token_endpoint_auth_methods_supported"] = []string{"none"}
	metadata["authorization_response_iss_parameter_supported"] = !c.NoIssuer
	metadata["client_id_metadata_document_supported"] = !c.NoDocuments
	if !c.NoPKCE {
		metadata["code_challenge_methods_supported"] = []string{"S256"}
	}
}

// authorize signs the person in, and sends the browser back with a code.
func (c *Codes) authorize(s *Server, w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	wrong := func(why string) {
		s.refusal = why
		http.Error(w, why, http.StatusBadRequest)
	}
	want := []string{
		"response_type", "client_id", "redirect_uri", "state", "resource", "code_challenge", "code_challenge_method",
	}
	if s.Scope != "" {
		want = append(want, "scope")
	}
	for name, values := range q {
		if len(values) != 1 || !slices.Contains(want, name) {
			wrong("field " + name)
			return
		}
	}
	const challenge, state = 43, 16
	switch {
	case r.Method != http.MethodGet, q.Get("response_type") != "code", q.Get("code_challenge_method") != "S256":
		wrong("no request for a code with S256")
		return
	case len(q.Get("code_challenge")) != challenge || len(q.Get("state")) < state:
		wrong("challenge or state")
		return
	case q.Get("resource") != s.Resource || q.Get("scope") != s.Scope:
		wrong("resource or scope")
		return
	case !c.knows(r.Context(), q.Get("client_id"), q.Get("redirect_uri"), s):
		wrong("client or redirect URI")
		return
	}
	iss := c.Iss
	if iss == "" {
		iss = s.Issuer()
	}
	answer := url.Values{"state": {q.Get("state")}, "iss": {iss}}
	if c.NoIssuer && c.Iss == "" {
		answer.Del("iss")
	}
	if c.Denies {
		answer.Set("error", "access_denied")
	} else {
		text := s.Marks + rand.Text()
		if c.codes == nil {
			c.codes = make(map[string]code)
		}
		c.codes[text] = code{c.Person, q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("resource")}
		c.secrets = append(c.secrets, text)
		answer.Set("code", text)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound) //nolint:gosec // the client is known
}

// knows reports whether a client may have a redirect URI. The id is that of the server's client, or the URL of its
// metadata.
func (c *Codes) knows(ctx context.Context, id, redirect string, s *Server) bool {
	if c.Redirect != "" && redirect != c.Redirect {
		return false
	}
	if !strings.HasPrefix(id, "http") {
		return id == s.ClientID
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil) //nolint:gosec // tests choose it
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(r) //nolint:gosec // as above
	if err != nil {
		return false
	}
	defer response.Body.Close()
	var document struct {
		ID        string   `json:"client_id"`                  //nolint:tagliatelle // the names of RFC 7591
		Redirects []string `json:"redirect_uris"`              //nolint:tagliatelle // as above
		Method    string   `json:"token_endpoint_auth_method"` //nolint:tagliatelle // as above
	}
	return response.StatusCode == http.StatusOK && json.NewDecoder(response.Body).Decode(&document) == nil &&
		document.ID == id &&
		slices.Contains(document.Redirects, redirect) && document.Method == "none"
}

// token answers a request for a token. A code is taken once, and so is a refresh token: a second use ends all
// refresh tokens of its person.
func (c *Codes) token(s *Server, w http.ResponseWriter, r *http.Request) {
	f := r.PostForm
	fields := map[string][]string{
		"authorization_code": {"grant_type", "client_id", "code", "redirect_uri", "code_verifier", "resource"},
		"refresh_token":      {"grant_type", "client_id", "refresh_token", "resource"},
	}[f.Get("grant_type")]
	for name, values := range f {
		if len(values) != 1 || !slices.Contains(fields, name) {
			s.refuse(w, http.StatusBadRequest, "invalid_request", "field "+name)
			return
		}
	}
	if len(f) != len(fields) || r.Header.Get("Authorization") != "" || r.URL.RawQuery != "" {
		s.refuse(w, http.StatusBadRequest, "invalid_request", "a field is missing, or a public client proves itself")
		return
	}
	if f.Get("resource") != s.Resource {
		s.refuse(w, http.StatusBadRequest, "invalid_target", "wrong resource")
		return
	}
	var person string
	if f.Get("grant_type") == "authorization_code" {
		known, ok := c.codes[f.Get("code")]
		delete(c.codes, f.Get("code"))
		c.secrets = append(c.secrets, f.Get("code_verifier"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		const shortest = 43
		if !ok || known.client != f.Get("client_id") || known.redirect != f.Get("redirect_uri") ||
			known.resource != f.Get("resource") ||
			len(f.Get("code_verifier")) < shortest || known.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			s.refuse(w, http.StatusBadRequest, "invalid_grant", "wrong code")
			return
		}
		person = known.person
	} else {
		known, ok := c.refreshes[f.Get("refresh_token")]
		if !ok || known == "" {
			if ok {
				c.reused++
			}
			s.refuse(w, http.StatusBadRequest, "invalid_grant", "wrong refresh token")
			return
		}
		c.refreshes[f.Get("refresh_token")] = ""
		c.refreshed++
		person = known
	}
	c.give(s, w, person)
}

// give answers with tokens of a person.
func (c *Codes) give(s *Server, w http.ResponseWriter, person string) {
	access, answer := s.Marks+rand.Text(), map[string]any{"token_type": "Bearer"}
	s.issued++
	s.tokens[access] = time.Now().Add(100 * time.Hour)
	if s.Lifetime > 0 {
		s.tokens[access], answer["expires_in"] = time.Now().Add(s.Lifetime), int(s.Lifetime.Seconds())
	}
	if c.people == nil {
		c.people, c.refreshes = make(map[string]string), make(map[string]string)
	}
	c.people[access], answer["access_token"] = person, access
	c.secrets = append(c.secrets, access)
	if !c.NoRefresh {
		refresh := s.Marks + "refresh-" + rand.Text()
		c.refreshes[refresh], answer["refresh_token"] = person, refresh
		c.secrets = append(c.secrets, refresh)
	}
	reply(w, http.StatusOK, answer)
}

package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// lifetime is how long an access token is valid.
const lifetime = 5 * time.Minute

// guard is an authorization server for one client, "spool", and lets only requests with its tokens through to the
// shop. A real shop would have a server for this purpose.
type guard struct {
	issuer, secret string

	mu     sync.Mutex
	tokens map[string]time.Time // with their ends
	people signIns
}

// newGuard returns a handler for a shop that wants access tokens.
func newGuard(address, secret, person string, shop http.Handler) http.Handler {
	g := &guard{
		issuer: "http://" + address, secret: secret, tokens: make(map[string]time.Time),
		people: signIns{person: person, codes: make(map[string]signIn)},
	}
	mux := http.NewServeMux()
	mux.Handle("GET /.well-known/oauth-protected-resource",
		auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
			Resource: g.issuer, AuthorizationServers: []string{g.issuer},
		}))
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{
			"issuer": g.issuer, "token_endpoint": g.issuer + "/token",
			"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "none"},
			"authorization_endpoint":                g.issuer + "/authorize",
			"code_challenge_methods_supported":      []string{"S256"}, "authorization_response_iss_parameter_supported": true,
		})
	})
	if person != "" {
		mux.HandleFunc("GET /authorize", g.authorize)
	}
	mux.HandleFunc("POST /token", g.token)
	mux.Handle("/", auth.RequireBearerToken(g.verify, &auth.RequireBearerTokenOptions{
		ResourceMetadataURL: g.issuer + "/.well-known/oauth-protected-resource",
	})(shop))
	return mux
}

// token gives the client a token.
func (g *guard) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	switch {
	case g.people.person != "" && r.PostFormValue("client_id") == "spool":
		g.redeem(w, r)
	case id != "spool" || g.secret == "" || subtle.ConstantTimeCompare([]byte(secret), []byte(g.secret)) == 0:
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	case r.PostFormValue("resource") != g.issuer:
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_target"})
	default:
		g.mu.Lock()
		defer g.mu.Unlock()
		token := rand.Text()
		g.tokens[token] = time.Now().Add(lifetime)
		answer(w, http.StatusOK, map[string]any{
			"access_token": token, "token_type": "Bearer", "expires_in": lifetime.Seconds(),
		})
	}
}

// verify checks a token.
func (g *guard) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	end, ok := g.tokens[token]
	if !ok {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: g.people.person, Expiration: end}, nil
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // the bodies are above, and a client may have gone
}

package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// signIns are the codes of people who have signed in. A real shop would ask them for a password, or for a passkey, and
// whether the client may have what it asks for.
type signIns struct {
	// person signs in, whoever it is.
	person string
	codes  map[string]signIn
}

type signIn struct{ redirect, challenge string }

// authorize signs the person in and sends the browser back with a code.
func (g *guard) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case err != nil || back.Scheme != "http" || !net.ParseIP(back.Hostname()).IsLoopback() ||
		q.Get("client_id") != "spool":
		http.Error(w, "This client is not known.", http.StatusBadRequest)
		return
	case q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("resource") != g.issuer:
		http.Error(w, "This is no request for a code with PKCE.", http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	code := rand.Text()
	g.people.codes[code] = signIn{q.Get("redirect_uri"), q.Get("code_challenge")}
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {g.issuer}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound) //nolint:gosec // it is a loopback address, as checked above
}

// redeem gives a token for a code. A code is taken once.
func (g *guard) redeem(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known, ok := g.people.codes[r.PostFormValue("code")]
	delete(g.people.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || known.redirect != r.PostFormValue("redirect_uri") ||
		known.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	token := rand.Text()
	g.tokens[token] = time.Now().Add(lifetime)
	answer(w, http.StatusOK, map[string]any{
		"access_token": token, "token_type": "Bearer", "expires_in": lifetime.Seconds(),
	})
}

// myOrders is a tool for people who have signed in.
func myOrders(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	who := r.Extra.TokenInfo
	if who == nil {
		who = &auth.TokenInfo{UserID: "somebody"}
	}
	return said("The orders of %s are 17 and 18.", who.UserID), nil, ctx.Err()
}

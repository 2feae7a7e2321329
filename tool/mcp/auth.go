package mcp

import (
	"context"
	"io"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/oauth"
)

// AuthType says how a server's access tokens are got.
type AuthType string

// The values of AuthType.
const (
	// AuthClientCredentials gets tokens for this program itself, with its id and secret. All runs share them.
	AuthClientCredentials AuthType = "client_credentials"
	// AuthAuthorizationCode gets tokens for the subject of each run, who signs in: see [SignIns].
	AuthAuthorizationCode AuthType = "authorization_code"
)

// AuthMethod says how an authorization server gets the secret of a client.
type AuthMethod string

// The values of AuthMethod.
const (
	// AuthBasic sends the secret in the header Authorization.
	AuthBasic AuthMethod = oauth.MethodBasic
	// AuthPost sends the secret in the body.
	AuthPost AuthMethod = oauth.MethodPost
)

// Auth describes how requests to a server get access tokens by OAuth. Tokens are renewed before their end, and once
// when the server refuses one with 401: such a request has had no effect. Tokens of this program are kept in memory
// only, and those of people by SignIns. No error, log or result has a token or the secret.
//
// The URL of the server and of the authorization server must have https. A host may have http if it is a
// loopback one or Egress.Allow has its name. The requests for tokens obey Egress.
type Auth struct {
	// Type is required.
	Type AuthType

	// Issuer is the URL of the authorization server, which gets the secret. If the server names its
	// authorization servers, it has to name this one. Required.
	Issuer string

	// ClientID names this program to the authorization server. Required for AuthClientCredentials.
	//
	// Defaults to the URL of the document of SignIns.
	ClientID string

	// ClientSecret proves it. Required for AuthClientCredentials.
	//
	// Defaults to a client without a secret, whose codes are bound to it by PKCE.
	ClientSecret string

	// Method says how the secret is sent.
	//
	// Defaults to what the authorization server's metadata says, and to AuthBasic if it allows both.
	Method AuthMethod

	// Resource is the URI of the server that a token is for.
	//
	// Defaults to the one in the server's metadata, and to the server's URL without a query if it has none.
	Resource string

	// Scopes are what a token is to allow.
	//
	// Defaults to what the authorization server chooses.
	Scopes []string

	// SignIns has the tokens of people. Required for AuthAuthorizationCode, and only for it.
	SignIns *SignIns
}

// tokens are the access tokens of requests.
type tokens interface {
	// Token returns a token.
	Token(ctx context.Context) (string, error)
	// Refused says that the server has refused a token.
	Refused(token string)
	// Seen returns the last tokens.
	Seen() []string
}

// newClient returns what gets the tokens of a server. Its errors name the wrong field.
func (c Config) newClient(transport http.RoundTripper) (*oauth.Client, error) {
	a := *c.Auth
	codes := a.Type == AuthAuthorizationCode
	switch {
	case !codes && a.Type != AuthClientCredentials:
		return nil, spool.Errorf(spool.Invalid, "Type must be client_credentials or authorization_code")
	case codes != (a.SignIns != nil):
		return nil, spool.Errorf(spool.Invalid, "SignIns is required for authorization_code, and only for it")
	case codes && a.ClientID == "" && a.ClientSecret != "":
		return nil, spool.Errorf(spool.Invalid, "ClientSecret needs a ClientID")
	}
	document := codes && a.ClientID == ""
	if document {
		a.ClientID = a.SignIns.clientID()
	}
	for name := range c.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return nil, spool.Errorf(spool.Invalid, "the header Authorization is for access tokens; leave it out of Headers")
		}
	}
	config := oauth.Config{
		HTTP: &http.Client{Transport: transport, CheckRedirect: sameRequest}, Server: c.URL, Issuer: a.Issuer,
		ClientID: a.ClientID, ClientSecret: a.ClientSecret, Scopes: a.Scopes, Resource: a.Resource, Method: string(a.Method),
		Plain: c.Egress.Allow, Timeout: c.ConnectTimeout, Codes: codes, Document: document,
	}
	if err := config.Check(); err != nil {
		return nil, err
	}
	return oauth.New(config), nil
}

// exchange sends a request, with an access token if the server has Auth. It sends the request once more with a
// new token if the server answers 401. The context is the one of the request, without its trace.
func (t *roundTripper) exchange(ctx context.Context, r *http.Request) (*http.Response, error) {
	if t.tokens == nil {
		return t.next.RoundTrip(r)
	}
	for renewed := false; ; renewed = true {
		token, err := t.tokens.Token(ctx)
		if err != nil {
			return refuse(ctx, r, err)
		}
		sent := r.Clone(r.Context()) //nolint:contextcheck // with its trace, which the request for a token must not have
		sent.Header.Set("Authorization", "Bearer "+token)
		if renewed && r.GetBody != nil {
			if sent.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		response, err := t.next.RoundTrip(sent)
		if err != nil {
			return nil, err
		}
		scope, lacking := oauth.MissingScope(response.Header)
		switch unauthorized := response.StatusCode == http.StatusUnauthorized; {
		case response.StatusCode == http.StatusForbidden && lacking:
			discard(response)
			return refuse(ctx, r, spool.Errorf(spool.Forbidden, "its access token lacks a scope; it asks for %q", scope))
		case !unauthorized:
			return response, nil
		}
		discard(response)
		t.tokens.Refused(token)
		if renewed || r.Body != nil && r.GetBody == nil {
			return refuse(ctx, r, spool.Errorf(spool.Unauthorized, "it refuses the access token"))
		}
	}
}

// refuse returns the error of a request that has certainly had no effect.
func refuse(ctx context.Context, r *http.Request, err error) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	if sent, ok := ctx.Value(sentKey{}).(*sending); ok {
		sent.Store(false)
	}
	return nil, err
}

// discard reads the rest of a short answer, so that its connection can be used again.
func discard(response *http.Response) {
	const most = 4 << 10
	_, _ = io.CopyN(io.Discard, response.Body, most)
	_ = response.Body.Close()
}

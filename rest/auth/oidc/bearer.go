package oidc

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	gooidc "github.com/coreos/go-oidc/v3/oidc"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/auth/internal/refresh"
)

// Token is a valid token. Its Claims method decodes its other claims.
type Token = gooidc.IDToken

// Bearer authenticates by tokens and turns them into a [rest.User] with [User]. It panics if
// the configuration is wrong.
func Bearer(config Config, options ...auth.Option) rest.Authenticator {
	return BearerAs(config, User, options...)
}

// BearerAs authenticates by tokens. The function principal turns a token into the program's
// own principal. It is called only with valid tokens, and its results mean the same as those
// of an [auth.Lookup]; nil means that the token belongs to no principal. BearerAs panics if
// the configuration is wrong.
func BearerAs[P rest.Principal](
	config Config, principal func(ctx context.Context, token *Token) (P, error), options ...auth.Option,
) rest.Authenticator {
	if principal == nil {
		panic("oidc: BearerAs needs a function that returns principals")
	}
	v, err := newVerifier(config)
	if err != nil {
		panic("oidc: " + err.Error())
	}
	lookup := func(ctx context.Context, raw string) (P, error) {
		token, err := v.verify(ctx, raw)
		if err != nil {
			var nobody P
			return nobody, err
		}
		return principal(ctx, token)
	}
	options = append([]auth.Option{auth.Name("openID"), auth.BearerFormat("JWT"), auth.MaxLength(v.config.MaxLength)},
		options...)
	return &authenticator{Authenticator: auth.Bearer(lookup, options...), issuer: config.Issuer}
}

type authenticator struct {
	rest.Authenticator

	issuer string
}

// Scheme implements [rest.Authenticator].
func (a *authenticator) Scheme() rest.Scheme {
	s := a.Authenticator.Scheme()
	s.Type, s.HTTP, s.BearerFormat = "openIdConnect", "", ""
	s.DiscoveryURL = strings.TrimSuffix(a.issuer, "/") + "/.well-known/openid-configuration"
	return s
}

// User returns a user for the token. Its ID is the subject, its name is the name claim or else
// preferred_username, and its scopes are the words of the scope claim. A token without a
// subject is [rest.ErrBadCredentials]. The user is never an administrator.
func User(_ context.Context, token *Token) (*rest.User, error) {
	var claims struct {
		Name     string `json:"name"`
		Username string `json:"preferred_username"` //nolint:tagliatelle // the name in the protocol
		Scope    string `json:"scope"`
	}
	if err := token.Claims(&claims); err != nil {
		return nil, fmt.Errorf("%w: %w", rest.ErrBadCredentials, err)
	}
	if token.Subject == "" {
		return nil, fmt.Errorf("%w: the token has no subject", rest.ErrBadCredentials)
	}
	if claims.Name == "" {
		claims.Name = claims.Username
	}
	return &rest.User{ID: token.Subject, Name: claims.Name, Scopes: strings.Fields(claims.Scope)}, nil
}

type verifier struct {
	config   *Config
	provider *refresh.Value[*gooidc.IDTokenVerifier]
}

func newVerifier(config Config) (*verifier, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	v := &verifier{config: &config}
	v.provider = &refresh.Value[*gooidc.IDTokenVerifier]{
		Load: func(ctx context.Context) (*gooidc.IDTokenVerifier, error) { return discover(ctx, v.config) },
		TTL:  config.TTL, MaxAge: max(config.TTL, config.MaxStale), Retry: config.MinRefresh, Timeout: config.Timeout,
	}
	return v, nil
}

func (v *verifier) verify(ctx context.Context, raw string) (*Token, error) {
	provider, err := v.provider.Get(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	var fault error
	token, err := provider.Verify(context.WithValue(ctx, faultKey{}, &fault), raw)
	switch {
	case fault != nil:
		return nil, unavailable(fault)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", rest.ErrBadCredentials, err)
	default:
		return token, nil
	}
}

func unavailable(err error) error {
	return &rest.Error{
		Status: http.StatusServiceUnavailable, Code: "unavailable", Detail: "Try again later.",
		Header: http.Header{"Retry-After": {"5"}}, Err: err,
	}
}

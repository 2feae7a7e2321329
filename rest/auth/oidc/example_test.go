package oidc_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth/oidc"
)

func ExampleBearer() {
	// The provider is asked with the first token, and not before.
	bearer := oidc.Bearer(oidc.Config{Issuer: "https://id.example.org", Audience: "shop"})
	fmt.Println(bearer.Scheme().DiscoveryURL)
	// Output: https://id.example.org/.well-known/openid-configuration
}

func ExampleBearerAs() {
	employees := func(_ context.Context, token *oidc.Token) (*rest.User, error) {
		var claims struct {
			Email    string `json:"email"`
			Verified bool   `json:"email_verified"` //nolint:tagliatelle // the name in the protocol
		}
		if err := token.Claims(&claims); err != nil {
			return nil, err
		}
		if !claims.Verified || !strings.HasSuffix(claims.Email, "@example.org") {
			return nil, rest.ErrBadCredentials
		}
		return &rest.User{ID: token.Subject, Name: claims.Email}, nil
	}
	bearer := oidc.BearerAs(oidc.Config{Issuer: "https://id.example.org", Audience: "shop"}, employees)
	fmt.Println(bearer.Scheme().Name)
	// Output: openID
}

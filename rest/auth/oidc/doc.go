// Package oidc authenticates requests by bearer tokens of an OpenID Connect provider. It needs
// only the provider's issuer address; it finds the keys and algorithms by discovery.
//
//	rest.Auth(oidc.Bearer(oidc.Config{
//		Issuer:   "https://id.example.org",
//		Audience: "shop",
//	}))
//
// The provider is asked for the first token, not when the program starts. While it cannot be
// reached, requests with tokens are answered 503. It is asked again from time to time, so that
// keys that it has withdrawn do not stay valid here forever.
//
// A valid token is a JWT that the provider has signed with an allowed algorithm, for the
// audience, and that has not expired. Any other token is [rest.ErrBadCredentials].
//
// For an issuer without discovery, see package jwt.
package oidc

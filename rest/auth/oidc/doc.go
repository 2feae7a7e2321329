// Package oidc authenticates requests by bearer tokens of an OpenID Connect provider. It
// knows the provider by the address of its issuer, and finds keys and algorithms by
// discovery.
//
//	rest.Auth(oidc.Bearer(oidc.Config{
//		Issuer:   "https://id.example.org",
//		Audience: "shop",
//	}))
//
// The provider is asked with the first token, not at the start of the program: one that
// cannot be reached makes requests with tokens fail with 503 until it can, and no longer. It
// is asked again from time to time, so that keys that it has taken back are not good here
// for ever.
//
// A good token is a JWT that is signed by the provider with an algorithm that it names, for
// the audience, and not expired. Everything else is [rest.ErrBadCredentials].
//
// For an issuer without discovery, see package jwt.
package oidc

// Package jwt authenticates requests by bearer tokens that are JSON Web Tokens (RFC 7519),
// and signs such tokens.
//
//	rest.Auth(jwt.Bearer(jwt.Config{
//		Algorithms: []string{"RS256"},
//		Keys:       jwt.JWKS("https://id.example.org/keys", nil),
//		Issuer:     "https://id.example.org",
//		Audience:   []string{"shop"},
//	}))
//
// # What a token must be
//
// Signed with one of the algorithms that the configuration names, by a key that is one of
// that algorithm; so "none" is never one, and a public key is never taken for a secret. With
// the issuer, the audience and the type that the configuration names; not expired, with a
// time at which it expires, not from the future; not longer than allowed, and without
// critical headers, which this package knows none of. Everything else is
// [rest.ErrBadCredentials], and the reason is for the log.
//
// Keys that cannot be loaded are no fault of the token: the answer is 503 then.
package jwt

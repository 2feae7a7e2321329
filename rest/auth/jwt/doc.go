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
// A token must be signed with one of the configured algorithms and a key for that algorithm.
// So "none" is never accepted, and a public key is never used as a secret. Issuer, audience
// and type must be as configured. The token must expire, must not have expired, and must not
// be from the future. It must not be too long and must have no critical headers, because this
// package supports none. Any other token is [rest.ErrBadCredentials]; the reason is for the
// log.
//
// If the keys cannot be loaded, that is not the token's fault, and the answer is 503.
package jwt

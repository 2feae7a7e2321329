package google

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// notBeforeLeeway is how far the clock that wrote a token may be ahead of ours.
const notBeforeLeeway = 5 * time.Minute

// claims are the claims of a token.
type claims struct {
	jwt.RegisteredClaims

	Email    string `json:"email"`
	Verified bool   `json:"email_verified"` //nolint:tagliatelle // the name in the protocol
}

// parser does not check the claims: [Verifier.check] does, as Google has two issuer names and the leeways differ.
var parser = jwt.NewParser(jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding())

// parse returns the claims of a token that one of the keys has signed. The error wraps
// [jwt.ErrTokenSignatureInvalid] if none has.
func parse(raw string, keys *jwt.VerificationKeySet) (*claims, error) {
	token := &claims{}
	_, err := parser.ParseWithClaims(raw, token, func(t *jwt.Token) (any, error) {
		if _, ok := t.Header["crit"]; ok {
			return nil, errors.New("the token has critical headers")
		}
		if t.Method != jwt.SigningMethodRS256 {
			return nil, fmt.Errorf("the token is signed with %.20q", t.Method.Alg())
		}
		return *keys, nil
	})
	return token, err
}

// check returns an error unless Google issued the token to one of the service accounts, for
// the audience and for this time.
func (v *Verifier) check(token *claims) error {
	now := v.clock.Now()
	switch {
	case token.Issuer != "https://accounts.google.com" && token.Issuer != "accounts.google.com":
		return fmt.Errorf("the token is issued by %.100q, not by Google", token.Issuer)
	case !slices.Contains(token.Audience, v.audience):
		return fmt.Errorf("the token of Google is for the audience %.200q", token.Audience)
	case token.ExpiresAt == nil || token.ExpiresAt.Before(now):
		return errors.New("the token of Google is expired")
	case token.NotBefore != nil && now.Add(notBeforeLeeway).Before(token.NotBefore.Time):
		return errors.New("the token of Google is not valid yet")
	case !slices.Contains(v.accounts, token.Email):
		return fmt.Errorf("the token of Google is for the account %.100q, which may not deliver", token.Email)
	case !token.Verified:
		return errors.New("the token of Google is for an address that is not verified")
	default:
		return nil
	}
}

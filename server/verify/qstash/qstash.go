// Package qstash verifies deliveries of Upstash QStash: the header Upstash-Signature is a
// token, signed with HMAC-SHA256, that names the URL to which QStash delivers, the time,
// and the hash of the body.
//
//	verifier, err := qstash.New(qstash.Config{
//		URL:        "https://agents.example.com/api/queue/agent-run",
//		CurrentKey: os.Getenv("QSTASH_CURRENT_SIGNING_KEY"),
//		NextKey:    os.Getenv("QSTASH_NEXT_SIGNING_KEY"),
//	})
//
// A token is valid for five minutes. The receiver always knows both keys. So after a roll of the
// keys at Upstash, restart the receiver with the new pair at any time before the next roll.
package qstash

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/server/verify/internal/header"
)

const (
	headerName = "Upstash-Signature"
	issuer     = "Upstash"
	// minKeyBytes is shorter than any key of Upstash, and longer than a typical password.
	minKeyBytes = 16
)

// Config says which deliveries the verifier accepts.
type Config struct {
	// URL is the address to which QStash delivers, exactly as configured at QStash: the public
	// address, in front of any proxy. Required.
	URL string
	// CurrentKey and NextKey are the signing keys. At least one is required.
	CurrentKey, NextKey string

	// Clock tells the time. Defaults to [verify.SystemClock].
	Clock verify.Clock
	// Leeway is how far the clock may differ from that of Upstash. The special value -1 allows no
	// difference. Defaults to 10 seconds.
	Leeway time.Duration
}

// Verifier proves that a delivery comes from QStash. It is safe for concurrent use.
type Verifier struct {
	keys   jwt.VerificationKeySet
	parser *jwt.Parser
}

// New returns a verifier. For a configuration that cannot work, it returns an [spool.Invalid]
// error that names the field and has no key in it.
func New(c Config) (*Verifier, error) {
	if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, spool.Errorf(spool.Invalid, "URL must be the http or https address to which QStash delivers")
	}
	v := &Verifier{}
	for _, k := range []struct{ name, key string }{{"CurrentKey", c.CurrentKey}, {"NextKey", c.NextKey}} {
		switch {
		case k.key == "":
		case len(k.key) < minKeyBytes || strings.ContainsAny(k.key, " \t\r\n"):
			return nil, spool.Errorf(spool.Invalid, "%s must have %d characters or more, and no spaces", k.name, minKeyBytes)
		default:
			v.keys.Keys = append(v.keys.Keys, []byte(k.key))
		}
	}
	if len(v.keys.Keys) == 0 {
		return nil, spool.Errorf(spool.Invalid, "CurrentKey or NextKey is required")
	}
	if c.Leeway < -1 {
		return nil, spool.Errorf(spool.Invalid, "Leeway must not be negative")
	}
	v.parser = c.parser()
	return v, nil
}

func (c Config) parser() *jwt.Parser {
	clock, leeway := c.Clock, c.Leeway
	if clock == nil {
		clock = verify.SystemClock{}
	}
	if leeway == 0 {
		leeway = 10 * time.Second
	}
	return jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(issuer),
		jwt.WithSubject(c.URL),
		jwt.WithExpirationRequired(),
		jwt.WithNotBeforeRequired(),
		jwt.WithLeeway(max(leeway, 0)),
		jwt.WithTimeFunc(clock.Now),
		jwt.WithStrictDecoding(),
	)
}

// claims are the claims of a token.
type claims struct {
	jwt.RegisteredClaims

	// Body is the hash of the body.
	Body string `json:"body"`
}

// VerifyHeader returns an error unless the request has a token that one of the keys signed for the
// URL, for this time and for any body. It does not read the body. The error has neither a key nor
// the token in it.
func (v *Verifier) VerifyHeader(r *http.Request) error {
	_, err := v.bodyHash(r.Header)
	return err
}

// Verify returns an error unless the request has a token that one of the keys signed for the URL,
// for this time and for this body. The error has neither a key nor the token in it.
func (v *Verifier) Verify(r *http.Request, body []byte) error {
	bodyHash, err := v.bodyHash(r.Header)
	if err != nil {
		return err
	}
	if have := sha256.Sum256(body); subtle.ConstantTimeCompare(bodyHash, have[:]) != 1 {
		return errors.New("the token of QStash is for another body")
	}
	return nil
}

// bodyHash returns the hash of the body from a valid token. The claim may have base64 padding or
// not.
func (v *Verifier) bodyHash(h http.Header) ([]byte, error) {
	token, err := header.One(h, headerName)
	if err != nil {
		return nil, err
	}
	var claimed claims
	if _, err := v.parser.ParseWithClaims(token, &claimed, v.keysFor); err != nil {
		return nil, fmt.Errorf("verify the token of QStash: %w", err)
	}
	hash, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(claimed.Body, "="))
	if err != nil || len(hash) != sha256.Size {
		return nil, errors.New("the token of QStash is for another body")
	}
	return hash, nil
}

func (v *Verifier) keysFor(t *jwt.Token) (any, error) {
	if _, ok := t.Header["crit"]; ok {
		return nil, errors.New("the token has critical headers")
	}
	return v.keys, nil
}

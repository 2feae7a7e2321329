package jwt

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"maps"
	"time"

	gojwt "github.com/golang-jwt/jwt/v5"
)

// SignerConfig says how tokens are signed.
type SignerConfig struct {
	// Algorithm is one of the algorithms of [Config].
	Algorithm string
	// Key is a []byte of HS*, an *rsa.PrivateKey of RS* and PS*, an *ecdsa.PrivateKey of
	// ES*, or an ed25519.PrivateKey of EdDSA. It is as strong as that of a [Key].
	Key any

	// Audience is who the tokens are for, the aud claim. Defaults to none.
	Audience []string
	// Issuer is the iss claim. Defaults to none.
	Issuer string
	// KeyID is the kid header. Defaults to none.
	KeyID string
	// Type is the typ header. A program that gives out tokens of two purposes, to be used
	// and to refresh others with, gives each a type of its own, and demands it in its
	// [Config]. Defaults to "JWT".
	Type string
}

// Signer signs tokens. It is safe for concurrent use.
type Signer struct {
	config SignerConfig
	method gojwt.SigningMethod
}

// NewSigner returns a signer, or an error when the key is not fit for the algorithm.
func NewSigner(config SignerConfig) (*Signer, error) {
	public, err := publicOf(config.Key)
	if err != nil {
		return nil, err
	}
	if err := fits(config.Algorithm, public); err != nil {
		return nil, err
	}
	if config.Type == "" {
		config.Type = "JWT"
	}
	return &Signer{config: config, method: gojwt.GetSigningMethod(config.Algorithm)}, nil
}

// Sign returns a token with the claims, which is good from now on for as long as ttl, a
// second at least. It sets exp, iat and a random jti, and iss and aud when the signer has
// them, whatever claims say; it leaves claims as they are.
func (s *Signer) Sign(claims Claims, ttl time.Duration) (string, error) {
	if ttl < time.Second {
		return "", fmt.Errorf("a token that is good for %s is none", ttl)
	}
	now := time.Now()
	all := gojwt.MapClaims{}
	maps.Copy(all, claims)
	all["iat"], all["exp"], all["jti"] = now.Unix(), now.Add(ttl).Unix(), rand.Text()
	if s.config.Issuer != "" {
		all["iss"] = s.config.Issuer
	}
	if len(s.config.Audience) > 0 {
		all["aud"] = s.config.Audience
	}
	token := gojwt.NewWithClaims(s.method, all)
	token.Header["typ"] = s.config.Type
	if s.config.KeyID != "" {
		token.Header["kid"] = s.config.KeyID
	}
	signed, err := token.SignedString(s.config.Key)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed, nil
}

// publicOf returns what the signatures of a key are checked with.
func publicOf(key any) (any, error) {
	switch key := key.(type) {
	case []byte:
		return key, nil
	case *rsa.PrivateKey:
		if key != nil {
			return &key.PublicKey, nil
		}
	case *ecdsa.PrivateKey:
		if key != nil {
			return &key.PublicKey, nil
		}
	case ed25519.PrivateKey:
		if len(key) == ed25519.PrivateKeySize {
			return key.Public(), nil
		}
	}
	return nil, errors.New("a signer needs a secret or a private key")
}

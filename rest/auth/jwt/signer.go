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
	// Algorithm is one of the algorithms of [Config]. Required.
	Algorithm string
	// Key is a []byte for HS*, an *rsa.PrivateKey for RS* and PS*, an *ecdsa.PrivateKey for
	// ES*, or an ed25519.PrivateKey for EdDSA. The minimum sizes are those of [Key]. Required.
	Key any

	// Audience is the aud claim: the programs that the tokens are for. Defaults to none.
	Audience []string
	// Issuer is the iss claim. Defaults to none.
	Issuer string
	// KeyID is the kid header. Defaults to none.
	KeyID string
	// Type is the typ header. A program that issues both access and refresh tokens gives each
	// kind its own type, and requires that type in its [Config]. Defaults to "JWT".
	Type string
}

// Signer signs tokens. It is safe for concurrent use.
type Signer struct {
	config SignerConfig
	method gojwt.SigningMethod
}

// NewSigner returns a signer, or an error if the key does not fit the algorithm.
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

// Sign returns a token with the claims, valid for ttl from now. ttl must be at least a second.
// Sign sets exp, iat and a random jti, and also iss and aud if the signer has them; these
// replace the same claims. It does not change the map.
func (s *Signer) Sign(claims Claims, ttl time.Duration) (string, error) {
	if ttl < time.Second {
		return "", fmt.Errorf("a token must be valid for at least a second, not for %s", ttl)
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

// publicOf returns the key that checks the signatures of a signing key.
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

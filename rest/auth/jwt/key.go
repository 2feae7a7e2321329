package jwt

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Keys finds the keys that check the signatures of tokens.
type Keys interface {
	// Find returns the keys with the id for the algorithm: a []byte for HS*, an *rsa.PublicKey
	// for RS* and PS*, an *ecdsa.PublicKey for ES*, an ed25519.PublicKey for EdDSA. If the
	// token names no key, the id is empty and Find returns all keys for the algorithm. If it
	// returns no keys, the token is invalid. An error means that the keys are not available;
	// the answer is 503. Find must be safe for concurrent use.
	Find(ctx context.Context, id, algorithm string) ([]any, error)
}

// Key is a key for one algorithm.
type Key struct {
	// ID is the kid header of the tokens that the key has signed. A key without an ID is tried
	// for all tokens of its algorithm.
	ID string
	// Algorithm is the only algorithm that the key is used for.
	Algorithm string
	// Value is a []byte, *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey. A secret has
	// at least as many bytes as the hash of its algorithm. An RSA key has at least 2048 bits.
	Value any
}

// Static returns keys that do not change. It panics if a key does not fit its algorithm, or if
// two keys have the same ID and algorithm.
func Static(keys ...Key) Keys {
	if len(keys) == 0 {
		panic("jwt: Static needs keys")
	}
	for i, key := range keys {
		if err := fits(key.Algorithm, key.Value); err != nil {
			panic(fmt.Sprintf("jwt: key %d %q: %v", i, key.ID, err))
		}
		for _, other := range keys[:i] {
			if key.ID != "" && key.ID == other.ID && key.Algorithm == other.Algorithm {
				panic(fmt.Sprintf("jwt: there are two keys %q for %s", key.ID, key.Algorithm))
			}
		}
	}
	return static(slices.Clone(keys))
}

type static []Key

// Find implements [Keys].
func (s static) Find(_ context.Context, id, algorithm string) ([]any, error) {
	var found []any
	for _, key := range s {
		if key.Algorithm == algorithm && (id == "" || key.ID == "" || key.ID == id) {
			found = append(found, key.Value)
		}
	}
	return found, nil
}

var algorithms = []string{
	"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}

// hashBytes is the size of an algorithm's hash, which is the minimum size of a secret (RFC
// 7518, 3.2). curveBits is the size of an algorithm's elliptic curve.
var (
	hashBytes = map[string]int{"HS256": 32, "HS384": 48, "HS512": 64}
	curveBits = map[string]int{"ES256": 256, "ES384": 384, "ES512": 521}
)

const minRSABits = 2048

func fits(algorithm string, key any) error {
	if !slices.Contains(algorithms, algorithm) {
		return fmt.Errorf("there is no algorithm %q", algorithm)
	}
	switch key := key.(type) {
	case []byte:
		return fitsSecret(algorithm, key)
	case *rsa.PublicKey:
		if key == nil || !strings.HasPrefix(algorithm, "RS") && !strings.HasPrefix(algorithm, "PS") {
			return fmt.Errorf("an RSA key is not for %s", algorithm)
		}
		if bits := key.N.BitLen(); bits < minRSABits {
			return fmt.Errorf("an RSA key of %d bits is too short", bits)
		}
	case *ecdsa.PublicKey:
		if key == nil || key.Curve == nil || key.Curve.Params().BitSize != curveBits[algorithm] {
			return fmt.Errorf("the elliptic curve of the key is not that of %s", algorithm)
		}
	case ed25519.PublicKey:
		if algorithm != "EdDSA" || len(key) != ed25519.PublicKeySize {
			return fmt.Errorf("an Ed25519 key is not for %s", algorithm)
		}
	default:
		return fmt.Errorf("a %T cannot check signatures", key)
	}
	return nil
}

func fitsSecret(algorithm string, secret []byte) error {
	least, ok := hashBytes[algorithm]
	if !ok {
		return fmt.Errorf("a secret is not for %s", algorithm)
	}
	if strings.Contains(string(secret), "-----BEGIN ") {
		return errors.New("the secret is a PEM file: a public key must not be one")
	}
	if len(secret) < least {
		return fmt.Errorf("a secret of %d bytes is too short for %s, which needs %d", len(secret), algorithm, least)
	}
	return nil
}

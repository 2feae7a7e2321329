package jwt

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// jwk is a key of a set (RFC 7517), with the members of the supported kinds.
type jwk struct {
	Kty    string   `json:"kty"`
	Kid    string   `json:"kid"`
	Use    string   `json:"use"`
	KeyOps []string `json:"key_ops"` //nolint:tagliatelle // RFC 7517 says so
	Alg    string   `json:"alg"`
	Crv    string   `json:"crv"`
	N      string   `json:"n"`
	E      string   `json:"e"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
}

// remoteKey is a key of a set. It is for one algorithm, or if that is empty, for all that it
// fits.
type remoteKey struct {
	id, algorithm string
	value         any
}

// errNotOurs marks keys that are not for signatures or are of an unknown kind. A set may have
// such keys; they are skipped.
var errNotOurs = errors.New("not a key to check signatures with")

// parseKeys reads a set of keys. Broken keys are skipped, like keys of other kinds (RFC 7517,
// 5). If no key is usable, that is an error.
func parseKeys(text []byte, most int) ([]remoteKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("read the set of keys: %w", err)
	}
	if len(set.Keys) > most {
		return nil, fmt.Errorf("the set has %d keys, which is more than %d", len(set.Keys), most)
	}
	var (
		keys []remoteKey
		last = errors.New("the set has no keys")
	)
	for _, raw := range set.Keys {
		key, err := parseKey(raw)
		if err != nil {
			last = err
			continue
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("the set has no usable key: %w", last)
	}
	return keys, nil
}

func parseKey(raw json.RawMessage) (remoteKey, error) {
	var k jwk
	if err := json.Unmarshal(raw, &k); err != nil {
		return remoteKey{}, fmt.Errorf("read a key: %w", err)
	}
	if k.Use != "" && k.Use != "sig" || len(k.KeyOps) > 0 && !slices.Contains(k.KeyOps, "verify") {
		return remoteKey{}, errNotOurs
	}
	value, err := k.public()
	if err != nil {
		return remoteKey{}, fmt.Errorf("key %q: %w", k.Kid, err)
	}
	key := remoteKey{id: k.Kid, algorithm: k.Alg, value: value}
	if k.Alg == "" {
		return key, key.fitsOne()
	}
	return key, fits(k.Alg, value)
}

// fitsOne returns an error if the key fits no algorithm, for example because it is too short.
func (k remoteKey) fitsOne() error {
	err := errNotOurs
	for _, algorithm := range algorithms {
		why := fits(algorithm, k.value)
		if why == nil {
			return nil
		}
		if strings.Contains(why.Error(), "too short") {
			err = why
		}
	}
	return err
}

// public returns the public key. Secrets are never read from a set.
func (k *jwk) public() (any, error) {
	switch k.Kty {
	case "RSA":
		return k.rsa()
	case "EC":
		return k.ec()
	case "OKP":
		return k.okp()
	default:
		return nil, errNotOurs
	}
}

func (k *jwk) rsa() (*rsa.PublicKey, error) {
	n, err := number(k.N)
	if err != nil {
		return nil, fmt.Errorf("modulus: %w", err)
	}
	e, err := number(k.E)
	if err != nil {
		return nil, fmt.Errorf("exponent: %w", err)
	}
	const most = 1<<31 - 1
	if !e.IsInt64() || e.Int64() < 3 || e.Int64() > most || e.Bit(0) == 0 {
		return nil, errors.New("the exponent is not odd, or none that is used")
	}
	// The cost of a check grows with the square of the bits, so a huge key could keep the
	// program busy.
	if bits := n.BitLen(); bits < minRSABits || bits > 16384 || n.Bit(0) == 0 {
		return nil, fmt.Errorf("an RSA key of %d bits is too short, too long or even", bits)
	}
	return &rsa.PublicKey{N: n, E: int(e.Int64())}, nil
}

func (k *jwk) ec() (*ecdsa.PublicKey, error) {
	curves := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}
	curve, ok := curves[k.Crv]
	if !ok {
		return nil, errNotOurs
	}
	size := (curve.Params().BitSize + 7) / 8
	x, errX := octets(k.X)
	y, errY := octets(k.Y)
	if err := errors.Join(errX, errY); err != nil {
		return nil, err
	}
	if len(x) != size || len(y) != size {
		return nil, fmt.Errorf("a point of %s has coordinates of %d bytes", k.Crv, size)
	}
	const uncompressed = 4
	key, err := ecdsa.ParseUncompressedPublicKey(curve, bytes.Join([][]byte{{uncompressed}, x, y}, nil))
	if err != nil {
		return nil, fmt.Errorf("point of %s: %w", k.Crv, err)
	}
	return key, nil
}

func (k *jwk) okp() (ed25519.PublicKey, error) {
	if k.Crv != "Ed25519" {
		return nil, errNotOurs
	}
	x, err := octets(k.X)
	if err != nil {
		return nil, err
	}
	if len(x) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("an Ed25519 key has %d bytes", ed25519.PublicKeySize)
	}
	return x, nil
}

// octets decodes base64url. Some issuers add padding, which is wrong but harmless.
func octets(text string) ([]byte, error) {
	decoded, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, fmt.Errorf("not base64url: %w", err)
	}
	if len(decoded) == 0 {
		return nil, errors.New("missing")
	}
	return decoded, nil
}

func number(text string) (*big.Int, error) {
	b, err := octets(text)
	if err != nil {
		return nil, err
	}
	return new(big.Int).SetBytes(b), nil
}

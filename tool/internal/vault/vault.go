// Package vault encrypts texts for a store with AES-256-GCM. A text can only be opened with the words that it was
// sealed with, such as its owner, and with one of the keys. The package knows nothing of stores and tokens.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/spoolhq/spool"
)

// KeySize is the size of a key, in bytes.
const KeySize = 32

// version begins each sealed text.
const version = "v1"

// ErrUnreadable is the error for a text that no key opens, with these words.
var ErrUnreadable = errors.New("no key opens the sealed text")

// Vault has the keys. It is safe for concurrent use.
type Vault struct{ keys []key }

type key struct {
	id   string
	aead cipher.AEAD
}

// New returns a vault, or an [spool.Invalid] error. The first key seals, and all of them open.
func New(keys [][]byte) (*Vault, error) {
	if len(keys) == 0 {
		return nil, spool.Errorf(spool.Invalid, "Keys is required")
	}
	v := &Vault{}
	for _, k := range keys {
		if len(k) != KeySize {
			return nil, spool.Errorf(spool.Invalid, "each of Keys must have %d bytes", KeySize)
		}
		block, err := aes.NewCipher(k)
		if err != nil {
			return nil, spool.Wrap(spool.Internal, "use a key", err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, spool.Wrap(spool.Internal, "use a key", err)
		}
		v.keys = append(v.keys, key{idOf(k), aead})
	}
	return v, nil
}

// idOf returns a short name of a key. It is part of a hash of the key, which is random, so it does not tell the key.
func idOf(k []byte) string {
	const length = 4
	sum := sha256.Sum256(append([]byte("spool key id\x00"), k...))
	return hex.EncodeToString(sum[:length])
}

// Seal encrypts a text with the first key. The result can be in a URL as it is.
func (v *Vault) Seal(plain []byte, words ...string) string {
	first := v.keys[0]
	return strings.Join([]string{version, first.id, base64.RawURLEncoding.EncodeToString(first.aead.Seal(nil, nil, plain, joined(words)))}, ".") //nolint:gosec // the AEAD makes a random nonce by itself
}

// Open returns the text that was sealed with the same words, or [ErrUnreadable].
func (v *Vault) Open(sealed string, words ...string) ([]byte, error) {
	parts := strings.Split(sealed, ".")
	if len(parts) != 3 || parts[0] != version {
		return nil, ErrUnreadable
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err != nil {
		return nil, ErrUnreadable
	}
	for _, k := range v.keys {
		if k.id != parts[1] {
			continue
		}
		if plain, err := k.aead.Open(nil, nil, text, joined(words)); err == nil {
			return plain, nil
		}
	}
	return nil, ErrUnreadable
}

// joined returns the words with their lengths, so that no other words give the same.
func joined(words []string) []byte {
	out := []byte(version)
	for _, word := range words {
		out = binary.BigEndian.AppendUint32(out, uint32(len(word))) //nolint:gosec // no word has 4 GiB
		out = append(out, word...)
	}
	return out
}

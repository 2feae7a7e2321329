package auth

import (
	"crypto/aes"
	"crypto/cipher"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
)

const (
	// vaultUse separates the keys of the vault from those of signatures.
	vaultUse = "spool vault 1\n"
	// vaultForm is the first byte of what the vault seals.
	vaultForm = 1
)

// Vault seals texts with AES-256-GCM. Its keys are derived from those that sign tokens: the first one seals, and any of
// them may have sealed.
type Vault struct{ keys []cipher.AEAD }

var _ option.Vault = (*Vault)(nil)

// NewVault returns an [spool.Invalid] error without a key, and for a key that is too short.
func NewVault(keys [][]byte) (*Vault, error) {
	if err := CheckKeys(keys); err != nil {
		return nil, err
	}
	v := &Vault{}
	for _, key := range keys {
		block, err := aes.NewCipher(sign(key, vaultUse, ""))
		if err != nil {
			return nil, spool.Wrap(spool.Internal, "make the key of the vault", err)
		}
		gcm, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, spool.Wrap(spool.Internal, "make the key of the vault", err)
		}
		v.keys = append(v.keys, gcm)
	}
	return v, nil
}

// Seal implements [option.Vault].
func (v *Vault) Seal(use string, text []byte) ([]byte, error) {
	return v.keys[0].Seal([]byte{vaultForm}, nil, text, []byte(use)), nil //nolint:gosec // it draws the nonce itself
}

// errSealed is the error of all that cannot be opened, whatever is wrong with it.
var errSealed = spool.Errorf(spool.Internal, "what is sealed cannot be opened with the keys of the configuration")

// Open implements [option.Vault].
func (v *Vault) Open(use string, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != vaultForm {
		return nil, errSealed
	}
	for _, key := range v.keys {
		if text, err := key.Open(nil, nil, sealed[1:], []byte(use)); err == nil {
			return text, nil
		}
	}
	return nil, errSealed
}

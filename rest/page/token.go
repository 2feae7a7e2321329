package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// A cursor in an address is, in base64url without padding:
//
//	version (1 byte) | flags (1 byte) | a value for each field of the order | tag (16 bytes)
//
// A value is its length plus one as a varint and its text as [driver.List] gives it; null is
// the length 0 alone. The tag is the start of an HMAC-SHA256 over a fixed prefix, the scope
// and all that stands before the tag. The scope says which list in which order the cursor is
// of, and is not in the cursor: what was made for another list or order has a wrong tag.

const (
	tokenVersion = 1
	tagSize      = 16

	flagBackward = 1 << 0
	flagEnd      = 1 << 1

	// maxToken bounds the length of a cursor, because addresses have a bound.
	maxToken = 6000

	// minSecret is the least length of a secret, in bytes.
	minSecret = 16
)

// macPrefix keeps tags apart from those of other users of the same secret.
const macPrefix = "spool/rest/page cursor\x00"

// position is a place in an ordered list: just behind the item with the values, or just
// before it.
type position struct {
	// backward is true for the items before the place, and false for those behind it.
	backward bool
	// end is true for the place behind the last item, which has no values.
	end bool
	// values are those of the fields of the order; nil is null.
	values []*string
}

// signer makes and checks cursors. It is safe for concurrent use.
type signer struct{ secrets [][]byte }

// seal writes p as a cursor of the scope.
func (s signer) seal(scope string, p position) (string, error) {
	b := appendPosition(make([]byte, 0, 96), p)
	b = append(b, tag(s.secrets[0], scope, b)...)

	if n := base64.RawURLEncoding.EncodedLen(len(b)); n > maxToken {
		return "", fmt.Errorf("the values of the order make a cursor of %d bytes, more than %d", n, maxToken)
	}

	return base64.RawURLEncoding.EncodeToString(b), nil
}

// open reads a cursor of the scope, whose order has so many fields. It reports false for
// what is none.
func (s signer) open(scope, token string, fields int) (position, bool) {
	if len(token) > maxToken {
		return position{}, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) < tagSize || len(token) != base64.RawURLEncoding.EncodedLen(len(b)) {
		return position{}, false // the last of these: line breaks, which are skipped
	}

	signed, given := b[:len(b)-tagSize], b[len(b)-tagSize:]
	if !s.verify(scope, signed, given) {
		return position{}, false
	}

	return parsePosition(signed, fields)
}

// verify asks every secret, so that the time does not tell which one it was.
func (s signer) verify(scope string, signed, given []byte) bool {
	ok := false
	for _, secret := range s.secrets {
		ok = hmac.Equal(tag(secret, scope, signed), given) || ok
	}

	return ok
}

func tag(secret []byte, scope string, signed []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(macPrefix))
	mac.Write(binary.AppendUvarint(nil, uint64(len(scope))))
	mac.Write([]byte(scope))
	mac.Write(signed)

	return mac.Sum(nil)[:tagSize]
}

// appendPosition writes what stands before the tag.
func appendPosition(b []byte, p position) []byte {
	var flags byte
	if p.backward {
		flags |= flagBackward
	}
	if p.end {
		flags |= flagEnd
	}

	b = append(b, tokenVersion, flags)
	for _, v := range p.values {
		if v == nil {
			b = append(b, 0)
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(*v))+1)
		b = append(b, *v...)
	}

	return b
}

// parsePosition reads what [appendPosition] wrote, and reports false for what it cannot have.
func parsePosition(b []byte, fields int) (position, bool) {
	if len(b) < 2 || b[0] != tokenVersion || b[1] > flagBackward|flagEnd {
		return position{}, false
	}

	p := position{backward: b[1]&flagBackward != 0, end: b[1]&flagEnd != 0}
	b = b[2:]
	if p.end {
		fields = 0
	}
	for range fields {
		value, rest, ok := parseValue(b)
		if !ok {
			return position{}, false
		}
		p.values, b = append(p.values, value), rest
	}
	if len(b) > 0 || p.end && !p.backward {
		return position{}, false
	}

	return p, true
}

// parseValue reads one value and returns what follows it.
func parseValue(b []byte) (value *string, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return nil, nil, false
	}

	b = b[size:]
	if n == 0 {
		return nil, b, true
	}
	if n-1 > uint64(len(b)) {
		return nil, nil, false
	}
	text := string(b[:n-1])

	return &text, b[n-1:], true
}

// Sign gives the secrets that cursors are signed with, of at least 16 random bytes each. A
// cursor names values of the item that it stands next to, which a client must not make up.
// The first secret signs; all of them verify, so a new one is put before the old one, and
// the old one is removed when no client can have its cursors any more.
//
// The values are signed, not hidden: a client can read the values of the order's fields in its
// cursor.
func Sign(secrets ...[]byte) KeysetOption {
	return func(c *config) { c.secrets = append(c.secrets, secrets...) }
}

// RandomSecret is a new secret for [Sign]. Nobody else knows it: cursors are good for this
// process, until it ends. It is for tests and for programs that are one process and may
// send clients back to the first page when they start.
func RandomSecret() []byte {
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails: it ends the process instead

	return secret
}

// checkSecrets returns what is wrong with the secrets of a paginator that needs some.
func (c *config) checkSecrets() error {
	if len(c.secrets) == 0 {
		return fmt.Errorf("%s: it needs a secret: page.Sign(secret), or page.Sign(page.RandomSecret()) for one process", c.paginator)
	}
	for _, secret := range c.secrets {
		if len(secret) < minSecret {
			return fmt.Errorf("%s: a secret has at least %d bytes, not %d", c.paginator, minSecret, len(secret))
		}
	}

	return nil
}

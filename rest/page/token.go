package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// A cursor is the base64url text, without padding, of:
//
//	version (1 byte) | flags (1 byte) | a value for each field of the order | tag (16 bytes)
//
// A value is its length plus one, as a varint, followed by its text from [driver.List]. Null is
// only the varint 0. The tag is the start of an HMAC-SHA256 over a fixed prefix, the scope and
// everything before the tag. The scope names the list and its order. It is not part of the
// cursor, so a cursor of another list or order has a wrong tag.

const (
	tokenVersion = 1
	tagSize      = 16

	flagBackward = 1 << 0
	flagEnd      = 1 << 1

	// maxToken limits the length of a cursor, because the length of addresses is limited.
	maxToken = 6000

	// minSecret is the minimum length of a secret, in bytes.
	minSecret = 16
)

// macPrefix separates these tags from those of other users of the same secret.
const macPrefix = "spool/rest/page cursor\x00"

// position is a place in an ordered list: just after, or just before, the item with the
// values.
type position struct {
	// backward means the items before the place; otherwise it is the items after it.
	backward bool
	// end means the place after the last item, which has no values.
	end bool
	// values are the values of the order's fields; nil means null.
	values []*string
}

// signer makes and checks cursors. It is safe for concurrent use.
type signer struct{ secrets [][]byte }

// seal returns p as a cursor of the scope.
func (s signer) seal(scope string, p position) (string, error) {
	b := appendPosition(make([]byte, 0, 96), p)
	b = append(b, tag(s.secrets[0], scope, b)...)

	if n := base64.RawURLEncoding.EncodedLen(len(b)); n > maxToken {
		return "", fmt.Errorf("the values of the order make a cursor of %d bytes, more than %d", n, maxToken)
	}

	return base64.RawURLEncoding.EncodeToString(b), nil
}

// open returns the position of a cursor of the scope, whose order has this number of fields.
// It returns false if the token is not such a cursor.
func (s signer) open(scope, token string, fields int) (position, bool) {
	if len(token) > maxToken {
		return position{}, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) < tagSize || len(token) != base64.RawURLEncoding.EncodedLen(len(b)) {
		return position{}, false // the length differs if the decoder has skipped line breaks
	}

	signed, given := b[:len(b)-tagSize], b[len(b)-tagSize:]
	if !s.verify(scope, signed, given) {
		return position{}, false
	}

	return parsePosition(signed, fields)
}

// verify checks with every secret, so that its time does not show which secret matched.
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

// appendPosition appends the part of a cursor before the tag.
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

// parsePosition reads what [appendPosition] has written. It returns false for anything else.
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

// parseValue returns the first value of b and the rest of b.
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

// Sign sets the secrets that sign cursors, each of at least 16 random bytes. A cursor has
// values of the item at its place, and signing keeps clients from inventing them. The first
// secret signs and all of them verify. To change the secret, put the new one first, and remove
// the old one when no client can have its cursors any more.
//
// The values are signed, not hidden: a client can read the values of the order's fields in its
// cursor.
func Sign(secrets ...[]byte) KeysetOption {
	return func(c *config) { c.secrets = append(c.secrets, secrets...) }
}

// RandomSecret returns a new secret for [Sign]. Cursors signed with it are valid only in this
// process. It is for tests, and for programs of one process whose clients may be sent back to
// the first page after a restart.
func RandomSecret() []byte {
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails

	return secret
}

// checkSecrets returns an error if the secrets are missing or too short.
func (c *config) checkSecrets() error {
	if len(c.secrets) == 0 {
		return fmt.Errorf("%s: it needs a secret: page.Sign(secret), or page.Sign(page.RandomSecret()) for one process",
			c.paginator)
	}
	for _, secret := range c.secrets {
		if len(secret) < minSecret {
			return fmt.Errorf("%s: a secret has at least %d bytes, not %d", c.paginator, minSecret, len(secret))
		}
	}

	return nil
}

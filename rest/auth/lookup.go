package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"reflect"

	"github.com/spoolhq/spool/rest"
)

// Lookup finds the principal of a key. The package comment says what it returns.
type Lookup[P rest.Principal] = func(ctx context.Context, key string) (P, error)

// principal turns the results of a lookup into those of an authenticator.
func principal[P rest.Principal](p P, err error) (rest.Principal, error) {
	switch {
	case errors.Is(err, rest.ErrNoCredentials):
		// The request had a key, so this must not become ErrNoCredentials: [rest.Anonymous]
		// would let it through.
		return nil, fmt.Errorf("%w: %w", rest.ErrBadCredentials, errors.New(err.Error()))
	case err != nil:
		return nil, err
	case none(p):
		return nil, rest.ErrBadCredentials
	default:
		return p, nil
	}
}

func none[P rest.Principal](p P) bool {
	v := reflect.ValueOf(p)
	return !v.IsValid() || v.IsZero()
}

// bad returns ErrBadCredentials with a reason for the log.
func bad(why string) error { return fmt.Errorf("%w: %s", rest.ErrBadCredentials, why) }

// Keys returns a lookup of fixed keys, for services and tests. It stores hashes of the keys
// and compares with all of them at each call, so its time depends neither on the key nor on
// whether it is right. The time grows with the number of keys; some hundreds are fine.
//
// Keys panics if a key is empty or its principal is nil. It does not keep the map.
func Keys[P rest.Principal](keys map[string]P) Lookup[P] {
	type known struct {
		hash      [sha256.Size]byte
		principal P
	}
	all := make([]known, 0, len(keys))
	for key, p := range keys {
		if key == "" || none(p) {
			panic("auth: Keys has an empty key, or a key without a principal")
		}
		all = append(all, known{hash: sha256.Sum256([]byte(key)), principal: p})
	}
	return func(_ context.Context, key string) (P, error) {
		hash := sha256.Sum256([]byte(key))
		found := -1
		for i := range all {
			found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], all[i].hash[:]), i, found)
		}
		if found < 0 {
			var nobody P
			return nobody, rest.ErrBadCredentials
		}
		return all[found].principal, nil
	}
}

// Equal reports whether a and b are the same. Its time does not show where or how much they
// differ; it depends only on their lengths. It is for passwords in a configuration. Passwords
// of people need a slow password hash instead.
func Equal(a, b string) bool {
	ha, hb := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(ha[:], hb[:]) == 1
}

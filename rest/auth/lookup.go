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

// Lookup finds the principal that a key belongs to. See the package comment for what it
// returns.
type Lookup[P rest.Principal] = func(ctx context.Context, key string) (P, error)

// principal is what a lookup's results mean.
func principal[P rest.Principal](p P, err error) (rest.Principal, error) {
	switch {
	case errors.Is(err, rest.ErrNoCredentials):
		// There was a key. Passed on, this would let the request through to rest.Anonymous.
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

// bad is ErrBadCredentials with what was wrong with them, for the log.
func bad(why string) error { return fmt.Errorf("%w: %s", rest.ErrBadCredentials, why) }

// Keys returns a lookup of fixed keys, for services and tests. It keeps hashes of the keys,
// compares with every one of them at each call, and takes a time that depends neither on the
// key nor on whether it is right. That time grows with their number: some hundreds are fine.
//
// It panics when a key is empty or its principal is nil. It keeps nothing of the map.
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

// Equal reports whether a and b are the same, in a time that says nothing about where or how
// much they differ, nor about the length of either beyond what hashing it takes. It is for
// passwords of configurations; stored passwords of people want a slow hash.
func Equal(a, b string) bool {
	ha, hb := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(ha[:], hb[:]) == 1
}

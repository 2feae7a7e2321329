package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
)

// Token is a bearer token and the principal that it stands for. Either Token or SHA256 is required.
type Token struct {
	Principal

	// Token is the text after "Bearer " in the Authorization header. Choose a random one, for example of 16
	// bytes.
	Token string
	// SHA256 is the SHA-256 of the token in hexadecimal, so that a reader of the list cannot use
	// the token.
	SHA256 string
}

// TokenList is an [Authenticator] with a list of bearer tokens. It keeps only their hashes. It is safe for
// concurrent use.
type TokenList struct {
	replacing sync.Mutex
	known     atomic.Pointer[[]hashedToken]
}

// Tokens returns an authenticator with a list of bearer tokens. A token is no longer valid after its
// [Principal.Until]. Tokens returns an [spool.Invalid] error, without the token in it, for an empty token, a
// repeated one, a wrong hash, a wrong tenant and an unknown scope.
func Tokens(list []Token) (*TokenList, error) {
	l := &TokenList{}
	l.known.Store(&[]hashedToken{})
	return l, l.Replace(list)
}

// Replace replaces the list. It ends the streams of tokens that are no longer in the list, or that now belong
// to another principal. If it returns an error, which is as that of [Tokens], the list does not change.
func (l *TokenList) Replace(list []Token) error {
	next := make([]hashedToken, 0, len(list))
	for i, t := range list {
		h, err := hashToken(i, t)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(next, func(k hashedToken) bool { return k.hash == h.hash }) {
			return spool.Errorf(spool.Invalid, "token %d is listed twice", i)
		}
		next = append(next, h)
	}
	l.replacing.Lock()
	defer l.replacing.Unlock()
	gone := slices.Clone(*l.known.Load())
	for i := range next {
		same := slices.IndexFunc(gone, next[i].same)
		if same < 0 {
			next[i].valid, next[i].withdraw = context.WithCancel(context.Background()) //nolint:fatcontext // each token has its own
			continue
		}
		next[i] = gone[same]
		gone = slices.Delete(gone, same, same+1)
	}
	l.known.Store(&next)
	for _, t := range gone {
		t.withdraw()
	}
	return nil
}

// hashedToken is a stored token.
type hashedToken struct {
	hash      [sha256.Size]byte
	principal Principal
	// credentials is a hash of both, which changes with either.
	credentials string
	// valid ends when withdraw is called, because the list no longer has the token.
	valid    context.Context //nolint:containedctx // the lifetime of the token
	withdraw context.CancelFunc
}

func (t hashedToken) same(other hashedToken) bool {
	return t.hash == other.hash && reflect.DeepEqual(t.principal, other.principal)
}

// hashToken checks the i-th token of a list and returns its stored form.
func hashToken(i int, t Token) (hashedToken, error) {
	out := hashedToken{principal: t.Principal}
	switch {
	case t.Token != "" && t.SHA256 != "":
		return out, spool.Errorf(spool.Invalid, "token %d has a Token and a SHA256", i)
	case t.SHA256 != "":
		hash, err := hex.DecodeString(t.SHA256)
		if err != nil || copy(out.hash[:], hash) != sha256.Size || len(hash) != sha256.Size {
			return out, spool.Errorf(spool.Invalid, "token %d: SHA256 must be 64 hexadecimal digits", i)
		}
	case t.Token == "", strings.ContainsAny(t.Token, " \t\r\n"):
		return out, spool.Errorf(spool.Invalid, "token %d must not be empty or have spaces", i)
	default:
		out.hash = sha256.Sum256([]byte(t.Token))
	}
	if err := spool.CheckID("tenant", string(t.Tenant)); err != nil {
		return out, spool.Errorf(spool.Invalid, "token %d: %s", i, spool.MessageOf(err))
	}
	if err := CheckSubject(t.Subject); err != nil {
		return out, spool.Errorf(spool.Invalid, "token %d: %s", i, spool.MessageOf(err))
	}
	for _, scope := range t.Scopes {
		if err := CheckScope(scope); err != nil {
			return out, spool.Errorf(spool.Invalid, "token %d: %s", i, spool.MessageOf(err))
		}
	}
	p := t.Principal
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %q %q %q %t %t %d", out.hash, p.Tenant, p.Subject, p.Scopes, p.Operator,
		p.AllThreads, p.Until.UnixNano()))
	out.credentials = hex.EncodeToString(sum[:16])
	return out, nil
}

// Authenticate implements [Authenticator]. It compares hashes, and always all of them. So its duration does
// not depend on how much of a guess was right, or of which token.
func (l *TokenList) Authenticate(r *http.Request) (Principal, error) {
	if len(r.Header["Authorization"]) > 1 { // a proxy may have checked the other one
		return Principal{}, spool.Errorf(spool.Unauthorized, "there is more than one Authorization header")
	}
	scheme, presented, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return Principal{}, spool.Errorf(spool.Unauthorized, "a bearer token is required")
	}
	hash := sha256.Sum256([]byte(strings.TrimSpace(presented)))
	known := *l.known.Load()
	found := -1
	for i := range known {
		if subtle.ConstantTimeCompare(hash[:], known[i].hash[:]) == 1 {
			found = i
		}
	}
	if found < 0 || ended(known[found].principal.Until) {
		return Principal{}, spool.Errorf(spool.Unauthorized, "the bearer token is not valid")
	}
	p := known[found].principal
	p.Valid, p.Credentials = known[found].valid, known[found].credentials
	return p, nil
}

// Vouch implements [Voucher].
func (l *TokenList) Vouch(ctx context.Context, credentials string) (context.Context, bool) {
	p, ok := l.Holder(ctx, credentials)
	return p.Valid, ok
}

// Holder returns the principal with these Credentials, and false if they are not good any more.
func (l *TokenList) Holder(_ context.Context, credentials string) (Principal, bool) {
	for _, t := range *l.known.Load() {
		if t.credentials == credentials && !ended(t.principal.Until) {
			p := t.principal
			p.Valid, p.Credentials = t.valid, t.credentials
			return p, true
		}
	}
	return Principal{}, false
}

// ended reports whether a time, unless it is zero, has come.
func ended(until time.Time) bool { return !until.IsZero() && !time.Now().Before(until) }

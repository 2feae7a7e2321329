package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// Scope is something that a principal may do.
type Scope string

// The scopes.
const (
	// ScopeRead allows snapshots, branches, streams, usage and the list of threads.
	ScopeRead Scope = "read"
	// ScopeWrite allows starting runs, editing turns, restoring branches and deleting threads.
	ScopeWrite Scope = "write"
	// ScopeApprove allows answering parks.
	ScopeApprove Scope = "approve"
	// ScopeStop allows stopping runs.
	ScopeStop Scope = "stop"
	// ScopeAdmin allows operating the server: what is below /api/admin. It includes no
	// other scope, and none includes it.
	ScopeAdmin Scope = "admin"
)

// AllScopes lists the scopes.
func AllScopes() []Scope {
	return []Scope{ScopeRead, ScopeWrite, ScopeApprove, ScopeStop, ScopeAdmin}
}

// Principal is who is asking.
type Principal struct {
	// Tenant owns all that the principal sees. Required.
	Tenant spool.Tenant
	// Subject names the person or program within the tenant. It is recorded with the
	// answers that it gives. Empty: unknown.
	Subject string
	// Scopes are what the principal may do. Empty: nothing.
	Scopes []Scope
	// Operator lets a principal with [ScopeAdmin] name another tenant in what is below
	// /api/admin, one in each request. It widens no other endpoint.
	Operator bool
}

// Authenticator tells who is asking. It is safe for concurrent use.
type Authenticator interface {
	// Authenticate returns who sent the request. It must not read the body. Missing and
	// bad credentials are an [spool.Unauthorized] error, and so is every error without a
	// code; the text of the latter is logged and not sent. A source of identities that
	// does not answer is an [spool.Unavailable] error.
	Authenticate(r *http.Request) (Principal, error)
}

// Anonymous returns an authenticator for which everybody is the tenant, with all
// scopes.
func Anonymous(tenant spool.Tenant) Authenticator { return anonymous{tenant} }

type anonymous struct{ tenant spool.Tenant }

func (a anonymous) Authenticate(*http.Request) (Principal, error) {
	return Principal{Tenant: a.tenant, Scopes: AllScopes()}, nil
}

// Token is a bearer token and who it stands for.
type Token struct {
	Principal

	// Token is what follows "Bearer " in the Authorization header. Required.
	Token string
}

// Tokens returns an authenticator that knows a fixed list of bearer tokens. It keeps
// only their hashes. It returns an [spool.Invalid] error, without the token in it, for
// an empty token, one that is listed twice, a wrong tenant and an unknown scope.
func Tokens(list []Token) (Authenticator, error) {
	known := make(tokens, 0, len(list))
	for i, t := range list {
		if t.Token == "" || strings.ContainsAny(t.Token, " \t\r\n") {
			return nil, spool.Errorf(spool.Invalid, "token %d must not be empty or have spaces", i)
		}
		if err := spool.CheckID("tenant", string(t.Tenant)); err != nil {
			return nil, spool.Errorf(spool.Invalid, "token %d: %s", i, spool.MessageOf(err))
		}
		for _, scope := range t.Scopes {
			if !slices.Contains(AllScopes(), scope) {
				return nil, spool.Errorf(spool.Invalid, "token %d: unknown scope %q", i, scope)
			}
		}
		hash := sha256.Sum256([]byte(t.Token))
		if slices.ContainsFunc(known, func(k hashedToken) bool { return k.hash == hash }) {
			return nil, spool.Errorf(spool.Invalid, "token %d is listed twice", i)
		}
		known = append(known, hashedToken{hash, t.Principal})
	}
	return known, nil
}

type hashedToken struct {
	hash      [sha256.Size]byte
	principal Principal
}

type tokens []hashedToken

// Authenticate compares hashes, and always with all of them: how long it takes says
// nothing about how much of a guess was right, or of which token.
func (t tokens) Authenticate(r *http.Request) (Principal, error) {
	scheme, given, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return Principal{}, spool.Errorf(spool.Unauthorized, "a bearer token is required")
	}
	hash := sha256.Sum256([]byte(strings.TrimSpace(given)))
	found := -1
	for i := range t {
		if subtle.ConstantTimeCompare(hash[:], t[i].hash[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return Principal{}, spool.Errorf(spool.Unauthorized, "the bearer token is not valid")
	}
	return t[found].principal, nil
}

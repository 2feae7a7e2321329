// Package access has the callers of a server: principals with their tenant and scopes, and the bearer tokens
// that identify them. It imports spool and no other package of this module. Package server has aliases of
// these names.
package access

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// Scope is something that a principal may do.
type Scope string

// The scopes.
const (
	// ScopeRead allows snapshots, branches, streams, usage and the list of threads.
	ScopeRead Scope = "read"
	// ScopeWrite allows starting runs, editing turns, restoring branches and deleting threads. It does not
	// allow stopping runs: a start that interrupts or rolls back, and the deletion of a thread with an active
	// run, also need [ScopeStop].
	ScopeWrite Scope = "write"
	// ScopeApprove allows answering parks.
	ScopeApprove Scope = "approve"
	// ScopeStop allows stopping runs, and together with [ScopeWrite] the actions that stop a run.
	ScopeStop Scope = "stop"
	// ScopeWebhooks allows managing the endpoints that are told of events. An approver of one also needs [ScopeApprove].
	ScopeWebhooks Scope = "webhooks"
	// ScopeSchedules allows managing schedules. Their runs have at most the scopes of who made the schedule.
	ScopeSchedules Scope = "schedules"
	// ScopeAdmin allows operating the server: the endpoints below /api/admin. It includes no other scope, and
	// no other scope includes it.
	ScopeAdmin Scope = "admin"
)

// AllScopes lists the scopes.
func AllScopes() []Scope {
	return []Scope{ScopeRead, ScopeWrite, ScopeApprove, ScopeStop, ScopeWebhooks, ScopeSchedules, ScopeAdmin}
}

// Principal is the caller of a request.
type Principal struct {
	// Tenant is the tenant whose data the principal sees. Required.
	Tenant spool.Tenant
	// Subject names the person or program within the tenant. It is recorded with the
	// answers that it gives. Empty: unknown.
	Subject string
	// Scopes are what the principal may do. Empty: nothing.
	Scopes []Scope
	// Operator lets a principal with [ScopeAdmin] name another tenant in what is below
	// /api/admin, one in each request. It widens no other endpoint.
	Operator bool
	// AllThreads lets the principal see and change all threads of its tenant where
	// OwnThreads of the server hides those of other subjects. [ScopeAdmin] does, too.
	AllThreads bool
	// Until is when the credentials end, and with them the streams that they have opened.
	// Zero: never.
	Until time.Time
	// Credentials identifies the credentials for a [Voucher]. Empty: nobody vouches for them.
	Credentials string
	// Valid ends when the credentials are withdrawn, and with them the streams that they have
	// opened. Nil: they never are.
	Valid context.Context //nolint:containedctx // the lifetime of the credentials, which is no call's
}

// CheckScope returns an [spool.Invalid] error unless the scope is one of [AllScopes] or a scope of your own,
// for limits of agents, models and tools: two words of letters, digits and the characters . _ - with a colon
// between them, such as "team:sales".
func CheckScope(s Scope) error {
	if !slices.Contains(AllScopes(), s) && !ownScope.MatchString(string(s)) {
		return spool.Errorf(spool.Invalid, "unknown scope %q", s)
	}
	return nil
}

var ownScope = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}:[A-Za-z0-9._-]{1,64}$`)

// ScopeNames returns the scopes in the engine's type.
func (p Principal) ScopeNames() []string {
	out := make([]string, len(p.Scopes))
	for i, s := range p.Scopes {
		out[i] = string(s)
	}
	return out
}

// Authenticator identifies the caller of a request. It is safe for concurrent use.
type Authenticator interface {
	// Authenticate returns the caller of the request. It must not read the body. For missing and wrong
	// credentials it returns an [spool.Unauthorized] error. An error without a code counts as that too; its
	// text is logged and not sent. If a source of identities does not answer, it returns an
	// [spool.Unavailable] error.
	Authenticate(r *http.Request) (Principal, error)
}

// Voucher is an [Authenticator] that still knows later whether credentials are good. The links and the tokens that a
// principal has made end with its credentials then. With another authenticator they end at [Principal.Until].
type Voucher interface {
	Authenticator
	// Vouch returns the Valid of the principal with these Credentials, and false if they are not good any more.
	Vouch(ctx context.Context, credentials string) (valid context.Context, ok bool)
}

// Anonymous returns an authenticator for which every caller is the tenant, with all
// scopes.
func Anonymous(tenant spool.Tenant) Everybody { return Everybody{tenant} }

// Everybody is an [Authenticator] for which every caller is the tenant.
type Everybody struct{ Tenant spool.Tenant }

// Authenticate implements [Authenticator].
func (a Everybody) Authenticate(*http.Request) (Principal, error) {
	return Principal{Tenant: a.Tenant, Scopes: AllScopes()}, nil
}

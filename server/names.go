package server

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/browser"
	"github.com/spoolhq/spool/server/internal/frontpage"
	"github.com/spoolhq/spool/server/probe"
	"github.com/spoolhq/spool/server/queue"
)

// Callers and their scopes: see package access.
type (
	// Scope is something that a principal may do.
	Scope = access.Scope
	// Principal is the caller of a request.
	Principal = access.Principal
	// Authenticator identifies the caller of a request. It is safe for concurrent use.
	Authenticator = access.Authenticator
	// Token is a bearer token and the principal that it stands for.
	Token = access.Token
	// TokenList is an [Authenticator] that knows a list of bearer tokens.
	TokenList = access.TokenList
)

// The scopes.
const (
	ScopeRead    = access.ScopeRead
	ScopeWrite   = access.ScopeWrite
	ScopeApprove = access.ScopeApprove
	ScopeStop    = access.ScopeStop
	ScopeAdmin   = access.ScopeAdmin
)

// AllScopes lists the scopes.
func AllScopes() []Scope { return access.AllScopes() }

// CheckScope returns an [spool.Invalid] error for what is no scope: see [access.CheckScope].
func CheckScope(s Scope) error { return access.CheckScope(s) }

// Tokens returns an authenticator that knows a list of bearer tokens: see [access.Tokens].
func Tokens(list []Token) (*TokenList, error) { return access.Tokens(list) }

// Anonymous returns an authenticator for which everybody is the tenant, with all scopes.
func Anonymous(tenant spool.Tenant) Authenticator { return access.Anonymous(tenant) }

// What a queue is known by: see package queue.
type (
	// QueueVerifier proves that a delivery comes from the queue.
	QueueVerifier = queue.Verifier
	// HeaderVerifier is a [QueueVerifier] that judges the headers before the body is read.
	HeaderVerifier = queue.HeaderVerifier
)

// ValidHeaderName reports whether name can be the name of a header: letters, digits and
// !#$%&'+-.^_`|~. The * that stands for all headers is none.
func ValidHeaderName(name string) bool { return browser.ValidHeaderName(name) }

// SchemeAuthenticator is an [Authenticator] that says how its credentials travel, for the
// OpenAPI document. One that does not is documented as bearer tokens.
type SchemeAuthenticator interface {
	Authenticator
	// Scheme describes the credentials. It is the same at each call.
	Scheme() rest.Scheme
}

// Fact is something about a server that a person wants to know, such as which models it has.
type Fact = frontpage.Fact

// Check reports whether something is as requests need it. An error's message, as of
// [spool.MessageOf], is shown to everybody. It has to return soon after ctx has ended.
type Check = probe.Check

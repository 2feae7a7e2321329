package server

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/browser"
	"github.com/spoolhq/spool/server/internal/frontpage"
	"github.com/spoolhq/spool/server/probe"
	"github.com/spoolhq/spool/server/stream"
	"github.com/spoolhq/spool/server/verify"
)

// Callers and their scopes: see package access.
type (
	// Scope is the right to a kind of action.
	Scope = access.Scope
	// Principal is the caller of a request.
	Principal = access.Principal
	// Authenticator identifies the caller of a request. It is safe for concurrent use.
	Authenticator = access.Authenticator
	// Voucher is an [Authenticator] that still knows later whether credentials are good.
	Voucher = access.Voucher
	// Token is a bearer token and its principal.
	Token = access.Token
	// TokenList is an [Authenticator] with a list of bearer tokens.
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

// CheckScope returns an [spool.Invalid] error for an invalid scope: see [access.CheckScope].
func CheckScope(s Scope) error { return access.CheckScope(s) }

// Tokens returns an authenticator with a list of bearer tokens: see [access.Tokens].
func Tokens(list []Token) (*TokenList, error) { return access.Tokens(list) }

// Anonymous returns an authenticator that identifies every caller as the tenant, with all scopes.
func Anonymous(tenant spool.Tenant) Authenticator { return access.Anonymous(tenant) }

// Verifiers of queue deliveries: see package verify.
type (
	// QueueVerifier proves that a delivery comes from the queue.
	QueueVerifier = verify.Verifier
	// HeaderVerifier is a [QueueVerifier] that judges the headers before the server reads the body.
	HeaderVerifier = verify.HeaderVerifier
)

// Outlived is the [http.ResponseWriter] of a middleware that lets event streams outlive their handlers: see
// [Config.NoStreamTakeover].
type Outlived = stream.Outlived

// ValidHeaderName reports whether name can be the name of a header: letters, digits and !#$%&'+-.^_`|~. It
// reports false for "*", which means all headers.
func ValidHeaderName(name string) bool { return browser.ValidHeaderName(name) }

// SchemeAuthenticator is an [Authenticator] that describes how callers send its credentials, for the OpenAPI
// document. Other authenticators are documented as bearer tokens.
type SchemeAuthenticator interface {
	Authenticator
	// Scheme describes the credentials. It is the same at each call.
	Scheme() rest.Scheme
}

// Fact is a fact about a server for a person, such as its models.
type Fact = frontpage.Fact

// Check returns an error if the server is not ready for requests. Everybody can read the error's message, as
// [spool.MessageOf] returns it. A check must return soon after ctx has ended.
type Check = probe.Check

package server

import (
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/browser"
)

// ValidHeaderName reports whether name can be the name of a header: letters, digits and !#$%&'+-.^_`|~. It
// reports false for "*", which means all headers.
func ValidHeaderName(name string) bool { return browser.ValidHeaderName(name) }

// SchemeAuthenticator is an [access.Authenticator] that describes how callers send its credentials, for the OpenAPI
// document. Other authenticators are documented as bearer tokens.
type SchemeAuthenticator interface {
	access.Authenticator
	// Scheme describes the credentials. It is the same at each call.
	Scheme() rest.Scheme
}

// Fact is a fact about a server for a person, such as its models.
type Fact struct{ Name, Text string }

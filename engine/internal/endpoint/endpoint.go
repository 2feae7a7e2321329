// Package endpoint keeps the endpoints that are told of events: those of the configuration, and the rows of the others.
// It touches the rows of the store and the secrets of endpoints.
package endpoint

import (
	signing "github.com/spoolhq/spool/server/verify/webhook"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// Endpoint is an endpoint with what an attempt needs.
type Endpoint struct {
	wire.WebhookEndpoint

	// Maker is the maker. Nil: its right is not looked up.
	Maker  *wire.Maker
	URL    string
	Signer *signing.Signer
	Render *webhook.Form
}

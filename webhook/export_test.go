package webhook

import (
	"net"
	"net/http"

	"github.com/spoolhq/spool/wire"
)

// SetResolver has a sender look names up elsewhere.
func SetResolver(s *Sender, r *net.Resolver) { s.api.guard.Resolver, s.listed.guard.Resolver = r, r }

// SetTransport has a sender post over another network.
func SetTransport(s *Sender, t http.RoundTripper) { s.api.transport, s.listed.transport = t, t }

// PlainMap is what a template sees of an event.
func PlainMap(e wire.WebhookEvent) map[string]any { return plainMap(e) }

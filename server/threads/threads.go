// Package threads has the endpoints that list and change threads, and show one: its history, events, usage
// and branches. It knows the engine, the streams and the call, and not the server.
package threads

import (
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/stream"
)

// Controller has the endpoints.
type Controller struct {
	Engine  *engine.Engine
	Streams *stream.Streams
	// Auth signs URLs.
	Auth *auth.Auth
	// Base is what the URLs of the server begin with: its public URL and its base path, or only the latter.
	Base string
	// Uploads are those under way.
	Uploads *Uploads
}

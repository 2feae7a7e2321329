// Package runs has the endpoints that start runs, wait for them, stop them and answer their questions. It
// knows the engine, the streams and the call, and not the server.
package runs

import (
	"context"
	"log/slog"
	"time"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/stream"
)

// Controller has the endpoints. All fields are required.
type Controller struct {
	Engine  *engine.Engine
	Streams *stream.Streams
	Starts  *Starts
	Events  *Events
	// MaxWait bounds how long a request waits for a run.
	MaxWait time.Duration
	// Draining ends when requests must stop waiting.
	Draining context.Context //nolint:containedctx // the lifetime of the server
	Log      *slog.Logger
}

package server

import (
	"context"
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

const (
	// mostValues is the maximum number of values and keys in a body.
	mostValues = 100_000
	// bodyTimeout is how long a client may take to send a body.
	bodyTimeout = time.Minute
	// unreadTimeout is how long a client may take to send a body that the server does not read.
	unreadTimeout = 10 * time.Second
)

// maxBody returns the maximum body of a route, which is at most [Config.MaxBodyBytes].
func (c Config) maxBody(bytes int64) int64 { return min(bytes, c.MaxBodyBytes) }

// tolerances are the tolerances of all endpoints.
func tolerances() []rest.Tolerance {
	return []rest.Tolerance{rest.AnyContentType, rest.LooseValues, rest.LooseParameters}
}

// bodyRules returns the rules for requests, and the limits of bodies. The contract is older than the
// controllers, and accepts more than rest does by default.
func (c Config) bodyRules(closing context.Context) []rest.APIOption {
	return []rest.APIOption{
		rest.InvalidStatus(http.StatusBadRequest), rest.Unknown(rest.IgnoreUnknown), rest.ValidateFirst(),
		rest.Tolerate(tolerances()...), rest.MaxBody(c.maxBody(call.SmallBody)),
		rest.BoundBodies(rest.BodyBounds{
			Memory: c.BodyMemory, Values: mostValues, Depth: spool.MaxJSONDepth,
			Timeout: bodyTimeout, UnreadTimeout: min(unreadTimeout, c.WriteTimeout/2), Closing: closing,
		}),
	}
}

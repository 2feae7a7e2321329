// Package redis counts the requests of throttles in Redis, so that all processes of a program
// count together. It needs Redis 5 or later, or a compatible server. A cluster works, because
// each call uses only one key.
package redis

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/spoolhq/spool/rest/throttle"
)

//go:embed take.lua
var takeSource string

var takeScript = goredis.NewScript(takeSource)

// Options are the options of [Counter]. The zero value is ready for use.
type Options struct {
	// Prefix begins all keys of the counter. Programs that share a server and count separately
	// need different prefixes. Defaults to "rest:throttle:".
	Prefix string
	// Timeout is how long a request waits for Redis before [throttle.OnFault] decides.
	// Defaults to 500 milliseconds.
	Timeout time.Duration
}

// Shared is a [throttle.Counter] in Redis.
type Shared struct {
	client  goredis.Scripter
	prefix  string
	timeout time.Duration
	// now is the clock of a test, used instead of the server's. It is nil otherwise.
	now func() time.Time
}

// Counter returns a counter over a client, a cluster client or a ring. Nil options mean the
// defaults. It panics without a client.
//
// Each request costs one round trip: it runs a script, which is loaded if it is missing. The
// script uses the server's clock, so the clocks of the processes do not matter. A Redis key is
// the prefix and a hash, without names or addresses. It expires when its window has passed.
//
// If a reply is lost, the request is refused but stays counted. So after a fault the count may
// be too high, but never too low.
func Counter(client goredis.Scripter, options *Options) *Shared {
	if client == nil {
		panic("redis: a counter needs a client")
	}
	c := &Shared{client: client, prefix: "rest:throttle:", timeout: 500 * time.Millisecond}
	if options != nil && options.Prefix != "" {
		c.prefix = options.Prefix
	}
	if options != nil && options.Timeout > 0 {
		c.timeout = options.Timeout
	}
	return c
}

// Take implements [throttle.Counter].
func (c *Shared) Take(ctx context.Context, key string, rate throttle.Rate) (throttle.State, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()

	reply, err := takeScript.Run(ctx, c.client, []string{c.key(key)},
		rate.Limit, rate.Window.Microseconds(), c.clock()).Int64Slice()
	if err != nil {
		return throttle.State{}, fmt.Errorf("run the script of the counter: %w", err)
	}
	if len(reply) != 4 {
		return throttle.State{}, fmt.Errorf("the script of the counter returned %d numbers, want 4", len(reply))
	}
	return throttle.State{
		Allowed:    reply[0] == 1,
		Remaining:  int(reply[1]),
		Reset:      time.Duration(reply[2]) * time.Microsecond,
		RetryAfter: time.Duration(reply[3]) * time.Microsecond,
	}, nil
}

// key returns the Redis key for a throttle's key. It is hashed, because ids of users may be of
// any length and should not be readable in a shared server.
func (c *Shared) key(key string) string {
	sum := sha256.Sum256([]byte(key))
	return c.prefix + base64.RawURLEncoding.EncodeToString(sum[:18])
}

func (c *Shared) clock() string {
	if c.now == nil {
		return ""
	}
	return strconv.FormatInt(c.now().UnixMicro(), 10)
}

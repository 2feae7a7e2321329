package nats

import (
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/spoolhq/spool"
)

// Connect returns a connection to the servers of url, which may be several with commas between them. It
// reconnects for ever, also if no server can be reached now. It gives up a
// server that does not take data for 2 s, or is silent for 30 s. The options, such as credentials or TLS, come after
// these settings. The caller closes the connection.
func Connect(url string, options ...natsgo.Option) (*natsgo.Conn, error) {
	conn, err := natsgo.Connect(url, append([]natsgo.Option{
		natsgo.Name("spool"),
		natsgo.RetryOnFailedConnect(true),
		natsgo.MaxReconnects(-1),
		natsgo.ReconnectWait(250 * time.Millisecond),
		natsgo.ReconnectJitter(250*time.Millisecond, time.Second),
		natsgo.PingInterval(10 * time.Second),
		natsgo.MaxPingsOutstanding(2),
		natsgo.FlusherTimeout(2 * time.Second),
	}, options...)...)
	if err != nil {
		return nil, spool.Wrap(spool.Unavailable, "connect to NATS", err)
	}
	return conn, nil
}

// checkConn returns an error for a connection that gives up some day.
func checkConn(conn *natsgo.Conn) error {
	if conn == nil {
		return spool.Errorf(spool.Invalid, "a connection to NATS is required")
	}
	if !conn.Opts.AllowReconnect || conn.Opts.MaxReconnect >= 0 {
		return spool.Errorf(spool.Invalid,
			"the connection to NATS must reconnect for ever: use nats.Connect, or the option MaxReconnects(-1)")
	}
	return nil
}

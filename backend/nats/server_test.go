package nats

import (
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"

	"github.com/spoolhq/spool/internal/testing/testwait"
)

// testServer is a NATS server in this process, which can be stopped and started again under the same address.
type testServer struct {
	t *testing.T
	*server.Server

	options server.Options
}

// startServer starts a server of its own for the test, with JetStream in a folder of its own.
func startServer(t *testing.T) *testServer {
	t.Helper()
	s := &testServer{t: t, options: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
	}}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *testServer) start() {
	s.t.Helper()
	options := s.options
	made, err := server.NewServer(&options)
	if err != nil {
		s.t.Fatal(err)
	}
	made.Start()
	if !made.ReadyForConnections(testwait.Limit) {
		s.t.Fatal("the server does not start")
	}
	_, port, err := net.SplitHostPort(made.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	if s.options.Port, err = strconv.Atoi(port); err != nil {
		s.t.Fatal(err)
	}
	s.Server = made
}

func (s *testServer) stop() {
	s.Shutdown()
	s.WaitForShutdown()
}

// connect returns a connection that reconnects quickly.
func (s *testServer) connect() *natsgo.Conn {
	s.t.Helper()
	conn, err := Connect(s.ClientURL(), natsgo.ReconnectWait(5*time.Millisecond), natsgo.ReconnectJitter(0, 0))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(conn.Close)
	return conn
}

// node returns the Live of one more process.
func (s *testServer) node(o *LiveOptions) *Live {
	s.t.Helper()
	l, err := NewLive(s.connect(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(l.Stop)
	return l
}

package command

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A client that has sent half a body does not make a failure of a shutdown, and does not hold it
// up for longer than it may take.
func TestShutdownHalfSentBody(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	conn, err := (&net.Dialer{}).DialContext(patiently(t), "tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn,
		"POST /api/agent/run HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"prompt\":", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	p.get(t, "/healthz") // the request before it has come
	began := time.Now()
	if code := p.signal(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

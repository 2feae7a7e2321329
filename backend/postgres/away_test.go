package postgres

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
)

// An error of Open says whether to wait for the server: one that is down, starts or hangs may come back. A wrong
// password and a missing database stay wrong.
func TestAway(t *testing.T) {
	t.Parallel()

	good := pgtest.Database(t, nil)
	refused := listener(t)
	_ = refused.Close()
	for name, c := range map[string]struct {
		at   func(u *url.URL)
		want bool
	}{
		"Refused":  {at: func(u *url.URL) { u.Host = refused.Addr().String() }, want: true},
		"Hangs":    {at: func(u *url.URL) { u.Host = listener(t).Addr().String() }, want: true},
		"Closes":   {at: func(u *url.URL) { u.Host = refusing(t, "").Addr().String() }, want: true},
		"Starts":   {at: func(u *url.URL) { u.Host = refusing(t, "57P03").Addr().String() }, want: true},
		"Full":     {at: func(u *url.URL) { u.Host = refusing(t, "53300").Addr().String() }, want: true},
		"Password": {at: func(u *url.URL) { u.Host = refusing(t, "28P01").Addr().String() }},
		"NoSocket": {at: func(u *url.URL) { u.Host, u.RawQuery = "", "host="+filepath.Join(t.TempDir(), "run") }, want: true},
		"NoHost":   {at: func(u *url.URL) { u.Host = "nowhere.invalid:5432" }},
		"Database": {at: func(u *url.URL) { u.Path = "/missing" }},
		"User":     {at: func(u *url.URL) { u.User = url.UserPassword("nobody", "wrong") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := url.Parse(good)
			if err != nil {
				t.Fatal(err)
			}
			c.at(u)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			db, err := Open(ctx, u.String(), &Options{Timeout: time.Second})
			if err == nil {
				_ = db.Close()
				t.Fatal("it was opened")
			}
			if spool.CodeOf(err) != spool.Unavailable || Away(err) != c.want {
				t.Errorf("got error %v (%s), away %t, want %t", err, spool.CodeOf(err), Away(err), c.want)
			}
		})
	}
}

// listener accepts nothing.
func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// refusing closes each connection, after an error with the code unless that is empty.
func refusing(t *testing.T, code string) net.Listener {
	t.Helper()
	l := listener(t)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1<<10)) // what the client says first
			if code != "" {
				fields := "SFATAL\x00C" + code + "\x00Mno\x00\x00"
				_, _ = conn.Write(append([]byte{'E', 0, 0, 0, byte(4 + len(fields))}, fields...))
			}
			_ = conn.Close()
		}
	}()
	return l
}

// A timeout behind a pooler sends no cancel request. Without a pooler it does.
func TestCancelRequests(t *testing.T) {
	t.Parallel()

	for _, pooler := range []bool{false, true} {
		o := &Options{Pooler: pooler, Timeout: time.Second}
		config, err := poolConfig(pgtest.Database(t, nil), o)
		if err != nil {
			t.Fatal(err)
		}
		var canceled atomic.Int64
		asked := make(chan struct{}, 100)
		config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return &startConn{Conn: conn, canceled: &canceled, asked: asked}, err
		}
		db, err := open(t.Context(), config, o)
		if err != nil {
			t.Fatal(err)
		}
		err = db.read(t.Context(), "SELECT 1::bigint FROM pg_sleep(4)", func(*row) {})
		if spool.CodeOf(err) != spool.Unavailable {
			t.Errorf("pooler %t: got error %v, want a timeout", pooler, err)
		}
		if !pooler {
			<-asked
		}
		if err := db.Close(); err != nil { // waits for what follows a timeout
			t.Error(err)
		}
		if n := canceled.Load(); (n > 0) == pooler {
			t.Errorf("pooler %t: %d cancel requests", pooler, n)
		}
	}
}

// startConn counts the cancel requests among the first messages of connections.
type startConn struct {
	net.Conn

	canceled *atomic.Int64
	asked    chan struct{}
}

func (c *startConn) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte{0, 0, 0, 16, 4, 210, 22, 46}) {
		c.canceled.Add(1)
		c.asked <- struct{}{}
	}
	return c.Conn.Write(b)
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is how long a client waits for something that should come within seconds.
const patience = time.Minute

// crowd is many clients of one event stream. Each reads bytes and only counts marks, because anything
// more would take CPU from the server.
type crowd struct {
	conns []net.Conn
	want  int64

	ready, done sync.WaitGroup
	first       atomic.Int64 // the time of the first mark, in nanoseconds since began
	began       time.Time
	failure     atomic.Pointer[error]
}

// join connects n clients that each wait for want marks, and returns when each has its first event. If
// want is zero, the clients only stay connected.
func join(addr, path string, n int, want int64) (*crowd, error) {
	c := &crowd{want: want, began: time.Now()}
	head := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", path, addr)
	for range n {
		conn, err := dial(addr)
		if err != nil {
			return nil, errors.Join(err, c.leave())
		}
		c.conns = append(c.conns, conn)
		_ = conn.SetDeadline(time.Now().Add(patience))
		if _, err := conn.Write(head); err != nil {
			return nil, errors.Join(err, c.leave())
		}
		c.ready.Add(1)
		c.done.Go(func() { c.read(conn) })
	}
	c.ready.Wait()
	if err := c.failed(); err != nil {
		return nil, errors.Join(err, c.leave())
	}
	return c, nil
}

// dial connects from another address of this machine when the ports of one are used up.
func dial(addr string) (net.Conn, error) {
	conn, err := net.Dial("tcp", addr)
	for last := byte(2); errors.Is(err, syscall.EADDRNOTAVAIL) && last < 10; last++ {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, last)}}
		conn, err = from.Dial("tcp", addr)
	}
	return conn, err
}

// read counts marks until it has all that it waits for.
func (c *crowd) read(conn net.Conn) {
	ready := sync.OnceFunc(c.ready.Done)
	defer ready()
	buf := make([]byte, 8<<10)
	n, err := conn.Read(buf)
	if err != nil || !bytes.HasPrefix(buf[:n], []byte("HTTP/1.1 200")) {
		c.fail(fmt.Errorf("connect: %.80s (%w)", buf[:n], err))
		return
	}
	ended := bytes.Contains(buf[:n], []byte("STATE_CHANGE"))
	for got := int64(0); ; {
		if ended {
			ready()
		}
		if c.want > 0 && got >= c.want {
			return
		}
		n, err := conn.Read(buf)
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				c.fail(fmt.Errorf("%d of %d came: %w", got, c.want, err))
			}
			return
		}
		ended = ended || bytes.Contains(buf[:n], []byte("STATE_CHANGE"))
		if marks := bytes.Count(buf[:n], []byte(mark)); marks > 0 {
			c.first.CompareAndSwap(0, int64(time.Since(c.began)))
			got += int64(marks)
		}
	}
}

// rate waits for all marks and returns how many came per second, from the first one.
func (c *crowd) rate() (float64, error) {
	c.done.Wait()
	took := time.Since(c.began) - time.Duration(c.first.Load())
	return float64(c.want*int64(len(c.conns))) / took.Seconds(), c.failed()
}

// leave disconnects all.
func (c *crowd) leave() error {
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	c.done.Wait()
	return errors.Join(errs...)
}

func (c *crowd) fail(err error) { c.failure.CompareAndSwap(nil, &err) }

func (c *crowd) failed() error {
	if err := c.failure.Load(); err != nil {
		return *err
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/internal/testing/testserver"
)

// pgServer is a PostgreSQL that this process has started.
type pgServer struct {
	dir    string
	server *testserver.Server
	url    string
	proxy  *proxy
	admin  *pgx.Conn
}

// startPostgres starts a server that waits for the disk, with the settings of a production server, and without whole
// pages in the WAL: what they add depends on the time between checkpoints, and is measured apart.
func startPostgres(ctx context.Context) (_ *pgServer, err error) {
	runtime.LockOSThread() // the kernel ends the server together with the thread that has started it
	binary := testserver.FindPostgres(testserver.Path(os.Getenv("PATH")), testserver.PostgresVersions)
	if binary == "" {
		return nil, errors.New("no postgres (apt-get install postgresql)")
	}
	account, err := testserver.Unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := testserver.Directory("", "spool-units-*", account)
	if err != nil {
		return nil, err
	}
	in := testserver.Site{Dir: dir, Account: account}
	settings := []string{"checkpoint_timeout=1h", "max_wal_size=8GB", "shared_buffers=512MB", "autovacuum=off"}
	running, err := testserver.Launch(ctx, testserver.Postgres(binary, in, testserver.Cluster{Settings: settings}), in)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	pg := &pgServer{dir: dir, server: running, url: running.Address}
	if pg.admin, err = pgx.Connect(ctx, pg.url); err == nil {
		err = pg.wholePages(ctx, false)
	}
	if err == nil {
		pg.proxy, err = newProxy(ctx, pg.url)
	}
	if err != nil {
		pg.stop()
		return nil, err
	}
	return pg, nil
}

func (pg *pgServer) stop() {
	pg.server.Stop()
	_ = os.RemoveAll(pg.dir)
}

func (*pgServer) open(ctx context.Context, url string) (*postgres.DB, error) {
	o := pgOptions
	return postgres.Open(ctx, url, &o)
}

// used returns what was used so far.
func (pg *pgServer) used(ctx context.Context) (c cost, err error) {
	err = pg.admin.QueryRow(ctx, `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8,
		coalesce(sum(pg_total_relation_size(c.oid)) FILTER (WHERE c.relname NOT LIKE 'stream%'), 0)::float8,
		coalesce(sum(pg_total_relation_size(c.oid)) FILTER (WHERE c.relname LIKE 'stream%'), 0)::float8
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'spool' AND c.relkind = 'r'`).Scan(
		&c.Written, &c.Kept, &c.Passing,
	)
	if err != nil {
		return c, err
	}
	c.Engine, c.Trips = cpu(), float64(pg.proxy.trips.Load())
	c.Database, err = treeCPU(pg.server.Pid())
	return c, err
}

// treeCPU returns the CPU time of a process and its children, those that have ended included.
func treeCPU(pid int) (seconds float64, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	const ticks = 100 // in a second, on Linux
	for _, entry := range entries {
		text, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // no process, or one that has ended
		}
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after) // from the state on
		if len(fields) < 15 || entry.Name() != strconv.Itoa(pid) && fields[1] != strconv.Itoa(pid) {
			continue
		}
		for i, field := range fields[11:15] { // user, system, and both of children that have ended
			if n, err := strconv.ParseFloat(field, 64); err == nil && (i < 2 || entry.Name() == strconv.Itoa(pid)) {
				seconds += n / ticks
			}
		}
	}
	return seconds, nil
}

// wholePages says whether pages go into the WAL as a whole after a checkpoint, and waits until that is so.
func (pg *pgServer) wholePages(ctx context.Context, on bool) error {
	for _, sql := range []string{
		fmt.Sprintf("ALTER SYSTEM SET full_page_writes = %t", on), "SELECT pg_reload_conf()", "SELECT pg_sleep(1)",
		"CHECKPOINT",
	} {
		if _, err := pg.admin.Exec(ctx, sql); err != nil {
			return err
		}
	}
	var got bool
	if err := pg.admin.QueryRow(ctx, "SELECT current_setting('full_page_writes')::bool").Scan(&got); err != nil {
		return err
	}
	if got != on {
		return errors.New("the server has not taken the setting full_page_writes")
	}
	return nil
}

// cold returns the WAL of a run of one step directly after a checkpoint, with whole pages.
func (pg *pgServer) cold(ctx context.Context, b *bed) (bytes float64, err error) {
	const rounds = 5
	if err := pg.wholePages(ctx, true); err != nil {
		return 0, err
	}
	for range rounds {
		if _, err := pg.admin.Exec(ctx, "CHECKPOINT"); err != nil {
			return 0, err
		}
		used, err := b.run(1, "0 1 0")
		if err != nil {
			return 0, err
		}
		bytes += used.Written / rounds
	}
	return bytes, nil
}

// notify returns the CPU time of the server for a notification and a listener, which is the difference between many
// listeners and few, and for sending one.
func (pg *pgServer) notify(ctx context.Context) (listen, send float64, err error) {
	const few, many, times = 2, 18, 3000
	var took []float64
	for _, n := range []int{few, many} {
		var listeners []*pgx.Conn
		for range n {
			conn, err := pgx.Connect(ctx, pg.url)
			if err != nil {
				return 0, 0, err
			}
			defer conn.Close(ctx)
			if _, err := conn.Exec(ctx, "LISTEN units"); err != nil {
				return 0, 0, err
			}
			listeners = append(listeners, conn)
		}
		before, err := treeCPU(pg.server.Pid())
		if err != nil {
			return 0, 0, err
		}
		received := make(chan error, n)
		for _, conn := range listeners {
			go func() {
				for range times {
					if _, err := conn.WaitForNotification(ctx); err != nil {
						received <- err
						return
					}
				}
				received <- nil
			}()
		}
		for i := range times {
			if _, err := pg.admin.Exec(
				ctx, "SELECT pg_notify('units', $1)", strconv.Itoa(i)+strings.Repeat("x", 200),
			); err != nil {
				return 0, 0, err
			}
		}
		for range listeners {
			if err := <-received; err != nil {
				return 0, 0, err
			}
		}
		after, err := treeCPU(pg.server.Pid())
		if err != nil {
			return 0, 0, err
		}
		took = append(took, after-before)
		for _, conn := range listeners {
			_ = conn.Close(ctx)
		}
	}
	listen = max(0, took[1]-took[0]) / (many - few) / times
	return listen, max(0, took[0]/times-few*listen), nil
}

// proxy counts round trips: answers to what was sent since the last one.
type proxy struct {
	url   string
	trips atomic.Int64
}

func newProxy(ctx context.Context, address string) (*proxy, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	target := u.Host
	u.Host = listener.Addr().String()
	p := &proxy{url: u.String()}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(ctx, client, target)
		}
	}()
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	return p, nil
}

func (p *proxy) serve(ctx context.Context, client net.Conn, target string) {
	defer client.Close()
	to, err := new(net.Dialer).DialContext(ctx, "tcp", target)
	if err != nil {
		return
	}
	defer to.Close()
	var asked atomic.Bool
	go func() {
		_, _ = io.Copy(to, noted{client, func() { asked.Store(true) }})
		_ = to.Close()
	}()
	_, _ = io.Copy(client, noted{to, func() {
		if asked.Swap(false) {
			p.trips.Add(1)
		}
	}})
}

// noted is a reader that tells of each read.
type noted struct {
	io.Reader

	read func()
}

// Read implements [io.Reader].
func (n noted) Read(b []byte) (int, error) {
	count, err := n.Reader.Read(b)
	if count > 0 {
		n.read()
	}
	return count, err
}

// machine says on what was measured.
func machine() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	name := "unknown CPU"
	for line := range strings.Lines(string(text)) {
		if what, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(what) == "model name" {
			name = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%s, %d cores, %s", name, runtime.NumCPU(), runtime.Version())
}

// now is the date of a measurement.
func now() string { return time.Now().UTC().Format(time.DateOnly) }

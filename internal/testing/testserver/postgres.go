//go:build unix

package testserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// PostgresUser is the only account of a cluster, a superuser with a password that nobody else knows.
const PostgresUser = "spool"

// PostgresVersions is the pattern of the folders that hold a version of PostgreSQL each, as Debian has them.
const PostgresVersions = "/usr/lib/postgresql/*/bin"

// Cluster is how a PostgreSQL is set up.
type Cluster struct {
	// NoSync is for tests that say nothing about durability or speed: nothing is on the disk when a commit returns, and
	// a crash may leave a cluster that cannot be read. Its account logs in with MD5 instead of SCRAM, whose 4,096
	// rounds take a quarter of the time of short tests under the race detector. It plans each statement of a
	// connection once, and not for each of the first five calls: connections of tests live for a few calls.
	NoSync bool
	// Password is that of the account. Empty: a random one.
	Password string
	// Settings are further ones, each "name=value".
	Settings []string
}

func (c Cluster) settings() []string {
	if !c.NoSync {
		return c.Settings
	}
	return append(
		[]string{"fsync=off", "synchronous_commit=off", "full_page_writes=off", "plan_cache_mode=force_generic_plan"},
		c.Settings...,
	)
}

// login is the method of initdb.
func (c Cluster) login() string {
	if c.NoSync {
		return "md5"
	}
	return "scram-sha-256"
}

// FindPostgres returns the server's path. The one in path comes first, then the newest of those that versions,
// a pattern, has. It counts only with its initdb beside it.
func FindPostgres(path []string, versions string) string {
	dirs := path
	found, err := filepath.Glob(versions)
	if err == nil {
		slices.SortFunc(found, func(a, b string) int { return major(b) - major(a) })
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		binary, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err == nil && executable(binary) && executable(initdb(binary)) {
			return binary
		}
	}
	return ""
}

// major returns the version of a folder "<version>/bin". Those before 10 had two parts.
func major(dir string) int {
	version, _, _ := strings.Cut(filepath.Base(filepath.Dir(dir)), ".")
	n, err := strconv.Atoi(version)
	if err != nil {
		return 0
	}
	return n
}

func initdb(postgres string) string { return filepath.Join(filepath.Dir(postgres), "initdb") }

// Postgres is a new cluster, whose Address names the database "postgres".
func Postgres(binary string, in Site, c Cluster) Program {
	data := filepath.Join(in.Dir, "data")
	password := cmp.Or(c.Password, rand.Text())
	return Program{
		Binary:  binary,
		Prepare: func(ctx context.Context) error { return createCluster(ctx, binary, data, password, c.login(), in) },
		Args:    func(port int) []string { return postgresArgs(data, port, c.settings()) },
		Ready: func(_ context.Context, pid, _ int) bool {
			return postgresReady(filepath.Join(data, "postmaster.pid"), pid)
		},
		Address: func(port int) string { return postgresAddress(password, port) },
		// Connections are cut, then all is dropped at once.
		Stop: []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT},
	}
}

func postgresAddress(password string, port int) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(PostgresUser, password),
		Host: fmt.Sprintf("127.0.0.1:%d", port), Path: "/postgres", RawQuery: "sslmode=disable",
	}
	return u.String()
}

// createCluster makes the data folder. Its superuser has a password although only this
// machine can connect: a superuser of PostgreSQL can run programs.
func createCluster(ctx context.Context, binary, data, password, login string, in Site) error {
	file, err := in.WriteFile("password", password+"\n")
	if err != nil {
		return err
	}
	cmd := Confined(exec.CommandContext(ctx, initdb(binary), //nolint:gosec // beside the server that a test uses
		"--pgdata="+data, "--username="+PostgresUser, "--pwfile="+file, "--auth="+login,
		"--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"), in, syscall.SIGKILL)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w; it said\n%s", err, lastLines(string(out)))
	}
	return nil
}

func postgresArgs(data string, port int, settings []string) []string {
	args := []string{"-D", data}
	for _, setting := range append([]string{
		"listen_addresses=127.0.0.1",
		"port=" + strconv.Itoa(port),
		"unix_socket_directories=",
		// Packages are tested side by side, with a pool for each test.
		"max_connections=300",
	}, settings...) {
		args = append(args, "-c", setting)
	}
	return args
}

// postgresReady reads what pg_ctl reads: the server's process in the first line, and in
// the eighth "ready" as soon as connections are accepted.
func postgresReady(file string, pid int) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	lines := strings.Split(string(text), "\n")
	return len(lines) >= 8 && lines[0] == strconv.Itoa(pid) && strings.TrimSpace(lines[7]) == "ready"
}

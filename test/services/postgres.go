//go:build unix

package main

import (
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

// postgres is a new cluster, whose only account is a superuser with a random password.
var postgres = service{
	name:     "PostgreSQL",
	variable: "SPOOL_TEST_POSTGRES",
	absent:   "no postgres binary; apt-get install postgresql",
	find:     findPostgres,
	plan:     planPostgres,
}

const postgresUser = "spool"

// findPostgres returns the server's path. The one in PATH comes first, then the newest
// that Debian's packages installed. It counts only with its initdb beside it.
func findPostgres(h host) string {
	dirs := h.path()
	versions, err := filepath.Glob(h.versions)
	if err == nil {
		slices.SortFunc(versions, func(a, b string) int { return major(b) - major(a) })
		dirs = append(dirs, versions...)
	}
	for _, dir := range dirs {
		binary, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err == nil && executable(binary) && executable(initdb(binary)) {
			return binary
		}
	}
	return ""
}

// major returns the version of a directory "<version>/bin". Those before 10 had two parts.
func major(dir string) int {
	version, _, _ := strings.Cut(filepath.Base(filepath.Dir(dir)), ".")
	n, err := strconv.Atoi(version)
	if err != nil {
		return 0
	}
	return n
}

func initdb(postgres string) string { return filepath.Join(filepath.Dir(postgres), "initdb") }

func planPostgres(binary string, in site) program {
	data := filepath.Join(in.dir, "data")
	password := rand.Text()
	return program{
		binary:  binary,
		prepare: func(ctx context.Context) error { return createCluster(ctx, binary, data, password, in) },
		args:    func(port int) []string { return postgresArgs(data, port) },
		ready: func(_ context.Context, pid, _ int) bool {
			return postgresReady(filepath.Join(data, "postmaster.pid"), pid)
		},
		address: func(port int) string {
			u := url.URL{
				Scheme: "postgres", User: url.UserPassword(postgresUser, password),
				Host: fmt.Sprintf("127.0.0.1:%d", port), Path: "/postgres", RawQuery: "sslmode=disable",
			}
			return u.String()
		},
		// Connections are cut, then all is dropped at once.
		stop: []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT},
	}
}

// createCluster makes the data directory. Its superuser has a password although only this
// machine can connect: a superuser of PostgreSQL can run programs.
func createCluster(ctx context.Context, binary, data, password string, in site) error {
	file := filepath.Join(in.dir, "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	if in.account != nil {
		if err := os.Chown(file, int(in.account.Uid), int(in.account.Gid)); err != nil {
			return err
		}
	}
	cmd := confined(exec.CommandContext(ctx, initdb(binary),
		"--pgdata="+data, "--username="+postgresUser, "--pwfile="+file, "--auth=scram-sha-256",
		"--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"), in, syscall.SIGKILL)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w; it said\n%s", err, lastLines(string(out)))
	}
	return nil
}

func postgresArgs(data string, port int) []string {
	args := []string{"-D", data}
	for _, setting := range []string{
		"listen_addresses=127.0.0.1",
		"port=" + strconv.Itoa(port),
		"unix_socket_directories=",
		// Packages are tested side by side, with a pool for each test.
		"max_connections=300",
		// For tests only: nothing is on the disk when a commit returns, and a crash may
		// leave a cluster that cannot be read. What these tests say about durability or
		// about speed is therefore not true of a server with its own settings.
		"fsync=off",
		"synchronous_commit=off",
		"full_page_writes=off",
	} {
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

//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/internal/testing/testserver"
)

// asCommand is the variable that has the test binary be the command itself.
const asCommand = "SPOOL_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// surroundings is a host without addresses, whose temporary files can be looked at, and
// which finds only the programs that are linked into its one directory.
func surroundings(t *testing.T, programs ...string) (host, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()

	bin := t.TempDir()
	for _, program := range programs {
		if err := os.Symlink(program, filepath.Join(bin, filepath.Base(program))); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	return host{environ: []string{"PATH=" + bin}, stdout: &stdout, stderr: &stderr}, &stdout, &stderr
}

// installed returns the programs of this machine, or ends the test.
func installed(t *testing.T) (postgresBinary, redisBinary string) {
	t.Helper()

	h := host{environ: os.Environ(), versions: testserver.PostgresVersions}
	postgresBinary, redisBinary = postgres.find(h), redis.find(h)
	for _, s := range services {
		if s.find(h) != "" {
			continue
		}
		if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
			t.Fatalf("%s and SPOOL_TEST_REQUIRE is 1", s.absent)
		}
		t.Skip(s.absent)
	}
	return postgresBinary, redisBinary
}

// addresses reads the lines of a command that printed its environment.
func addresses(out string) map[string]string {
	found := make(map[string]string)
	for line := range strings.Lines(out) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), "="); strings.HasPrefix(name, "SPOOL_TEST_") {
			found[name] = value
		}
	}
	return found
}

func listens(t *testing.T, address string) bool {
	t.Helper()

	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp4", u.Host)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// The command finds both servers at work, its exit status is passed on, and afterwards
// nothing is left.
func TestServers(t *testing.T) {
	t.Parallel()

	postgresBinary, redisBinary := installed(t)
	h, stdout, stderr := surroundings(t)
	h.environ = []string{
		"PATH=" + filepath.Dir(postgresBinary) + ":" + filepath.Dir(redisBinary) + ":" + os.Getenv("PATH"),
		"SPOOL_TEST_REDIS=", // empty is not set
	}
	code := run(t.Context(), []string{"--", "bash", "-c", `
		env
		psql "$SPOOL_TEST_POSTGRES" -Atc "select current_user, current_setting('server_encoding')"
		port=${SPOOL_TEST_REDIS##*:}
		exec 3<>"/dev/tcp/127.0.0.1/${port%/0}"
		echo PING >&3
		read -r line <&3
		echo "$line"
		exit 7`}, h)
	if code != 7 {
		t.Fatalf("exit status %d, not the command's 7\n%s", code, stderr)
	}
	for _, want := range []string{"spool|UTF8\n", "+PONG\r\n"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the servers' answers lack %q\n%s", want, stdout)
		}
	}
	found := addresses(stdout.String())
	if names := slices.Sorted(maps.Keys(found)); !cmp.Equal(names, []string{"SPOOL_TEST_POSTGRES", "SPOOL_TEST_REDIS"}) {
		t.Errorf("set are %v", names)
	}
	for name, address := range found {
		if listens(t, address) {
			t.Errorf("%s: somebody still listens at %s", name, address)
		}
	}
	if !strings.Contains(stderr.String(), "services: stopped") {
		t.Errorf("said was\n%s", stderr)
	}
}

// A signal ends the command and all that it started, and then the servers.
func TestInterrupted(t *testing.T) {
	t.Parallel()

	_, redisBinary := installed(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()

			temp := t.TempDir()
			if err := os.Chmod(filepath.Dir(temp), 0o755); err != nil { // for the servers' account
				t.Fatal(err)
			}
			stdout, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdout.Close()
			if err := stdout.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], "--", "sh", "-c", `
				sh -c 'trap "" INT TERM; echo "$SPOOL_TEST_REDIS"; exec sleep 600' &
				wait`)
			cmd.Env = []string{
				asCommand + "=1", "TMPDIR=" + temp, "SPOOL_TEST_POSTGRES=postgres://elsewhere",
				"PATH=" + filepath.Dir(redisBinary) + ":" + os.Getenv("PATH"),
			}
			var stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = w, &stderr
			cmd.WaitDelay = time.Minute // after which what holds stderr is not waited for
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			_ = w.Close()
			out := bufio.NewReader(stdout)
			address, err := out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			address = strings.TrimSpace(address)
			if !listens(t, address) {
				t.Fatalf("nobody listens at %q", address)
			}

			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != exitSignal+int(signal) {
				t.Errorf("exit status %d, want %d\n%s", code, exitSignal+int(signal), &stderr)
			}
			if listens(t, address) {
				t.Error("Redis is still there")
			}
			// Its end comes when the last process that could write to it is gone.
			if rest, err := io.ReadAll(out); err != nil || len(rest) != 0 {
				t.Errorf("the command's output goes on: %q, %v", rest, err)
			}
			left, err := filepath.Glob(filepath.Join(temp, "spool-services-*"))
			if err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestNotInstalled(t *testing.T) {
	t.Parallel()

	t.Run("Skipped", func(t *testing.T) {
		t.Parallel()

		h, stdout, stderr := surroundings(t)
		if code := run(t.Context(), []string{"--", "env"}, h); code != 0 {
			t.Errorf("exit status %d", code)
		}
		if found := addresses(stdout.String()); len(found) != 0 {
			t.Errorf("set are %v", found)
		}
		want := "skipped: tests against Redis (no redis-server or valkey-server binary; apt-get install redis-server)\n" +
			"skipped: tests against PostgreSQL (no postgres binary; apt-get install postgresql)\n"
		if diff := cmp.Diff(want, stderr.String()); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("Required", func(t *testing.T) {
		t.Parallel()

		h, stdout, stderr := surroundings(t)
		h.environ = append(h.environ, "SPOOL_TEST_REQUIRE=1", "SPOOL_TEST_REDIS=redis://elsewhere")
		if code := run(t.Context(), []string{"--", "env"}, h); code != exitOwn || stdout.Len() != 0 {
			t.Errorf("exit status %d, and the command wrote %q", code, stdout)
		}
		if want := "PostgreSQL is required: no postgres binary"; !strings.Contains(stderr.String(), want) {
			t.Errorf("said was\n%s", stderr)
		}
	})
}

// An address that is given is used, although the program is there.
func TestGiven(t *testing.T) {
	t.Parallel()

	given := map[string]string{"SPOOL_TEST_POSTGRES": "postgres://elsewhere", "SPOOL_TEST_REDIS": "redis://elsewhere"}
	h, stdout, stderr := surroundings(t, "/bin/false")
	for _, program := range []string{"postgres", "initdb", "redis-server"} {
		if err := os.Symlink("/bin/false", filepath.Join(h.path()[0], program)); err != nil {
			t.Fatal(err)
		}
	}
	for name, address := range given {
		h.environ = append(h.environ, name+"="+address)
	}
	if code := run(t.Context(), []string{"--", "env"}, h); code != 0 {
		t.Fatalf("exit status %d\n%s", code, stderr)
	}
	if diff := cmp.Diff(given, addresses(stdout.String())); diff != "" {
		t.Error(diff)
	}
}

func TestExitStatus(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		args []string
		want int
	}{
		{nil, exitOwn},
		{[]string{"true"}, exitOwn},
		{[]string{"--"}, exitOwn},
		{[]string{"--", "true"}, 0},
		{[]string{"--", "sh", "-c", "exit 3"}, 3},
		{[]string{"--", "sh", "-c", "kill -TERM $$"}, exitSignal + int(syscall.SIGTERM)},
		{[]string{"--", "/nowhere/at/all"}, exitNotFound},
		{[]string{"--", "no-such-command-of-spool"}, exitNotFound},
		{[]string{"--", os.TempDir()}, exitCannotRun},
	} {
		h, _, stderr := surroundings(t)
		if got := run(t.Context(), c.args, h); got != c.want {
			t.Errorf("%v: exit status %d, want %d\n%s", c.args, got, c.want, stderr)
		}
	}
}

// A run that is interrupted before it has begun does not begin.
func TestInterruptedBefore(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interruption{syscall.SIGINT})
	h, stdout, _ := surroundings(t)
	if got := run(ctx, []string{"--", "env"}, h); got != exitSignal+int(syscall.SIGINT) || stdout.Len() != 0 {
		t.Errorf("exit status %d, and the command wrote %q", got, stdout)
	}
}

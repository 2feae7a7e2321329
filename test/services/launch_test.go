//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testing/script"
	"github.com/spoolhq/spool/internal/testing/testserver"
)

// A server that does not start is an error with what it said, not a skip.
func TestDoesNotStart(t *testing.T) {
	t.Parallel()

	h, stdout, stderr := surroundings(t)
	bin := h.path()[0]
	script.Write(t, bin, "redis-server", "#!/bin/sh\necho no memory for you\nexit 1\n")
	for _, dir := range []string{filepath.Dir(bin), bin} { // for the servers' account
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if code := run(t.Context(), []string{"--", "env"}, h); code != exitOwn || stdout.Len() != 0 {
		t.Errorf("exit status %d, and the command wrote %q", code, stdout)
	}
	want := "services: start Redis: it ended by itself; it said\n  no memory for you\n"
	if !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("said was\n%s", stderr)
	}
}

// The program in PATH comes first, then the newest version; a server without its initdb
// does not count.
func TestFindPostgres(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	program := func(names ...string) {
		t.Helper()
		for _, name := range names {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	h := host{
		environ:  []string{"PATH=:.:" + filepath.Join(dir, "path")},
		versions: filepath.Join(dir, "versions", "*", "bin"),
	}
	expect := func(want string) {
		t.Helper()
		got := postgres.find(h)
		if got != "" {
			rel, err := filepath.Rel(dir, got)
			if err != nil {
				t.Fatal(err)
			}
			got = rel
		}
		if got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}

	expect("")
	program("versions/9.6/bin/postgres", "versions/9.6/bin/initdb")
	expect("versions/9.6/bin/postgres")
	program("versions/15/bin/postgres", "versions/15/bin/initdb", "versions/17/bin/postgres")
	expect("versions/15/bin/postgres")
	program("path/postgres", "path/initdb")
	expect("path/postgres")
}

// A port that somebody took in between is tried again with another, also when what answers
// there is of the same kind.
func TestPortTaken(t *testing.T) {
	t.Parallel()

	_, redisBinary := installed(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	in := testserver.Site{Dir: t.TempDir()}
	first, err := testserver.Launch(ctx, planRedis(redisBinary, in), in)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Stop()

	in = testserver.Site{Dir: t.TempDir()}
	p := planRedis(redisBinary, in)
	args, tries := p.Args, 0
	p.Args = func(port int) []string {
		if tries++; tries == 1 {
			return args(first.Port)
		}
		return args(port)
	}
	ready := p.Ready
	p.Ready = func(ctx context.Context, pid, port int) bool {
		if tries == 1 {
			port = first.Port
		}
		return ready(ctx, pid, port)
	}
	second, err := testserver.Launch(ctx, p, in)
	if err != nil {
		t.Fatal(err)
	}
	second.Stop()
	if tries != 2 {
		t.Errorf("%d tries, want 2", tries)
	}
}

package command

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
)

// folder makes a folder of a mode, whatever the umask is.
func folder(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

// exists reports whether the path, below a folder, is there.
func exists(t *testing.T, elem ...string) bool {
	t.Helper()
	_, err := os.Lstat(filepath.Join(elem...))
	return err == nil
}

// In a folder that others can write to, the database is made in one that they cannot. One
// that is there already goes on being found.
func TestDataFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("folders have no such mode here")
	}

	for name, c := range map[string]struct {
		mode  os.FileMode
		where string
	}{
		"Private":  {0o700, "spool.db"},
		"Readable": {0o755, "spool.db"},
		"Group":    {0o775, "private/spool.db"},
		"Everyone": {0o777, "private/spool.db"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, c.mode)
			for range 2 { // the second time it is there
				if got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", dir); got.code != exitOK {
					t.Fatalf("%+v", got)
				}
				if !exists(t, dir, c.where) {
					t.Errorf("there is no %s", c.where)
				}
				if exists(t, dir, "spool.db") == strings.Contains(c.where, "/") {
					t.Error("there is a second database")
				}
			}
			if strings.Contains(c.where, "/") {
				info, err := os.Stat(filepath.Join(dir, "private"))
				if err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("the folder: %v, %v", info, err)
				}
			}
			if got := command(nil, "check", "--data", dir); got.code != exitOK || !strings.Contains(got.stdout, c.where) {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("Found", func(t *testing.T) {
		t.Parallel()
		dir := folder(t, 0o700)
		if got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", dir); got.code != exitOK {
			t.Fatalf("%+v", got)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", dir)
		if got.code != exitOK || !strings.Contains(got.stderr, "others can write to the data folder") ||
			exists(t, dir, "private") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("Planted", func(t *testing.T) {
		t.Parallel()
		dir := folder(t, 0o777)
		if err := os.Symlink(t.TempDir(), filepath.Join(dir, "private")); err != nil {
			t.Fatal(err)
		}
		if got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", dir); got.code != exitFailure ||
			!strings.Contains(got.stderr, "no link to one") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("Link", func(t *testing.T) {
		t.Parallel()
		dir := folder(t, 0o700)
		if err := os.Symlink(filepath.Join(t.TempDir(), "other.db"), filepath.Join(dir, "spool.db")); err != nil {
			t.Fatal(err)
		}
		if got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", dir); got.code != exitFailure ||
			!strings.Contains(got.stderr, "is a symbolic link") {
			t.Errorf("%+v", got)
		}
	})
}

// A server that was killed and then lost its log does not start as an empty one. It says
// what is wrong, check says it too, and --accept-loss goes on with what is left.
func TestLostLog(t *testing.T) {
	t.Parallel()

	data := t.TempDir()
	p := start(t, data)
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"hello"}`)
	if got := command(nil, "check", "--data", data); got.code != exitOK ||
		!strings.Contains(got.stdout, "a server has it open") {
		t.Errorf("check beside the server: %+v", got)
	}
	p.signal(t, syscall.SIGKILL)
	if got := command(nil, "check", "--data", data); got.code != exitOK ||
		!strings.Contains(got.stdout, "the last server died") {
		t.Errorf("check after the crash: %+v", got)
	}
	if err := os.Remove(filepath.Join(data, "spool.db-wal")); err != nil {
		t.Fatal(err)
	}
	const want = "spool.db-wal is missing or empty"
	if got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", data); got.code != exitFailure ||
		!strings.Contains(got.stderr, want) || !strings.Contains(got.stderr, "--accept-loss") {
		t.Errorf("serve: %+v", got)
	}
	if got := command(nil, "check", "--data", data); got.code != exitFailure || !strings.Contains(got.stdout, want) {
		t.Errorf("check: %+v", got)
	}
	if got := command(nil, "backup", "--data", data, filepath.Join(t.TempDir(), "b.db")); got.code != exitFailure ||
		!strings.Contains(got.stderr, want) {
		t.Errorf("backup: %+v", got)
	}
	if got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", data, "--accept-loss"); got.code != exitOK ||
		!strings.Contains(got.stderr, "opened with what is left of it") || !strings.Contains(got.stderr, "threads=0") {
		t.Errorf("serve with the loss accepted: %+v", got)
	}
	if got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", data); got.code != exitOK {
		t.Errorf("the start after it: %+v", got)
	}
}

// A backup is made beside a server and restored as the page of operations says.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()

	data, to := t.TempDir(), filepath.Join(t.TempDir(), "backup.db")
	p := start(t, data)
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"hello"}`)
	var w watcher
	w.watch(t, p, hasCompleted)
	if got := command(nil, "backup", "--data", data, to); got.code != exitOK || !strings.Contains(got.stderr, "has all ") {
		t.Fatalf("%+v", got)
	}
	if got := command(nil, "backup", "--data", data, to); got.code != exitFailure ||
		!strings.Contains(got.stderr, "overwrites nothing") {
		t.Errorf("a second one: %+v", got)
	}
	if got := command(nil, "check", to); got.code != exitOK ||
		!strings.Contains(got.stdout, "threads   1\nproblems  none\n") {
		t.Errorf("check: %+v", got)
	}
	p.post(t, "/api/agent/run", `{"threadId":"t2","runId":"r2","prompt":"hello"}`)
	p.signal(t, syscall.SIGKILL)
	if err := os.Rename(to, filepath.Join(data, "spool.db")); err != nil {
		t.Fatal(err)
	}
	if got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", data); got.code != exitFailure ||
		!strings.Contains(got.stderr, "remove the files spool.db-wal, spool.db-shm and spool.db.state first") {
		t.Errorf("over the log of the crash: %+v", got)
	}
	for _, name := range []string{"spool.db-wal", "spool.db-shm", "spool.db.state"} {
		if err := os.Remove(filepath.Join(data, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	completed(t, start(t, data))
}

// A backup is put back by the command, and what was there is kept.
func TestRestore(t *testing.T) {
	t.Parallel()

	data, to := t.TempDir(), filepath.Join(t.TempDir(), "backup.db")
	p := start(t, data)
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"hello"}`)
	var w watcher
	w.watch(t, p, hasCompleted)
	if got := command(nil, "backup", to, "--data", data); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	p.post(t, "/api/agent/run", `{"threadId":"t2","runId":"r2","prompt":"hello"}`)
	for want, args := range map[string][]string{
		"is there already: restore into another --data": {"restore", "--data", data, to},
		"open: stop it first":                           {"restore", "--data", data, "--replace", to},
		"is not whole":                                  {"restore", "--data", t.TempDir(), damaged(t, to)},
	} {
		if got := command(nil, args...); got.code != exitFailure || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: %+v, want %q", args, got, want)
		}
	}
	completed(t, p) // a refused restore has changed nothing
	p.signal(t, syscall.SIGKILL)
	if got := command(nil, "restore", "--data", data, "--replace", to); got.code != exitOK ||
		!strings.Contains(got.stderr, "is now "+filepath.Join(data, "spool.db.before-")) {
		t.Fatalf("%+v", got)
	}
	aside, err := filepath.Glob(filepath.Join(data, "spool.db.before-*Z"))
	if err != nil || len(aside) != 1 {
		t.Fatalf("%v, %v", aside, err)
	}
	if got := command(nil, "check", aside[0]); got.code != exitOK || !strings.Contains(got.stdout, "threads   2\n") {
		t.Errorf("what was there: %+v", got)
	}
	completed(t, start(t, data))

	fresh := filepath.Join(t.TempDir(), "new")
	if got := command(nil, "restore", to, "--data", fresh); got.code != exitOK ||
		!strings.Contains(got.stderr, "has all ") {
		t.Fatalf("%+v", got)
	}
	completed(t, start(t, fresh))
}

// damaged returns a copy of a database with a page of nonsense.
func damaged(t *testing.T, path string) string {
	t.Helper()

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4096 {
		data[2*4096+i] = 0xaa
	}
	to := filepath.Join(t.TempDir(), "damaged.db")
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// What is wrong with the flags of check and backup is told with exit code 2.
func TestStoreUsage(t *testing.T) {
	t.Parallel()

	for want, args := range map[string][]string{
		"backup needs the name of one new file":       {"backup"},
		"restore needs the name of one backup":        {"restore"},
		`check takes one file, but there is also "b"`: {"check", "a", "b"},
		"--data: is empty":                            {"check", "--data", ""},
		"flag provided but not defined: -x":           {"backup", "b", "-x"},
	} {
		got := command(nil, args...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) ||
			!strings.Contains(got.stderr, `Run "spool `+args[0]+` --help"`) {
			t.Errorf("%v: %+v, want %q", args, got, want)
		}
	}
	for _, name := range []string{"check", "backup", "restore"} {
		if got := command(nil, name, "--help"); got.code != exitOK || !strings.Contains(got.stdout, "SPOOL_DATA") {
			t.Errorf("%s --help: %+v", name, got)
		}
	}
	if got := command(nil, "check", "--data", t.TempDir()); got.code != exitFailure ||
		!strings.Contains(got.stderr, "there is no database") {
		t.Errorf("check of nothing: %+v", got)
	}
	if _, err := sqlite.Check(t.Context(), ""); spool.CodeOf(err) == "" {
		t.Error("a check of no path")
	}
}

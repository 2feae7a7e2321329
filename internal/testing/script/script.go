// Package script writes programs that a test runs.
package script

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Write makes a program of this text, which begins with the line of its interpreter, and returns its path. All accounts
// may run it if they can reach dir.
//
// No process starts meanwhile: each holds what is open for as long as it takes to become another program, and the
// system runs no file that is open for writing ("text file busy", https://go.dev/issue/22315).
func Write(tb testing.TB, dir, name, text string) string {
	tb.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()

	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chmod(path, 0o755); err != nil { //nolint:gosec // accounts of servers run it too, whatever the umask is
		tb.Fatal(err)
	}
	return path
}

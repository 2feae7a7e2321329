// Package inputs tells go's test cache what a test reads through programs that it starts.
//
// The cache knows the code of a test, and the files and folders of its module that the test itself opens or looks at.
// It does not know what a compiler or Node reads for the test: without this package, a test that builds the server
// would still count as passed after a change of the engine. A test of a module of its own, such as test/release, is
// not helped, as the cache looks at no file outside of its module. test/go.sh runs those always.
package inputs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Read looks at each file of the repository that git tracks, or would track, below these paths, which are relative to
// the top of the repository. Without paths it looks at all files. So the result of the package's tests counts only as
// long as none of the files is changed, added or removed.
func Read(tb testing.TB, paths ...string) {
	tb.Helper()
	top, err := top()
	if err != nil {
		tb.Fatal(err)
	}
	list := exec.CommandContext(tb.Context(), "git", append([]string{ //nolint:gosec // paths that tests write out
		"-C", top, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--",
	}, paths...)...)
	list.Stderr = tb.Output()
	names, err := list.Output()
	if err != nil {
		tb.Fatalf("list the files of the repository: %v", err)
	}
	for name := range bytes.SplitSeq(bytes.TrimSuffix(names, []byte{0}), []byte{0}) {
		file := filepath.Join(top, string(name))
		// The folder too, whose time changes when a file is added. A file may be gone, which counts as well.
		for _, path := range []string{file, filepath.Dir(file)} {
			if _, err := os.Stat(path); err != nil && !os.IsNotExist(err) {
				tb.Fatal(err)
			}
		}
	}
}

// top returns the folder of the module, which is the first above the package with a go.mod.
func top() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", os.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

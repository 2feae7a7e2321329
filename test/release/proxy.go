package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// root is the folder of the repository, seen from this package.
const root = "../.."

// leaves are the folders of the modules that are published beside the root and rest.
var leaves = []string{
	"backend/nats", "model/anthropic/cloud", "rest/auth/oidc", "rest/bunquery", "rest/gormquery", "rest/throttle/redis",
}

var newestVersion = regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+\S*)`)

// released returns the newest version of CHANGELOG.md.
func released() (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	m := newestVersion.FindSubmatch(text)
	if m == nil {
		return "", errors.New("CHANGELOG.md has no version")
	}
	return "v" + string(m[1]), nil
}

// publish writes a proxy with the root module, rest and the leaves, all of one version.
func publish(out, version string) error {
	if out == "" {
		return errors.New("-out is required")
	}
	if version == "" {
		newest, err := released()
		if err != nil {
			return err
		}
		version = newest
	}
	files, err := tracked()
	if err != nil {
		return err
	}
	for _, dir := range slices.Concat([]string{".", "rest"}, leaves) {
		if err := publishModule(out, version, dir, files); err != nil {
			return fmt.Errorf("publish the module in %s: %w", dir, err)
		}
	}
	return nil
}

// publishModule writes the four files that the go command asks a proxy for.
func publishModule(out, version, dir string, files []string) error {
	mod, err := os.ReadFile(filepath.Join(root, dir, "go.mod"))
	if err != nil {
		return err
	}
	m := module.Version{Path: modfile.ModulePath(mod), Version: version}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	at := filepath.Join(out, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := modzip.Create(&packed, m, filesOf(dir, files)); err != nil {
		return err
	}
	if _, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len())); err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod, version + ".zip": packed.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(at, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// filesOf returns those of the repository's files that are in the module of a folder. Modules
// below it are left out by [modzip.Create]. A leaf has the licence of the repository, which
// the go command adds when it makes the module from git.
func filesOf(dir string, files []string) []modzip.File {
	var all []modzip.File
	for _, name := range files {
		if inside, ok := strings.CutPrefix(name, dir+"/"); ok || dir == "." {
			if dir == "." {
				inside = name
			}
			all = append(all, file{at: name, inside: inside})
		}
	}
	if dir != "." {
		all = append(all, file{at: "LICENSE", inside: "LICENSE"})
	}
	return all
}

// A file of the repository, at a place in a module.
type file struct{ at, inside string }

// Path implements [modzip.File].
func (f file) Path() string { return path.Clean(f.inside) }

// Lstat implements [modzip.File].
func (f file) Lstat() (fs.FileInfo, error) { return os.Lstat(filepath.Join(root, f.at)) }

// Open implements [modzip.File].
func (f file) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(root, f.at)) }

// tracked returns the files of the working tree that git knows, or that are new.
func tracked() ([]string, error) {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of the repository: %w", err)
	}
	var found []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil { // not removed in the work tree
			found = append(found, name)
		}
	}
	return found, nil
}

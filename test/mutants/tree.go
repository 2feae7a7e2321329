//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// tree is a checkout. No file in it is changed.
type tree struct {
	Root   string // absolute, without symbolic links
	Module string // of its root
	mu     sync.Mutex
	sums   map[string]string
}

func openTree(dir string) (*tree, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	for line := range strings.Lines(string(data)) {
		if module, ok := strings.CutPrefix(line, "module "); ok {
			return &tree{Root: root, Module: strings.TrimSpace(module), sums: make(map[string]string)}, nil
		}
	}
	return nil, fmt.Errorf("open %s: go.mod names no module", dir)
}

func (t *tree) path(dir string) string { return filepath.Join(t.Root, filepath.FromSlash(dir)) }

// module returns the folder of the module that a file is in, relative to the root.
func (t *tree) module(file string) string {
	dir := path.Dir(file)
	for dir != "." {
		if _, err := os.Stat(filepath.Join(t.path(dir), "go.mod")); err == nil {
			return dir
		}
		dir = path.Dir(dir)
	}
	return dir
}

// listed is a package with tests.
type listed struct {
	Path string
	Dir  string   // relative to the tree
	Deps []string // the folders of the tree that its tests are compiled from, and Dir
}

// list returns the packages of a command that have tests, in the command's order.
func (t *tree) list(ctx context.Context, c *command) ([]listed, error) {
	args := append([]string{"go", "list", "-test", "-json=ImportPath,Dir,Deps"}, c.Packages...)
	out, err := process{Dir: t.path(c.Dir), Args: args}.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("list packages in %s: %w\n%s", t.path(c.Dir), err, tail(out))
	}
	start := max(0, bytes.IndexByte(out, '{')) // after what the go command says about downloads
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out[start:])); ; {
		var p struct {
			ImportPath, Dir string
			Deps            []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("list packages in %s: %w\n%s", t.path(c.Dir), err, tail(out))
		}
		name, ok := strings.CutSuffix(p.ImportPath, ".test")
		if !ok {
			continue
		}
		dir, err := filepath.Rel(t.Root, p.Dir)
		if err != nil {
			return nil, fmt.Errorf("list packages: %w", err)
		}
		l := listed{Path: name, Dir: filepath.ToSlash(dir)}
		for _, dep := range p.Deps {
			dep, _, _ = strings.Cut(dep, " ") // "example.com/m/a [example.com/m/b.test]"
			if dep == t.Module {
				l.Deps = append(l.Deps, ".")
			} else if dep, ok := strings.CutPrefix(dep, t.Module+"/"); ok && !strings.HasSuffix(dep, "_test") {
				l.Deps = append(l.Deps, dep)
			}
		}
		l.Deps = append(l.Deps, l.Dir)
		slices.Sort(l.Deps)
		l.Deps = slices.Compact(l.Deps)
		all = append(all, l)
	}
}

// sum is of the files of a package, with those that it embeds, and of its tests if they count. Of the root package
// only Go counts: all other files of the repository are below it.
func (t *tree) sum(dir string, tests bool) (string, error) {
	key := fmt.Sprint(dir, tests)
	t.mu.Lock()
	defer t.mu.Unlock()
	if sum, ok := t.sums[key]; ok {
		return sum, nil
	}
	h := sha256.New()
	root := t.path(dir)
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if file != root && (dir == "." || hasGo(file) || slices.Contains([]string{"node_modules", "testdata"}, d.Name())) {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || strings.HasSuffix(file, "_test.go") && !tests:
			return nil
		case dir == "." && !slices.Contains([]string{".go", ".mod", ".sum"}, filepath.Ext(file)):
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", strings.TrimPrefix(file, root), len(data))
		h.Write(data)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", dir, err)
	}
	t.sums[key] = hex.EncodeToString(h.Sum(nil))
	return t.sums[key], nil
}

func hasGo(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	return len(found) > 0
}

//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// index says which tests of a tier cover which lines of a tree.
type index struct {
	Tree     *tree
	Tier     string
	Packages []*packageIndex
	// LeftOut says what was not run and why.
	LeftOut []string
	covered map[string][]block // by file
}

// packageIndex is one test binary of a command. It is a file of the cache.
type packageIndex struct {
	Path    string      `json:"path"`
	Dir     string      `json:"dir"` // relative to the tree
	Blocks  []string    `json:"blocks"`
	Tests   []*testCase `json:"tests"`
	command *command
	blocks  map[string]map[int]block // by file
}

// testCase is a top-level test or a subject of one that is split.
type testCase struct {
	Name    string  `json:"name"` // "TestEngine/Start"
	Seconds float64 `json:"seconds"`
	Covers  bits    `json:"covers,omitempty"`
	// Failed: it fails without a mistake. It covers nothing, and so finds none.
	Failed string `json:"failed,omitempty"`
	owner  *packageIndex
}

// indexer makes the index of a tier, or takes it from the cache.
type indexer struct {
	Plan  *plan
	Tree  *tree
	Tier  string
	Cache string
	Jobs  int
	// Packages restricts the tested packages. Empty: all.
	Packages pattern
	Log      func(format string, args ...any)
}

func (x *indexer) run(ctx context.Context) (*index, error) {
	commands, ok := x.Plan.Tiers[x.Tier]
	if !ok {
		return nil, fmt.Errorf("there is no tier %q, only %s", x.Tier,
			strings.Join(slices.Sorted(maps.Keys(x.Plan.Tiers)), ", "))
	}
	all := &index{Tree: x.Tree, Tier: x.Tier}
	for i := range commands {
		c := &commands[i]
		if name := c.missing(); name != "" {
			all.LeftOut = append(all.LeftOut, fmt.Sprintf("%s: %s, as %s is not set", x.Tier, c, name))
			continue
		}
		packages, err := x.Tree.list(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			if x.leavesOut(c, p) {
				continue
			}
			one, err := x.cached(ctx, c, p)
			if err != nil {
				return nil, err
			}
			all.Packages = append(all.Packages, one)
			for _, t := range one.Tests {
				if t.Failed != "" {
					all.LeftOut = append(all.LeftOut, fmt.Sprintf("%s: %s %s, as it fails without a mistake", x.Tier, one.Dir, t.Name))
				}
			}
		}
	}
	return all, all.connect()
}

// leavesOut says whether the tests of a package are not asked for, or run no code in which coverage counts.
func (x *indexer) leavesOut(c *command, p listed) bool {
	return x.Packages.Regexp != nil && !x.Packages.MatchString(p.Dir) ||
		c.Without.Regexp != nil && c.Without.MatchString(p.Dir) ||
		!slices.ContainsFunc(p.Deps, func(dir string) bool { return within(dir, x.folders()) })
}

func (x *indexer) folders() []string { return slices.Concat(x.Plan.Scope, x.Plan.Cover) }

func within(dir string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return folder == "." || dir == folder || strings.HasPrefix(dir, folder+"/")
	})
}

// cached returns the index of a package. Its file is named after all that the index depends on.
func (x *indexer) cached(ctx context.Context, c *command, p listed) (*packageIndex, error) {
	key, err := x.key(c, p)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(x.Cache, strings.ReplaceAll(p.Dir, "/", "_")+"-"+key+".json")
	one := &packageIndex{Path: p.Path, Dir: p.Dir}
	data, err := os.ReadFile(file)
	switch {
	case err == nil:
		if err := json.Unmarshal(data, one); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the cache: %w", err)
	default:
		if err := x.measure(ctx, c, one); err != nil {
			return nil, err
		}
		if data, err = json.Marshal(one); err != nil {
			return nil, fmt.Errorf("encode the index: %w", err)
		}
		if err := writeWhole(file, data); err != nil {
			return nil, err
		}
	}
	one.command = c
	return one, nil
}

// writeWhole writes a file that is there as a whole or not at all.
func writeWhole(file string, data []byte) error {
	if err := os.WriteFile(file+".tmp", data, 0o600); err != nil {
		return fmt.Errorf("write the cache: %w", err)
	}
	return os.Rename(file+".tmp", file)
}

// key is of the sources of a package and of all that it imports from the tree, of the command, of Go's version, and
// of the services: tests skip themselves where one is missing.
func (x *indexer) key(c *command, p listed) (string, error) {
	words, err := json.Marshal([]any{
		c.Run, c.Skip, c.Env, x.Plan.Split, x.folders(), runtime.Version(), runtime.GOARCH,
		os.Getenv("SPOOL_TEST_POSTGRES") != "", os.Getenv("SPOOL_TEST_REDIS") != "",
	})
	if err != nil {
		return "", fmt.Errorf("encode a command: %w", err)
	}
	h := sha256.New()
	h.Write(words)
	for _, dir := range p.Deps {
		sum, err := x.Tree.sum(dir, dir == p.Dir)
		if err != nil {
			return "", err
		}
		h.Write([]byte(dir + " " + sum + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// connect prepares what lookups need.
func (x *index) connect() error {
	x.covered = make(map[string][]block)
	known := make(map[block]bool)
	for _, p := range x.Packages {
		ran := bits{}
		for _, t := range p.Tests {
			t.owner = p
			for i := range p.Blocks {
				if t.Covers.has(i) {
					ran.set(i)
				}
			}
		}
		p.blocks = make(map[string]map[int]block)
		for i, text := range p.Blocks {
			b, err := parseBlock(text)
			if err != nil {
				return err
			}
			if p.blocks[b.File] == nil {
				p.blocks[b.File] = make(map[int]block)
			}
			p.blocks[b.File][i] = b
			if ran.has(i) && !known[b] {
				known[b] = true
				x.covered[b.File] = append(x.covered[b.File], b)
			}
		}
	}
	return nil
}

// covers says whether any test runs the place.
func (x *index) covers(file string, at place) bool {
	return slices.ContainsFunc(x.covered[file], func(b block) bool { return b.has(at) })
}

// tests returns the tests that run any of the blocks for which match holds.
func (x *index) tests(file string, match func(b block) bool) []*testCase {
	var found []*testCase
	for _, p := range x.Packages {
		var matching []int
		for i, b := range p.blocks[file] {
			if match(b) {
				matching = append(matching, i)
			}
		}
		for _, t := range p.Tests {
			if slices.ContainsFunc(matching, t.Covers.has) {
				found = append(found, t)
			}
		}
	}
	return found
}

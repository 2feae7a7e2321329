//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// campaign plants mistakes, one after the other.
type campaign struct {
	Plan   *plan
	Stages []*index // the tiers that try a mistake, in this order
	Seed   uint64
	Count  int
	// Only restricts the files that get mistakes. Empty: all of the plan's scope.
	Only    *regexp.Regexp
	Results *results
	Log     func(format string, args ...any)
}

// run plants Count mistakes, those of the results among them.
func (c *campaign) run(ctx context.Context) error {
	sample, err := c.sample()
	if err != nil {
		return err
	}
	planted := 0
	for i := range sample {
		if planted == c.Count {
			return nil
		}
		e := &sample[i]
		if r, ok := c.Results.find(e.String()); ok {
			if !r.NotCompiled {
				planted++
			}
			continue
		}
		if !c.covered(e) {
			continue
		}
		r, err := c.plant(ctx, e)
		if err != nil {
			return err
		}
		if err := c.Results.add(r); err != nil {
			return err
		}
		if !r.NotCompiled {
			planted++
			c.Log("%d of %d: %s", planted, c.Count, r.words())
		}
	}
	c.Log("only %d covered lines are there", planted)
	return nil
}

// sample returns one mistake for each line that has one, in an order and a choice that the seed decides. Tests do not
// move them: a tree whose product is the same gives the same mistakes.
func (c *campaign) sample() ([]edit, error) {
	root := c.Stages[0].Tree
	type line struct {
		file   string
		number int
	}
	lines := make(map[line][]edit)
	var order []line
	for _, folder := range c.Plan.Scope {
		err := filepath.WalkDir(root.path(folder), func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasSuffix(d.Name(), "test")):
				return filepath.SkipDir
			case d.IsDir() || !product(d.Name()):
				return nil
			}
			name, err := filepath.Rel(root.Root, file)
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			if c.Only != nil && !c.Only.MatchString(name) {
				return nil
			}
			source, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			found, err := edits(name, source)
			for _, e := range found {
				at := line{name, e.Line}
				if lines[at] == nil {
					order = append(order, at)
				}
				lines[at] = append(lines[at], e)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("look for mistakes: %w", err)
		}
	}
	random := rand.New(rand.NewPCG(c.Seed, 0))
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	sample := make([]edit, 0, len(order))
	for _, at := range order {
		sample = append(sample, lines[at][random.IntN(len(lines[at]))])
	}
	return sample, nil
}

// covered says whether any tier runs the line: a line that only the old suites run is one that may have lost its test.
func (c *campaign) covered(e *edit) bool {
	return slices.ContainsFunc(c.Stages, func(x *index) bool {
		there, ok := c.in(x, e)
		return ok && x.covers(there.File, place{there.Line, there.Column})
	})
}

// in returns the mistake as it is in the tree of a tier.
func (c *campaign) in(x *index, e *edit) (edit, bool) {
	if x.Tree.Root == c.Stages[0].Tree.Root {
		return *e, true
	}
	return e.move(x.Tree.Root)
}

// plant tries a mistake in each tier until one kills it.
func (c *campaign) plant(ctx context.Context, e *edit) (*result, error) {
	r := &result{Name: e.String(), Seed: c.Seed, Edit: *e}
	for _, x := range c.Stages {
		there, ok := c.in(x, e)
		if !ok {
			r.Outcomes = append(r.Outcomes, outcome{Tier: x.Tier, Result: "no place"})
			continue
		}
		at := place{there.Line, there.Column}
		o, err := try(ctx, x, &trial{Tree: x.Tree, Edit: there}, x.tests(there.File, func(b block) bool { return b.has(at) }))
		if errors.Is(err, errNotCompiled) {
			r.NotCompiled = true
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		r.Outcomes = append(r.Outcomes, o)
		if o.Result == "killed" {
			break
		}
	}
	return r, nil
}

func try(ctx context.Context, x *index, t *trial, tests []*testCase) (outcome, error) {
	defer t.remove()
	if err := t.plant(ctx); err != nil {
		return outcome{}, err
	}
	o, err := t.run(ctx, tests)
	o.Tier = x.Tier
	return o, err
}

//go:build unix

package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

//go:embed races.json
var racesJSON []byte

// race is a data race that is planted: where a lock protects something, it no longer does.
type race struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Old occurs once in the file.
	Old string `json:"old"`
	New string `json:"new"`
}

func readRaces(data []byte) ([]race, error) {
	var all []race
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("read the races: %w", err)
	}
	return all, nil
}

// edit returns the race in a tree. It is an error if the text is not there any more.
func (r *race) edit(t *tree) (edit, place, error) {
	source, err := os.ReadFile(t.path(r.File))
	if err != nil {
		return edit{}, place{}, fmt.Errorf("race %q: %w", r.Name, err)
	}
	if n := bytes.Count(source, []byte(r.Old)); n != 1 {
		return edit{}, place{}, fmt.Errorf("race %q: its text is %d times in %s of %s, not once", r.Name, n, r.File, t.Root)
	}
	start := bytes.Index(source, []byte(r.Old))
	e := edit{File: r.File, Operator: "race", Start: start, End: start + len(r.Old), Old: r.Old, New: r.New}
	e.Line, e.Column = position(source, start)
	line, column := position(source, e.End)
	return e, place{line, column}, nil
}

// races plants each data race in each tier, and runs the tests that the tier runs with the race detector. Unlike a
// mistake, a race is tried in all tiers.
func (c *campaign) races(ctx context.Context, all []race) error {
	for i := range all {
		r := &all[i]
		name := "race: " + r.Name
		if _, ok := c.Results.find(name); ok || c.Only != nil && !c.Only.MatchString(r.File) {
			continue
		}
		done := &result{Name: name, Seed: c.Seed}
		for _, x := range c.Stages {
			e, end, err := r.edit(x.Tree)
			if err != nil {
				return err
			}
			if len(done.Outcomes) == 0 {
				done.Edit = e
			}
			from := place{e.Line, e.Column}
			tests := x.tests(e.File, func(b block) bool { return b.meets(from, end) })
			tests = slices.DeleteFunc(tests, func(t *testCase) bool { return !t.owner.command.Race })
			o, err := try(ctx, x, &trial{Tree: x.Tree, Edit: e, Race: true, RaceFlags: c.Plan.RaceFlags}, tests)
			if err != nil {
				return fmt.Errorf("race %q: %w", r.Name, err)
			}
			done.Outcomes = append(done.Outcomes, o)
		}
		if err := c.Results.add(done); err != nil {
			return err
		}
		c.Log("%s", done.words())
	}
	return nil
}

//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// result is what became of one mistake. It is a line of the results' file.
type result struct {
	Name string `json:"name"`
	Seed uint64 `json:"seed"`
	Edit edit   `json:"edit"`
	// NotCompiled mistakes count as none. The next of the seed takes their place.
	NotCompiled bool      `json:"notCompiled,omitempty"`
	Outcomes    []outcome `json:"outcomes,omitempty"`
}

// words is one line for a person.
func (r *result) words() string {
	parts := make([]string, 0, len(r.Outcomes))
	for _, o := range r.Outcomes {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s %s", o.Tier, o.Result, o.Test)))
	}
	return r.Name + ": " + strings.Join(parts, "; ")
}

func (r *result) seconds() (sum float64) {
	for _, o := range r.Outcomes {
		sum += o.Seconds
	}
	return sum
}

// results are those of one seed, in a file that only grows: a run that was interrupted goes on after its last line.
type results struct {
	file string
	seed uint64
	all  []*result
}

// openResults reads the results of the seed, and leaves out a last line that was not written as a whole.
func openResults(file string, seed uint64) (*results, error) {
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the results: %w", err)
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	if len(whole) < len(data) {
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			return nil, fmt.Errorf("write the results: %w", err)
		}
	}
	all := &results{file: file, seed: seed}
	for line := range bytes.Lines(whole) {
		r := new(result)
		if err := json.Unmarshal(line, r); err != nil {
			return nil, fmt.Errorf("read the results: %w", err)
		}
		if r.Seed == seed {
			all.all = append(all.all, r)
		}
	}
	return all, nil
}

func (r *results) find(name string) (*result, bool) {
	for _, one := range r.all {
		if one.Name == name {
			return one, true
		}
	}
	return nil, false
}

func (r *results) add(one *result) error {
	line, err := json.Marshal(one)
	if err != nil {
		return fmt.Errorf("encode a result: %w", err)
	}
	f, err := os.OpenFile(r.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	r.all = append(r.all, one)
	return errors.Join(err, f.Close())
}

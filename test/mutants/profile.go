//go:build unix

package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// block is a part of a function that runs as a whole.
type block struct {
	File     string
	From, To place
}

// place is a line and a column, both from 1.
type place struct{ Line, Column int }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// parseBlock reads "engine/stop.go:12.30,14.2".
func parseBlock(s string) (block, error) {
	var b block
	file, places, ok := strings.Cut(s, ":")
	if !ok {
		return b, fmt.Errorf("%q is no block", s)
	}
	b.File = file
	if _, err := fmt.Sscanf(places, "%d.%d,%d.%d", &b.From.Line, &b.From.Column, &b.To.Line, &b.To.Column); err != nil {
		return b, fmt.Errorf("%q is no block: %w", s, err)
	}
	return b, nil
}

func (b block) has(p place) bool { return b.From.compare(p) <= 0 && p.compare(b.To) < 0 }

func (b block) meets(from, to place) bool { return b.From.compare(to) < 0 && from.compare(b.To) < 0 }

// bits is a set of small numbers.
type bits []byte

func (b *bits) has(i int) bool { return i/8 < len(*b) && (*b)[i/8]&(1<<(i%8)) != 0 }

func (b *bits) set(i int) {
	if missing := i/8 + 1 - len(*b); missing > 0 {
		*b = append(*b, make(bits, missing)...)
	}
	(*b)[i/8] |= 1 << (i % 8)
}

// readProfile returns the blocks that have run, as "engine/stop.go:12.30,14.2", and removes the profile.
func readProfile(file, module string) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read coverage: %w", err)
	}
	var ran []string
	for line := range strings.Lines(string(data)) {
		// example.com/m/engine/stop.go:12.30,14.2 3 1
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[2] != "0" {
			ran = append(ran, strings.TrimPrefix(fields[0], module+"/"))
		}
	}
	slices.Sort(ran)
	return slices.Compact(ran), os.Remove(file)
}

//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// report is the result of a campaign.
type report struct {
	Options options `json:"-"`
	// Seconds is how long the campaign took, from the first start to the last check.
	Seconds float64 `json:"seconds"`
	// Counts says how often things happened.
	Counts map[string]int `json:"counts"`
	// Takeovers are the times from the kill of a process to the next claim of a run that it executed.
	Takeovers  durations   `json:"takeovers"`
	Violations []violation `json:"violations"`
	// Folder has the logs, if they were kept.
	Folder string `json:"folder,omitempty"`
}

// violation is something that must not happen.
type violation struct {
	Invariant string `json:"invariant"`
	Where     string `json:"where"`
	What      string `json:"what"`
	// After is how long after the begin it was found.
	After string `json:"after"`
}

// words returns the report for a person.
func (r *report) words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d nodes, %d threads at a time, lease %s, seed %d, %.0f s\n\n", r.Options.Nodes, r.Options.Threads,
		r.Options.Lease, r.Options.Seed, r.Seconds)
	for _, what := range slices.Sorted(maps.Keys(r.Counts)) {
		fmt.Fprintf(&b, "%9d  %s\n", r.Counts[what], what)
	}
	if t := r.Takeovers; t.Count > 0 {
		fmt.Fprintf(&b,
			"\n%d runs of killed processes went on in another one: p50 %.1f s, p99 %.1f s, at most %.1f s after the kill\n",
			t.Count, t.P50, t.P99, t.Max)
	}
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "\nafter %s, %s, %s: %s\n", v.After, v.Invariant, v.Where, v.What)
	}
	if r.Folder != "" {
		fmt.Fprintf(&b, "\nthe logs are in %s\n", r.Folder)
	}
	switch len(r.Violations) {
	case 0:
		b.WriteString("\nNothing was lost, repeated, stuck or executed twice.\n")
	default:
		fmt.Fprintf(&b, "\n%d violations.\n", len(r.Violations))
	}
	return b.String()
}

// write writes the report as JSON.
func (r *report) write(file string) error {
	raw, err := json.MarshalIndent(struct {
		*report

		Nodes   int    `json:"nodes"`
		Threads int    `json:"threads"`
		Lease   string `json:"lease"`
		Seed    uint64 `json:"seed"`
		Break   string `json:"break,omitempty"`
	}{r, r.Options.Nodes, r.Options.Threads, r.Options.Lease.String(), r.Options.Seed, r.Options.Break}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(raw, '\n'), 0o600)
}

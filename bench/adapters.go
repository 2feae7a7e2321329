package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// adapterGoal is how much CPU time a step over an adapter and the engine may take, relative to a bare loop over the
// provider's SDK.
const adapterGoal = 1.3

// adapterRounds are the rounds of one adapter, as bench/adapters prints them: milliseconds of CPU a step.
type adapterRounds struct {
	Adapter string `json:"adapter"`
	Bare    sample `json:"bare"`
	Alone   sample `json:"alone"`
	Memory  sample `json:"memory"`
	SQLite  sample `json:"sqlite"`
}

// measureAdapters measures what the model adapters cost. It runs bench/adapters, a module of its own, because the
// providers' SDKs are not needed for anything else here.
func measureAdapters(b *bench) (*section, error) {
	steps := size(b, 40, 20)
	s := &section{
		title: "Model adapters",
		how: fmt.Sprintf("A run has %d steps. Each step streams 500 pieces of text and one tool call from a fake provider, which is another process. "+
			"Beside it, a bare loop that does the same over the provider's own SDK, which no adapter uses; for openai and responses, over openai-go. \"Adapter alone\" is "+
			"that loop over Spool's adapter, without an engine. The CPU time is that of the measuring process. The goal is about the memory backend; SQLite is shown.", steps),
	}
	program := filepath.Join(b.dir, "adapters")
	if err := build(b.ctx, "adapters", program); err != nil {
		return nil, err
	}
	all, err := runAdapters(b.ctx, program, b.rounds, steps)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		s.rows = append(s.rows,
			row{r.Adapter + ", bare loop", "ms of CPU a step", r.Bare},
			row{r.Adapter + ", adapter alone", "ms of CPU a step", r.Alone},
			row{r.Adapter + ", memory", "ms of CPU a step", r.Memory}, row{r.Adapter + ", SQLite", "ms of CPU a step", r.SQLite},
		)
		s.goals = append(s.goals, ratioGoal("CPU of a step over "+r.Adapter+" beside a bare loop", r.Memory, r.Bare,
			adapterGoal, false))
	}
	if b.short {
		return s, nil // the sizes take minutes
	}
	note, err := adapterSizes(b.ctx, program)
	s.notes = append(s.notes, note)
	return s, err
}

// runAdapters runs a program of bench/adapters, and returns the rounds of each adapter.
func runAdapters(ctx context.Context, program string, rounds, steps int) ([]adapterRounds, error) {
	out, err := exec.CommandContext(ctx, program, "-json", "-rounds", strconv.Itoa(rounds), "-steps",
		strconv.Itoa(steps)).Output()
	if err != nil {
		return nil, fmt.Errorf("bench/adapters: %w", err)
	}
	var all []adapterRounds
	for line := range strings.Lines(string(out)) {
		var r adapterRounds
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, fmt.Errorf("bench/adapters: %w", err)
		}
		r.Adapter, _, _ = strings.Cut(r.Adapter, ",") // what it is beside
		all = append(all, r)
	}
	return all, nil
}

// adaptersBeside is the name of the figure.
const adaptersBeside = "adaptersbeside"

// measureAdaptersBeside measures the steps of the adapters of this code and of an earlier commit, in turns.
func measureAdaptersBeside(b *bench) (*section, error) {
	commit, tree, err := b.earlier()
	if err != nil {
		return nil, err
	}
	programs := [2]string{filepath.Join(b.dir, "adapters-earlier"), filepath.Join(b.dir, "adapters-now")}
	if err := errors.Join(
		build(b.ctx, filepath.Join(tree, "bench", "adapters"), programs[0]), build(b.ctx, "adapters", programs[1]),
	); err != nil {
		return nil, err
	}
	return adaptersBesideSection(b, commit, func(arm int) ([]adapterRounds, error) {
		return runAdapters(b.ctx, programs[arm], 2, size(b, 40, 20))
	})
}

// adaptersBesideSection has two rows of each adapter. A round is one process of each commit, arm 0 and arm 1, and every
// second round begins with the present code.
func adaptersBesideSection(b *bench, commit string, measure func(arm int) ([]adapterRounds, error)) (*section, error) {
	s := &section{
		title: "Model adapters beside an earlier commit",
		flags: fmt.Sprintf(" -commit %s -rounds %d", commit, b.rounds),
		how: fmt.Sprintf("The CPU time of a step over each adapter on the memory backend, as under \"Model adapters\": of the commit above, and of %s. A round is one "+
			"process of each, in turns; the goal is about the median of the rounds' ratios.", commit),
	}
	for round := range b.rounds {
		for turn := range 2 {
			arm := (round + turn) % 2
			all, err := measure(arm)
			if err != nil {
				return nil, err
			}
			for i, r := range all {
				if len(s.rows) < 2*len(all) {
					s.rows = append(s.rows, row{r.Adapter + " at " + commit, "ms of CPU a step", nil},
						row{r.Adapter, "ms of CPU a step", nil})
				}
				s.rows[2*i+arm].rounds = append(s.rows[2*i+arm].rounds, r.Memory.median())
			}
		}
		fmt.Fprintf(b.out, "  round %d of %d\n", round+1, b.rounds)
	}
	for i := 0; i < len(s.rows); i += 2 {
		s.goals = append(s.goals, ratioGoal("CPU of a step over "+s.rows[i+1].what+" beside the earlier commit",
			s.rows[i+1].rounds, s.rows[i].rounds, besideGoal, false))
	}
	return s, nil
}

// adapterSizes returns a table of the sizes of the stripped cmd/spool with all adapters and without each.
func adapterSizes(ctx context.Context, program string) (string, error) {
	out, err := exec.CommandContext(ctx, program, "-json", "-sizes", "..").Output()
	if err != nil {
		return "", fmt.Errorf("bench/adapters -sizes: %w", err)
	}
	sizes := make(map[string]int64)
	if err := json.Unmarshal(out, &sizes); err != nil {
		return "", fmt.Errorf("bench/adapters -sizes: %w", err)
	}
	var table strings.Builder
	table.WriteString("The binary `cmd/spool`, stripped, without debug information:\n\n| | MB | less, MB |\n|---|--:|--:|\n")
	fmt.Fprintf(&table, "| with all adapters | %.1f | |\n", float64(sizes[""])/1e6)
	for _, name := range []string{"openai", "responses", "anthropic", "gemini"} {
		fmt.Fprintf(&table, "| without %s | %.1f | %.1f |\n", name, float64(sizes[name])/1e6,
			float64(sizes[""]-sizes[name])/1e6)
	}
	return strings.TrimSpace(table.String()), nil
}

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// The forge runs what .ci/run runs: the same targets of make, each in a job of its own.
func TestWorkflow(t *testing.T) {
	t.Parallel()

	var flow struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct {
					Include []struct{ Target, Needs string }
				}
			}
			Steps []struct{ Uses, Run string }
		}
	}
	text := read(t, ".github/workflows/ci.yml")
	if err := yaml.Unmarshal([]byte(text), &flow); err != nil {
		t.Fatal(err)
	}
	targets := makeTargets(t)
	run := regexp.MustCompile(`(?m)^make (\S+)$`)
	var want, have []string
	for _, m := range run.FindAllStringSubmatch(read(t, ".ci/run"), -1) {
		if m[1] == "test" {
			want = append(want, targets["test"]...)
		} else {
			want = append(want, m[1])
		}
	}
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
	for _, job := range flow.Jobs {
		for _, each := range job.Strategy.Matrix.Include {
			have = append(have, each.Target)
			for _, name := range append(strings.Fields(each.Needs), each.Target) {
				if _, ok := targets[name]; !ok {
					t.Errorf("a job runs make %s, which is no target", name)
				}
			}
		}
		for _, step := range job.Steps {
			if step.Uses != "" && !pinned.MatchString(step.Uses) {
				t.Errorf("%s is not pinned to a commit", step.Uses)
			}
			if step.Run != "" && !strings.HasPrefix(step.Run, "make ${{ matrix.") && !strings.HasPrefix(step.Run, "apt-get update && apt-get install ") {
				t.Errorf("a step runs %q, which .ci/run does not", step.Run)
			}
		}
	}
	for _, name := range want {
		if !strings.HasPrefix(name, "deps") && !slices.Contains(have, name) {
			t.Errorf(".ci/run runs make %s, and no job does", name)
		}
	}
	for _, name := range have {
		if !slices.Contains(want, name) {
			t.Errorf("a job runs make %s, and .ci/run does not", name)
		}
	}
}

// makeTargets returns the targets of the Makefile, each with what it needs first.
func makeTargets(t *testing.T) map[string][]string {
	t.Helper()

	all := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z/]+):([^=#\n]*)(?:##.*)?$`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		all[m[1]] = strings.Fields(m[2])
	}
	if len(all["test"]) == 0 {
		t.Fatal("the Makefile has no test")
	}
	return all
}

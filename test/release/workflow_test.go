package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// The forge runs what .ci/run runs: the same targets of make, each in a job of its own. At night it runs the long tier.
func TestWorkflow(t *testing.T) {
	t.Parallel()

	targets := makeTargets(t)
	run := regexp.MustCompile(`(?m)^make (\S+)$`)
	var want []string
	for _, m := range run.FindAllStringSubmatch(read(t, ".ci/run"), -1) {
		all := []string{m[1]}
		if m[1] == "test" {
			all = targets["test"]
		}
		for _, name := range all {
			if !strings.HasPrefix(name, "deps") {
				want = append(want, name)
			}
		}
	}
	for file, want := range map[string][]string{"ci.yml": want, "long.yml": {"test/long"}} {
		flow := workflow(t, file)
		var have []string
		pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
		for _, job := range flow.Jobs {
			for _, each := range job.Strategy.Matrix.Include {
				have = append(have, each.Target)
				for _, name := range append(strings.Fields(each.Needs), each.Target) {
					if _, ok := targets[name]; !ok {
						t.Errorf("a job of %s runs make %s, which is no target", file, name)
					}
				}
			}
			for _, step := range job.Steps {
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %s is not pinned to a commit", file, step.Uses)
				}
				if step.Run != "" && !strings.HasPrefix(step.Run, "make ${{ matrix.") && !strings.HasPrefix(step.Run, "apt-get update && apt-get install ") {
					t.Errorf("a step of %s runs %q, which .ci/run does not", file, step.Run)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(want, have) {
			t.Errorf("the jobs of %s run make %q, want %q", file, have, want)
		}
	}
	if len(workflow(t, "long.yml").On.Schedule) == 0 {
		t.Error("the long tier has no schedule")
	}
}

// flow is what the test reads of a workflow.
type flow struct {
	On struct {
		Schedule []struct{ Cron string }
	}
	Jobs map[string]struct {
		Strategy struct {
			Matrix struct {
				Include []struct{ Target, Needs string }
			}
		}
		Steps []struct{ Uses, Run string }
	}
}

func workflow(t *testing.T, file string) (f flow) {
	t.Helper()

	if err := yaml.Unmarshal([]byte(read(t, ".github/workflows/"+file)), &f); err != nil {
		t.Fatal(err)
	}
	return f
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

package main

import (
	"maps"
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
				isPinned(t, file, step.Uses)
				if step.Run != "" && !strings.HasPrefix(step.Run, "make ${{ matrix.") &&
					!strings.HasPrefix(step.Run, "apt-get update && apt-get install ") {
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

// The forge builds the files of a tag by make release, and signs the provenance of each before anybody sees them. Only
// this job may do so.
func TestReleaseWorkflow(t *testing.T) {
	t.Parallel()

	flow := workflow(t, "release.yml")
	job := flow.Jobs["release"]
	if len(flow.Jobs) != 1 || !slices.Equal(flow.On.Push.Tags, []string{"v*"}) {
		t.Errorf("%d jobs run for the tags %q", len(flow.Jobs), flow.On.Push.Tags)
	}
	if want := map[string]string{"contents": "read"}; !maps.Equal(flow.Permissions, want) {
		t.Errorf("the workflow has the permissions %v", flow.Permissions)
	}
	if want := map[string]string{
		"contents": "write", "id-token": "write", "attestations": "write",
	}; !maps.Equal(job.Permissions, want) {
		t.Errorf("the job has the permissions %v", job.Permissions)
	}
	var steps []string
	for _, step := range job.Steps {
		isPinned(t, "release.yml", step.Uses)
		action, _, _ := strings.Cut(step.Uses, "@")
		command, _, _ := strings.Cut(step.Run, " \"")
		steps = append(steps, action+command)
		if action == "actions/attest" && step.With["subject-path"] != "dist/*" {
			t.Errorf("the provenance is that of %q", step.With["subject-path"])
		}
		// As in the image.
		if action == "actions/setup-go" && !strings.Contains(read(t, "Dockerfile"), " golang:"+step.With["go-version"]+" ") {
			t.Errorf("the files are built with Go %s, and the image is not", step.With["go-version"])
		}
	}
	if want := []string{
		"actions/checkout", "actions/setup-go", "make release", "actions/attest", "gh release create",
	}; !slices.Equal(steps, want) {
		t.Errorf("the steps are %q, want %q", steps, want)
	}
}

// isPinned fails unless an action is that of one commit. A step without an action passes.
func isPinned(t *testing.T, file, action string) {
	t.Helper()

	if action != "" && !regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`).MatchString(action) {
		t.Errorf("%s: %s is not pinned to a commit", file, action)
	}
}

// flow is what the tests read of a workflow.
type flow struct {
	On struct {
		Push     struct{ Tags []string }
		Schedule []struct{ Cron string }
	}
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Strategy    struct {
			Matrix struct {
				Include []struct{ Target, Needs string }
			}
		}
		Steps []struct {
			Uses, Run string
			With      map[string]string
		}
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
	for _, m := range regexp.MustCompile(`(?m)^([a-z/]+):([^=#\n]*)(?:##.*)?$`).
		FindAllStringSubmatch(read(t, "Makefile"), -1) {
		all[m[1]] = strings.Fields(m[2])
	}
	if len(all["test"]) == 0 {
		t.Fatal("the Makefile has no test")
	}
	return all
}

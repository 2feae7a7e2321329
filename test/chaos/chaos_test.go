//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testing/testserver"
)

func TestMain(m *testing.M) {
	if os.Getenv(nodeVariable) != "" {
		os.Exit(nodeMain())
	}
	os.Exit(m.Run())
}

// lines passes the progress of a campaign on to the test's log.
type lines struct{ t *testing.T }

func (l lines) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

// campaignOf does a campaign, whose node processes are this test binary.
func campaignOf(t *testing.T, change func(o *options)) *report {
	t.Helper()

	o := defaults
	o.Seed = uint64(time.Now().UnixNano())
	if seed, err := strconv.ParseUint(os.Getenv("SPOOL_SEED"), 10, 64); err == nil {
		o.Seed = seed
	}
	o.Progress = lines{t}
	change(&o)
	report, err := runCampaign(t.Context(), o)
	if errors.Is(err, testserver.ErrNoPostgres) && os.Getenv("SPOOL_TEST_REQUIRE") != "1" {
		t.Skip("skipped:", err)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	t.Log(report.words())
	return report
}

// length returns how long the faults of a campaign go on: 15 seconds, with SPOOL_TEST_LONG=1 a minute, and what
// SPOOL_CHAOS says, if anything.
func length() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("SPOOL_CHAOS")); err == nil {
		return d
	}
	if os.Getenv("SPOOL_TEST_LONG") == "1" {
		return time.Minute
	}
	return 15 * time.Second
}

// TestCampaign is the campaign for CI.
func TestCampaign(t *testing.T) { //nolint:paralleltest // it needs the machine for itself
	report := campaignOf(t, func(o *options) { o.Duration, o.Threads = length(), 6 })
	for _, v := range report.Violations {
		t.Errorf("%s, %s: %s", v.Invariant, v.Where, v.What)
	}
	for _, what := range []string{"kills", "runs completed", "effects of tools"} {
		if report.Counts[what] == 0 {
			t.Errorf("the campaign has no %s, so it proves nothing", what)
		}
	}
}

// TestBreak takes one protection out of the nodes after another. The campaign must notice within a minute. It
// runs if SPOOL_CHAOS_BREAK is set.
func TestBreak(t *testing.T) { //nolint:paralleltest // it needs the machine for itself
	if os.Getenv("SPOOL_CHAOS_BREAK") == "" {
		t.Skip("skipped: SPOOL_CHAOS_BREAK is not set")
	}
	for _, broken := range breaks { //nolint:paralleltest // as above
		t.Run(broken, func(t *testing.T) {
			report := campaignOf(t, func(o *options) { o.Break, o.Duration = broken, time.Minute })
			if len(report.Violations) == 0 {
				t.Fatalf("nobody noticed that the nodes work without the %s", broken)
			}
			t.Log(report.Violations[0])
		})
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()

	p := plan{ID: "t1-r1", Steps: []planStep{{Words: 3, Calls: []string{"once", "nest"}}, {Words: 0}}}
	got, err := parsePlan(p.prompt())
	if err != nil || got.prompt() != p.prompt() || got.text(0) != "t1-r1/0 w0 w1 w2" {
		t.Errorf("%q was read as %+v, %v", p.prompt(), got, err)
	}
	if id := p.nested(0, 1).ID; id != "t1-r1.0.1" || rootOf(id) != "t1-r1" {
		t.Errorf("the nested run is %s of %s", id, rootOf(id))
	}
	for _, wrong := range []string{"", "r1", "r1 x", "r1 1:once y"} {
		if _, err := parsePlan(wrong); err == nil {
			t.Errorf("%q was read as a plan", wrong)
		}
	}
}

// TestJournals judges acknowledgements by the claims of all processes.
func TestJournals(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	one, two := dir+"/one", dir+"/two"
	for name, text := range map[string]string{
		one: `{"op":"claim","job":1,"token":1,"began":10,"ended":11}
{"op":"ack","job":1,"token":1,"kind":"extend","began":15,"ended":16}
{"op":"ack","job":1,"token":1,"kind":"done","began":31,"ended":32}
{"op":"stale","on":"t1","fence":3,"current":4,"began":1,"ended":2}
{"op":"cla`,
		two: `{"op":"claim","job":1,"token":2,"began":20,"ended":30}
{"op":"ack","job":1,"token":2,"kind":"done","began":40,"ended":41}
`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newReader()
	found, err := r.read([]string{one, two, dir + "/none"})
	if err != nil || len(found) != 2 {
		t.Fatalf("found %q, %v, want a commit and an acknowledgement", found, err)
	}
	if !strings.Contains(found[0], "fence 3") || !strings.Contains(found[1], "(done) with the token 1") {
		t.Errorf("found %q", found)
	}
	if found, err := r.read([]string{one, two}); err != nil || len(found) != 0 {
		t.Errorf("found %q, %v again", found, err)
	}
}

// TestMCPCampaign is the campaign of the MCP client for CI.
func TestMCPCampaign(t *testing.T) { //nolint:paralleltest // it needs the machine for itself
	report := campaignOf(t, func(o *options) { o.MCP, o.Duration, o.Threads = true, length(), 6 })
	for _, v := range report.Violations {
		t.Errorf("%s, %s: %s", v.Invariant, v.Where, v.What)
	}
	for _, what := range []string{"kills", "runs completed", "effects of calls", "tasks", "answers that the server got"} {
		if report.Counts[what] == 0 {
			t.Errorf("the campaign has no %s, so it proves nothing", what)
		}
	}
}

// TestMCPBreak plants one defect of a client after another. The campaign ends when it notices. It runs if
// SPOOL_CHAOS_BREAK is set.
func TestMCPBreak(t *testing.T) { //nolint:paralleltest // it needs the machine for itself
	if os.Getenv("SPOOL_CHAOS_BREAK") == "" {
		t.Skip("skipped: SPOOL_CHAOS_BREAK is not set")
	}
	for _, broken := range mcpBreaks { //nolint:paralleltest // as above
		t.Run(broken, func(t *testing.T) {
			report := campaignOf(t, func(o *options) {
				o.MCP, o.Break, o.Duration, o.Threads = true, broken, time.Minute, 6
			})
			want := map[string]string{"retry": "effect-once", "anew": "effect-once", "late": "call", "payload": "answer"}[broken]
			if !slices.ContainsFunc(report.Violations, func(v violation) bool { return v.Invariant == want }) {
				t.Fatalf("found %+v, want %s", report.Violations, want)
			}
		})
	}
}

package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the numbers of docs/design/scale.md again")

const page = "../../docs/design/scale.md"

var (
	costs    = regexp.MustCompile(`(?s)<!-- unit costs -->\n.*?<!-- end -->`)
	commands = regexp.MustCompile("(?s)```sh\ncd bench && GOWORK=off go run ./scale([^\n]*)\n```\n\n<!-- run by bench/scale/page_test.go -->\n```text\n.*?```")
)

// simulates skips a test that does nothing but simulations if it looks for data races: a simulation is one goroutine,
// and takes ten times as long. test/go.sh runs them without the race detector.
func simulates(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("a simulation has one goroutine: test/go.sh runs it without the race detector")
	}
}

// TestPage holds the numbers of docs/design/scale.md: the table of unit costs is that of units.json, and each command
// prints what stands below it. With -update it writes them.
func TestPage(t *testing.T) {
	t.Parallel()
	simulates(t)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := costs.ReplaceAllStringFunc(string(text), func(string) string { return table(measured(t)) })
	found := 0
	want = commands.ReplaceAllStringFunc(want, func(block string) string {
		found++
		args := commands.FindStringSubmatch(block)[1]
		var out bytes.Buffer
		if err := run(t.Context(), append([]string{"-units", "units.json"}, strings.Fields(args)...), &out); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		return "```sh\ncd bench && GOWORK=off go run ./scale" + args +
			"\n```\n\n<!-- run by bench/scale/page_test.go -->\n```text\n" + out.String() + "```"
	})
	if found < 3 || !costs.MatchString(want) {
		t.Fatalf("the page has %d commands, and the table of unit costs or not", found)
	}
	if want == string(text) {
		return
	}
	if !*update {
		t.Error("the page has other numbers than units.json gives: go test ./scale -run TestPage -update writes them")
		return
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table returns the unit costs in the form of the page.
func table(u units) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- unit costs -->\nMeasured on %s: %s, commit %s.\n\n", u.Date, u.Machine, u.Commit)
	b.WriteString("| | kept, bytes | passing, bytes | written, bytes | CPU of Spool, ms | CPU of PostgreSQL, ms | round trips |\n|---|--:|--:|--:|--:|--:|--:|\n")
	line := func(what string, c cost, postgres bool) {
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.0f | %.3f |", what, c.Kept, c.Passing, c.Written, 1000*c.Engine)
		if postgres {
			fmt.Fprintf(&b, " %.3f | %.2f |\n", 1000*c.Database, c.Trips)
		} else {
			b.WriteString(" | |\n")
		}
	}
	for _, s := range []struct {
		name string
		storeCosts
		postgres bool
	}{{"PostgreSQL", u.Postgres, true}, {"SQLite", u.SQLite, false}} {
		line(s.name+": run of one step", s.Run, s.postgres)
		line(s.name+": further step, with a tool call", s.Step, s.postgres)
		line(s.name+": token in a burst", s.Item, s.postgres)
		line(s.name+": second of 50 tokens, in addition", s.Stream, s.postgres)
		if s.postgres {
			line(s.name+": client that watches such a second", s.Watched, true)
		}
	}
	fmt.Fprintf(&b,
		"\nA notification costs PostgreSQL %.0f µs of CPU to send, and %.1f µs for each process that listens. A run of one step directly after a checkpoint writes %.1f KB of WAL,\n"+
			"because each page that it changes first goes in whole. An idle open stream takes %.0f KB of heap and stacks.\n<!-- end -->", 1e6*u.NotifySend, 1e6*u.Notify, u.ColdWAL/1000, u.WatcherMemory/1000)
	return b.String()
}

package enginetest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var update = flag.Bool("update", false, "write what tests compare with")

const crashTable = "../../../docs/operations/nested-crashes.md"

// nestedWrites are the writes of an approval in a nested run, in their order. The first of
// all is the start.
var nestedWrites = []struct{ phase, what string }{
	{"ask", "find that the agent's revision is not stored yet"},
	{"ask", "store the agent's revision"},
	{"ask", "claim the run"},
	{"ask", "save the main agent's draft, which spawns"},
	{"ask", "make the nested run, with its brief"},
	{"ask", "save the nested run's draft, which calls the tool"},
	{"park", "save the nested step, with its park"},
	{"park", "save the main agent's step; the run waits"},
	{"answer", "save the answer, with the job to resume"},
	{"resume", "claim the run"},
	{"resume", "note that the tool is about to run"},
	{"resume", "save the tool's result"},
	{"resume", "save the nested run's answer, and its end"},
	{"unwind", "save the result of the spawn call"},
	{"unwind", "save the main agent's answer; the run ends"},
}

// TestNestedCrashes kills the process before and after each write of an approval in a
// nested run, and lets another one continue. It writes down what has become of the tool, the
// answer and the run, and compares that with the page in docs/operations.
func TestNestedCrashes(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) { nestedCrash(newEngineTest(t, inMemory)) })
	table := nestedCrashRows(t)
	page, err := os.ReadFile(crashTable)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- crashes -->\n\n", "\n<!-- end of crashes -->"
	head, rest, found := strings.Cut(string(page), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", crashTable)
	}
	want := head + begin +
		"| phase | write | died | runs of the tool | answers | a person was asked | the run ended as |\n|---|---|---|---|---|---|---|\n" +
		table + end + tail
	switch {
	case *update:
		if err := os.WriteFile(crashTable, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case want != string(page):
		t.Errorf("%s is not what happens; run go test ./internal/testing/enginetest -run TestNestedCrashes -update\n%s",
			crashTable, table)
	}
}

// nestedCrashRows returns the lines of the table.
func nestedCrashRows(t *testing.T) string {
	t.Helper()
	kinds := []spooltest.FaultKind{spooltest.CrashBefore, spooltest.CrashAfter}
	rows := make([]string, len(nestedWrites)*len(kinds))
	t.Run("crash", func(t *testing.T) {
		for i := range rows {
			at, kind := i/len(kinds), kinds[i%len(kinds)]
			t.Run(fmt.Sprintf("%d %s", at+1, kind), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := newEngineTest(t, inMemory)
					outcome := nestedCrash(s, spooltest.Fault{Call: at + 2, On: "Store.Update", Kind: kind})
					write := nestedWrites[at]
					rows[i] = fmt.Sprintf("| %s | %s | %s | %s |\n", write.phase, write.what,
						strings.TrimPrefix(kind.String(), "crash "), outcome)
				})
			})
		}
	})
	return strings.Join(rows, "")
}

// nestedCrash plays the approval in a process with a fault, and continues in another. It
// returns the columns of the table.
func nestedCrash(s *engineTest, faults ...spooltest.Fault) string {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "mail")), spooltest.Say("done")},
		"mail": {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("sent")},
	})
	c := newCampaign(s, nestedTest{s}.treeConfig(m, approved("send", `"sent"`)), 1, false)
	n := c.boot(faults...)
	n = c.begin(n)
	stop := c.clients("a")
	c.hire(n)
	crashed := false
	s.until("the end of the run", func() bool {
		select {
		case <-n.faulty.Crashed():
			crashed = true
			c.retire(n)
			n = c.boot()
			c.hire(n)
		default:
		}
		c.answerAll(n.Engine, func(p store.Park) wire.Response {
			return wire.Response{Approved: p.Reason == wire.ParkApproval, Digest: p.Digest, Reason: "a person has looked"}
		})
		return s.thread().State.Terminal()
	})
	if crashed != (len(faults) > 0) {
		s.Errorf("a crash: %t, with %d faults", crashed, len(faults))
	}
	if !crashed {
		writes := 0
		for _, call := range n.faulty.Log() {
			if strings.HasPrefix(call, "Store.Update") {
				writes++
			}
		}
		if writes != len(nestedWrites)+1 {
			s.Errorf("there are %d writes, and the table has %d", writes, len(nestedWrites)+1)
		}
	}
	var asked, approvals, unknown int
	for _, line := range s.record() {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == string(wire.EntryInputRequired):
			asked++
			if strings.HasSuffix(rest, wire.ParkOutcomeUnknown) {
				unknown++
			}
		case word == string(wire.EntryHITLResponse) && strings.HasSuffix(rest, "approved"):
			approvals++
		}
	}
	c.finish(stop)
	if runs := s.executed(); runs > 1 || approvals != 1 {
		s.Errorf("the tool ran %d times, after %d approvals", runs, approvals)
	}
	why := "once"
	if unknown > 0 {
		why = "twice: what became of the call?"
	}
	kept := "kept"
	if approvals != 1 {
		kept = fmt.Sprintf("recorded %d times", approvals)
	}
	return fmt.Sprintf("%d | %s | %s | %s", s.executed(), kept, why, s.thread().State)
}

package spool_test

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
)

const stateMachinePage = "docs/operations/state-machine.md"

// TestStateMachinePage compares the table and the drawing of the docs with the code.
func TestStateMachinePage(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile(stateMachinePage)
	if err != nil {
		t.Fatal(err)
	}
	for name, pattern := range map[string]string{
		"Table":   "(?m)^\\| `([A-Z_]+)` \\| `([A-Z_]+)` \\| ([a-z ]+) \\| .+ \\|$",
		"Drawing": `(?m)^ +([A-Z_]+) --> ([A-Z_]+): ([a-z ]+)$`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var drawn []spool.Transition
			for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(page, -1) {
				drawn = append(drawn, spool.Transition{From: spool.State(m[1]), To: spool.State(m[2]), By: string(m[3])})
			}
			if diff := gocmp.Diff(sorted(spool.Transitions()), sorted(drawn)); diff != "" {
				t.Errorf("%s differs from spool.Transitions (-code +page):\n%s", stateMachinePage, diff)
			}
		})
	}
}

func sorted(list []spool.Transition) []spool.Transition {
	slices.SortFunc(list, func(a, b spool.Transition) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.By, b.By))
	})
	return list
}

// TestStateMachinePairs walks every pair of states, the same one twice included.
func TestStateMachinePairs(t *testing.T) {
	t.Parallel()

	// What each state may become, written out a second time so that a change of the
	// table is a change of two places.
	next := map[spool.State][]spool.State{
		spool.Idle:            {spool.Queued},
		spool.Queued:          {spool.Running, spool.Completed, spool.Cancelled, spool.Failed},
		spool.Running:         {spool.Running, spool.Queued, spool.WaitingForInput, spool.Completed, spool.Cancelled, spool.Failed},
		spool.WaitingForInput: {spool.Running, spool.Cancelled, spool.Failed},
		spool.Completed:       {spool.Queued},
		spool.Cancelled:       {spool.Queued},
		spool.Failed:          {spool.Queued},
	}
	states := spool.States()
	if len(states) != len(next) {
		t.Fatalf("%d states, want %d", len(states), len(next))
	}
	for _, from := range states {
		for _, to := range states {
			if got, want := from.CanBecome(to), slices.Contains(next[from], to); got != want {
				t.Errorf("%s can become %s: %v, want %v", from, to, got, want)
			}
		}
		if from.CanBecome("") || from.CanBecome("PAUSED") || spool.State("PAUSED").CanBecome(from) {
			t.Errorf("%s has to do with states that do not exist", from)
		}
	}
}

// TestStateMachineShape checks what the rest of the code takes for granted.
func TestStateMachineShape(t *testing.T) {
	t.Parallel()

	seen := make(map[spool.Transition]bool)
	for _, tr := range spool.Transitions() {
		if seen[tr] {
			t.Errorf("%v is listed twice", tr)
		}
		seen[tr] = true
		if !tr.From.Active() && (tr.To != spool.Queued || tr.By != "start") {
			t.Errorf("%v: only a start leaves a state that is not active", tr)
		}
		if tr.To == spool.Idle {
			t.Errorf("%v: nothing goes back to IDLE", tr)
		}
	}
	for _, s := range spool.States() {
		if s.Active() && s.Terminal() || s != spool.Idle && !s.Active() && !s.Terminal() {
			t.Errorf("%s is both, or neither, of active and terminal", s)
		}
		// Whatever happens to it, an active run can be stopped and can fail.
		if s.Active() && (!s.CanBecome(spool.Cancelled) || !s.CanBecome(spool.Failed)) {
			t.Errorf("%s cannot be left", s)
		}
	}
	if spool.Idle.Active() || spool.Idle.Terminal() {
		t.Error("IDLE is active or terminal")
	}
}

// TestStateMachineIsReadOnly checks that nobody can change the table from outside.
func TestStateMachineIsReadOnly(t *testing.T) {
	t.Parallel()

	spool.Transitions()[0] = spool.Transition{From: spool.Completed, To: spool.Idle}
	if spool.Transitions()[0].From != spool.Idle {
		t.Error("a caller changed the table")
	}
}

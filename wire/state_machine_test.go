package wire_test

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/wire"
)

const stateMachinePage = "../docs/operations/state-machine.md"

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

			var drawn []wire.Transition
			for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(page, -1) {
				drawn = append(drawn, wire.Transition{From: wire.State(m[1]), To: wire.State(m[2]), By: string(m[3])})
			}
			if diff := gocmp.Diff(sorted(wire.Transitions()), sorted(drawn)); diff != "" {
				t.Errorf("%s differs from spool.Transitions (-code +page):\n%s", stateMachinePage, diff)
			}
		})
	}
}

func sorted(list []wire.Transition) []wire.Transition {
	slices.SortFunc(list, func(a, b wire.Transition) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.By, b.By))
	})
	return list
}

// TestStateMachinePairs walks every pair of states, the same one twice included.
func TestStateMachinePairs(t *testing.T) {
	t.Parallel()

	// What each state may become, written out a second time so that a change of the
	// table is a change of two places.
	next := map[wire.State][]wire.State{
		wire.Idle:            {wire.Queued},
		wire.Queued:          {wire.Running, wire.Completed, wire.Cancelled, wire.Failed},
		wire.Running:         {wire.Running, wire.Queued, wire.WaitingForInput, wire.Completed, wire.Cancelled, wire.Failed},
		wire.WaitingForInput: {wire.Running, wire.Cancelled, wire.Failed},
		wire.Completed:       {wire.Queued},
		wire.Cancelled:       {wire.Queued},
		wire.Failed:          {wire.Queued},
	}
	states := wire.States()
	if len(states) != len(next) {
		t.Fatalf("%d states, want %d", len(states), len(next))
	}
	for _, from := range states {
		for _, to := range states {
			if got, want := from.CanBecome(to), slices.Contains(next[from], to); got != want {
				t.Errorf("%s can become %s: %v, want %v", from, to, got, want)
			}
		}
		if from.CanBecome("") || from.CanBecome("PAUSED") || wire.State("PAUSED").CanBecome(from) {
			t.Errorf("%s has to do with states that do not exist", from)
		}
	}
}

// TestStateMachineShape checks what the rest of the code takes for granted.
func TestStateMachineShape(t *testing.T) {
	t.Parallel()

	seen := make(map[wire.Transition]bool)
	for _, tr := range wire.Transitions() {
		if seen[tr] {
			t.Errorf("%v is listed twice", tr)
		}
		seen[tr] = true
		if !tr.From.Active() && (tr.To != wire.Queued || tr.By != "start") {
			t.Errorf("%v: only a start leaves a state that is not active", tr)
		}
		if tr.To == wire.Idle {
			t.Errorf("%v: nothing goes back to IDLE", tr)
		}
	}
	for _, s := range wire.States() {
		if s.Active() && s.Terminal() || s != wire.Idle && !s.Active() && !s.Terminal() {
			t.Errorf("%s is both, or neither, of active and terminal", s)
		}
		// Whatever happens to it, an active run can be stopped and can fail.
		if s.Active() && (!s.CanBecome(wire.Cancelled) || !s.CanBecome(wire.Failed)) {
			t.Errorf("%s cannot be left", s)
		}
	}
	if wire.Idle.Active() || wire.Idle.Terminal() {
		t.Error("IDLE is active or terminal")
	}
}

// TestStateMachineIsReadOnly checks that nobody can change the table from outside.
func TestStateMachineIsReadOnly(t *testing.T) {
	t.Parallel()

	wire.Transitions()[0] = wire.Transition{From: wire.Completed, To: wire.Idle}
	if wire.Transitions()[0].From != wire.Idle {
		t.Error("a caller changed the table")
	}
}

package enginetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// crashScript does a run in a process with faults and, if that process crashes, in another. It returns
// how many backend calls the first process made. If own is true, each process has its own run streams.
type crashScript func(s *engineTest, own bool, faults ...spooltest.Fault) int

// crashScripts are run with a crash at each call of the backend.
var crashScripts = map[string]crashScript{
	"Crash":           everythingScript,
	"CrashCompact":    compactScript,
	"CrashExpiry":     expiryScript,
	"MixedCrash":      shortScript,
	"NestedCrash":     nestedScript,
	"NestedLateCrash": nestedLateScript,
	"CrashBudget":     budgetScript,
	"CrashSteer":      steerScript,
	"CrashTake":       takeScript,
	"CrashProvider":   providerScript,
	"CrashBackground": backgroundScript,
	"CrashCited":      citedScript,
	"CrashOutput":     outputScript,
	"CrashFallback":   fallbackScript,
	"CrashFinal":      finalScript,
	"CrashPending":    pendingScript,
	"CrashTransfer":   transferScript,
	"CrashCatalogue":  catalogueScript,
}

// leastCalls is how many backend calls a script makes at least, so that a crash at each of them shows something.
// fewCalls has the scripts that make fewer: a run that its start claims has one segment, and few transactions.
const leastCalls = 30

var fewCalls = map[string]int{"CrashTake": 15, "CrashFinal": 25}

// testEngineCrash runs one script again and again, with a fault at a call of the store, the queue and the streams
// each time: either the process dies before or after the call, or only the call fails. Least is how many calls the
// script has to make. See [crashPoints] for which of them go wrong.
func testEngineCrash(t *testing.T, o Options, script crashScript, least int) {
	t.Helper()
	calls := 0
	t.Run("nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			calls = script(newEngineTest(t, o), false)
		})
	})
	if calls < least {
		t.Fatalf("the script makes %d calls", calls)
	}
	for half, own := range []bool{false, true} {
		kinds := []spooltest.FaultKind{spooltest.CrashBefore, spooltest.CrashAfter, spooltest.FailBefore, spooltest.FailAfter}
		for turn, kind := range kinds {
			name := fmt.Sprintf("%s, own streams %t", kind, own)
			crashPoints(t, strings.ReplaceAll(name, " ", "-"), calls, half*len(kinds)+turn, func(t *testing.T, n int) {
				t.Helper()
				script(newEngineTest(t, o), own, spooltest.Fault{Call: n, Kind: kind})
			})
		}
	}
}

// crashWays is how many ways there are to go wrong at a call.
const crashWays = 8

// crashPoints runs a script that goes wrong at each call that this run has chosen, in one of up to [crashWays] ways.
// With SPOOL_TEST_LONG=1 it chooses all calls. Otherwise SPOOL_CRASH_SEED decides in which way a call goes wrong, so
// that a run has an eighth of all points. Without it, that is 1.
func crashPoints(t *testing.T, name string, calls, way int, script func(t *testing.T, n int)) {
	t.Helper()
	all := os.Getenv("SPOOL_TEST_LONG") == "1"
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SPOOL_CRASH_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatalf("SPOOL_CRASH_SEED: %v", err)
	}
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		for n := 1; n <= calls && !t.Failed(); n++ {
			if chosen := rand.New(rand.NewPCG(seed, uint64(n))).IntN(crashWays); !all && chosen != way {
				continue
			}
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { script(t, n) })
			})
		}
		if t.Failed() {
			t.Logf("again: SPOOL_CRASH_SEED=%d", seed)
		}
	})
}

// everythingScript is a run of two steps, with tools of every kind and a park.
func everythingScript(s *engineTest, own bool, faults ...spooltest.Fault) int {
	m := spooltest.NewReplayModel(
		spooltest.Turn{
			Reasoning: []string{"hm"}, Text: []string{"one ", "two"}, Usage: spooltest.Tokens(5, 7),
			Calls: []spooltest.Call{
				{ID: "c1", Name: "look"}, {ID: "c2", Name: "once"}, {ID: "c3", Name: "send"}, {ID: "c4", Name: "nope"},
			},
		},
		spooltest.Turn{
			Text:  []string{"three ", "four"},
			Usage: spooltest.Tokens(11, 13),
			Calls: []spooltest.Call{{ID: "c5", Name: "once"}},
		},
		spooltest.Turn{Text: []string{"five"}, Usage: spooltest.Tokens(17, 19)},
	)
	look := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "look"},
		Call: func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
			_ = call.Publish(ctx, "looking", 1) // errors are caused by the script
			_ = call.PublishDurable(ctx, "looked", 2)
			return json.RawMessage(`"seen"`), nil
		},
	}
	look.Idempotent = true
	c := newCampaign(s, s.config(m, look, plain("once", `"done"`), approved("send", `"sent"`)), 1, own)
	answered := 0
	first, stop := c.survive(faults, []string{"a", "b"}, func(n *node) {
		c.answerAll(n.Engine, func(p store.Park) wire.Response {
			answered++
			if p.Reason != wire.ParkOutcomeUnknown {
				return wire.Response{Approved: true, Args: json.RawMessage(`{"to":"eve"}`), Reason: "to eve", Digest: p.Digest}
			}
			r := wire.Response{Approved: answered%2 == 0}
			if answered/2%2 == 1 {
				r.Payload = json.RawMessage(`"a person looked"`)
			}
			return r
		})
	})
	if got := s.thread(); got.State != wire.Completed {
		s.Errorf("the run ended as %s: %+v", got.State, s.run("r1"))
	}
	if text := strings.Join(s.script(), "\n"); strings.Count(text, "one two") != 1 ||
		strings.Count(text, "three four") != 1 || strings.Count(text, "five") != 1 {
		s.Errorf("messages: %s", text)
	}
	c.finish(stop)
	return first.faulty.Calls()
}

// expiryScript leaves a call without an answer: there is a warning, the call gets more time, and it
// expires.
func expiryScript(s *engineTest, own bool, faults ...spooltest.Fault) int {
	c := newCampaign(s, s.config(sending(),
		expiring(spool.Expiry{Then: spool.ExpireExtend, TTL: 2 * time.Minute, Warn: time.Minute, Extensions: 1})), 1, own)
	// calls of an idle worker are all alike, so have fewer of them
	c.config.Worker.Poll, c.config.Worker.SweepEvery = 4*time.Second, 20*time.Second
	first, stop := c.survive(faults, []string{"a"}, func(*node) {})
	calls := first.faulty.Calls()
	if got := s.thread(); got.State != wire.Completed || s.executed() != 0 {
		s.Errorf("the run ended as %s, with %d calls of tools: %+v", got.State, s.executed(), s.run("r1"))
	}
	waits := expireTest{s}.waits()
	for i, line := range waits {
		_, waits[i], _ = strings.Cut(line, " ") // the times may differ: a lost job is added again later
	}
	s.lines("waits", waits, "INPUT_REQUIRED c1 approval extend", "INPUT_EXPIRING c1 extend", "INPUT_EXTENDED c1",
		"INPUT_REQUIRED c1 approval", "INPUT_EXPIRING c1", "INPUT_EXPIRED c1")
	c.finish(stop)
	return calls
}

// survive executes a run to its end, in a process with faults and, if that crashes, in another, while
// the named clients follow. At each check it calls each with the present process. It returns the first
// process, and a function that ends the clients.
func (c *campaign) survive(faults []spooltest.Fault, clients []string, each func(n *node)) (first *node, stop func()) {
	c.Helper()
	first = c.boot(faults...)
	n := c.begin(first)
	stop = c.clients(clients...)
	c.hire(n)
	c.outlive(n, each)
	return first, stop
}

// outlive waits until the run has ended. If the process crashes, another one continues. At each check it calls each
// with the present process.
func (c *campaign) outlive(n *node, each func(n *node)) {
	c.Helper()
	c.until("the end of the run", func() bool {
		select {
		case <-n.faulty.Crashed():
			c.retire(n)
			n = c.boot()
			c.hire(n)
		default:
		}
		each(n)
		return c.thread().State.Terminal()
	})
}

// begin starts the run. If the process crashes, it starts the run in another process and returns that.
func (c *campaign) begin(n *node) *node {
	c.Helper()
	for range 10 {
		r, err := n.Run(context.Background(), chat, wire.StartRequest{Prompt: "go", RunID: "r1", IdempotencyKey: "start"})
		if err == nil && !r.Accepted {
			c.Fatalf("start: %+v", r)
		}
		if err == nil {
			c.history.Started(chat, r.RunID)
			return n
		}
		select {
		case <-n.faulty.Crashed():
			c.retire(n)
			n = c.boot()
		case <-time.After(time.Second):
		}
	}
	c.Fatal("the run could not be started")
	return nil
}

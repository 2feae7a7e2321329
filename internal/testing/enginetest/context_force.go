package enginetest

import (
	"context"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var forceTests = map[string]func(s contextTest){
	"Compacts":   testForceCompacts,
	"Refused":    testForceRefused,
	"InTwo":      testForceInTwo,
	"BehindRun":  testForceBehindRun,
	"UsageAfter": testForceUsage,
}

func (s contextTest) compact(e *engine.Engine) wire.CompactResult {
	s.Helper()
	result, err := e.Compact(context.Background(), chat)
	if err != nil {
		s.Fatal(err)
	}
	return result
}

func testForceCompacts(s contextTest) {
	m, sums := answering(100_000), summing()
	e := s.working(s.contextConfig(m, sums))
	s.turns(e, "a", "b", "c", "d", "e")
	before := s.all(chat, "r-e")
	client := s.watch(e, &spooltest.Client{Name: "live"}, wire.FollowOptions{})
	result := s.compact(e)
	if !result.Compacted || result.Reason != "" || result.SummarizedMessages < 6 {
		s.Fatalf("the result is %+v", result)
	}
	after := s.all(chat, "r-e")
	s.same("the originals", after.Messages[:10], before.Messages)
	s.same("the thread's state", after.Thread.State, before.Thread.State)
	if told := s.compactions(); len(told) != 1 || told[0].SummarizedMessages != result.SummarizedMessages {
		s.Errorf("the record tells of %+v", told)
	}
	s.turns(e, "f")
	<-time.After(quiet)
	client()
	if text := promptText(m.Requests()[5]); strings.Count(text, "SUM-1 of") != 1 || strings.Contains(text, long("b", 9)) ||
		!strings.HasSuffix(text, long("f", 400)) {
		s.Errorf("the next prompt is %s", text)
	}
	rows := s.rows(spool.UsageCompaction)
	if len(rows) != 1 || rows[0].RunID != "" || rows[0].Outcome != wire.OutcomeFinished {
		s.Errorf("the ledger has %s", compare.Dump(rows))
	}
}

func testForceRefused(s contextTest) {
	m := answering(2000)
	e := s.engine(s.contextConfig(m, summing()))
	refused := func(reason, text string) {
		s.Helper()
		if got := s.compact(e); got.Compacted || got.Reason != reason || got.Error != text {
			s.Errorf("the result is %+v", got)
		}
	}
	refused(wire.ReasonNotFound, "Thread not found")
	s.start(e, "r-a", "a")
	before := s.all(chat, "r-a")
	refused(wire.ReasonActiveRun, "Thread has an active run")
	s.same("the thread", s.all(chat, "r-a"), before)
	s.work(e)
	s.ended(wire.Completed)
	s.compact(e)
	before = s.all(chat, "r-a")
	refused(wire.ReasonNothingToCompact, "There is nothing to summarise")
	s.same("the thread", s.all(chat, "r-a"), before)
}

// testForceInTwo has callers in two processes at the same time, of which one is too late.
func testForceInTwo(s contextTest) {
	gate := make(chan struct{})
	asked := make(chan struct{}, 2)
	sums := spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
		asked <- struct{}{}
		return spooltest.Turn{Text: []string{"SUM"}, Gate: gate}
	})
	c := s.contextConfig(answering(100_000), sums)
	e, other := s.working(c), s.engine(c)
	s.turns(e, "a", "b", "c")
	results := make(chan wire.CompactResult, 2)
	for _, e := range []*engine.Engine{e, other} {
		go func() {
			r, err := e.Compact(context.Background(), chat)
			if err != nil {
				s.Error(err)
			}
			results <- r
		}()
	}
	receive(s, asked, bubbleWait, "the question to the model")
	receive(s, asked, bubbleWait, "the question to the model")
	close(gate)
	one, two := receive(s, results, bubbleWait, "a result"), receive(s, results, bubbleWait, "a result")
	if one.Compacted == two.Compacted || one.Reason+two.Reason != wire.ReasonChanged {
		s.Errorf("the results are %+v and %+v", one, two)
	}
	if len(s.compactions()) != 1 {
		s.Errorf("the record tells of %+v", s.compactions())
	}
}

// testForceBehindRun summarises a long run after its end, including its turn.
func testForceBehindRun(s contextTest) {
	m := stepping(100_000, 6, "look", "look")
	e := s.working(s.contextConfig(m, summing(), plain("look", result("seen", 300))))
	s.start(e, "r1", "What I want is this.")
	s.ended(wire.Completed)
	if got := s.compact(e); !got.Compacted {
		s.Fatalf("the result is %+v", got)
	}
	s.start(e, "r2", "And now?")
	s.ended(wire.Completed)
	last := m.Requests()[m.Asked()-1]
	if problem := malformed(last.Messages); problem != "" {
		s.Error(problem)
	}
	if text := promptText(last); strings.Contains(text, "What I want is this.") || !strings.Contains(text, "step-6.") ||
		!strings.HasSuffix(text, "And now?") {
		s.Errorf("the next prompt is %s", text)
	}
}

func testForceUsage(s contextTest) {
	m := answering(100_000)
	e := s.working(s.contextConfig(m, summing()))
	s.turns(e, "a", "b", "c", "d") // with more of them, the counts of this model would not be believed
	usage := func() wire.ContextUsage {
		u, err := e.Usage(context.Background(), chat)
		if err != nil {
			s.Fatal(err)
		}
		return u.Context
	}
	before := usage()
	asked := m.Requests()[3]
	if want := int64(tokensOf(promptText(asked))) + 102; before.UsedTokens != want || before.BudgetTokens != 84_000 ||
		before.CompactAtTokens != 67_200 || before.Messages != 8 {
		s.Errorf("before: %+v, want %d tokens", before, want)
	}
	s.compact(e)
	after := usage()
	if after.UsedTokens >= before.UsedTokens/2 || after.UsedTokens < before.UsedTokens/8 || after.Messages != 9 {
		s.Errorf("after it: %+v", after)
	}
	// An edit removes the counted messages.
	turn := s.messagesOf(chat)[2]
	s.rest()
	s.startAs(e, chat, wire.StartRequest{Prompt: "x", RunID: "r-x", EditMessageID: turn.ID})
	if got := usage(); got.Messages != 3 {
		s.Errorf("after an edit: %+v", got)
	}
	s.stop(e)
}

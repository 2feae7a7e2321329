package enginetest

import (
	"context"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// contextOverflow returns the error for a prompt that is too long.
func contextOverflow() error {
	return &spool.ModelError{
		Status: 400, ContextOverflow: true, Message: "This model's maximum context length is 500 tokens.",
	}
}

// strict returns a model with an unknown window that refuses prompts of more than the given tokens.
func strict(tokens int, say func(r spool.ModelRequest) spooltest.Turn) *spooltest.Model {
	return counting(0, func(r spool.ModelRequest) spooltest.Turn {
		if tokensOf(promptText(r)) > tokens {
			return spooltest.Turn{Err: contextOverflow()}
		}
		return say(r)
	})
}

func sayLong(spool.ModelRequest) spooltest.Turn { return spooltest.Say(long("re", 400)) }

func (s contextTest) outcomes() (all []string) {
	s.Helper()
	for _, row := range s.rows("") {
		all = append(all, string(row.Kind)+" "+string(row.Outcome))
	}
	return all
}

func testContextRefused(s contextTest) {
	m, sums := strict(700, sayLong), summing()
	e := s.working(s.contextConfig(m, sums))
	s.turns(e, "a", "b", "c", "d")
	if len(s.compactions()) != 1 || sums.Asked() != 1 {
		s.Fatalf("it was compacted %d times: %v", len(s.compactions()), s.outcomes())
	}
	r := s.run("r-d")
	if r.Segments != 1 || r.Attempts != 0 || r.Steps != 1 {
		s.Errorf("the run: %+v", r)
	}
	s.lines("the ledger", s.outcomes(), "step finished", "step finished", "step finished", "step error",
		"compaction finished", "step finished")
	last := promptText(m.Requests()[4])
	if !strings.Contains(last, "SUM-1") || !strings.HasSuffix(last, long("d", 400)) {
		s.Errorf("the second prompt is %s", last)
	}
}

func testContextRefusedTwice(s contextTest) {
	m, sums := strict(100, sayLong), summing()
	e := s.working(s.contextConfig(m, sums, plain("look", "1")))
	s.start(e, "r-a", "short")
	s.ended(wire.Completed)
	s.start(e, "r-b", long("b", 2000))
	s.ended(wire.Failed)
	if r := s.run("r-b"); m.Asked() != 3 || r.Segments != 1 || !strings.Contains(r.Error, "maximum context length") {
		s.Errorf("the model was asked %d times: %+v", m.Asked(), r)
	}
	s.lines("the ledger", s.outcomes(), "step finished", "step error", "compaction finished", "step error")
}

// testContextRefusedNothing has a prompt from which nothing can be left out.
func testContextRefusedNothing(s contextTest) {
	m, sums := strict(100, sayLong), summing()
	e := s.working(s.contextConfig(m, sums))
	s.start(e, "r-a", long("a", 2000))
	s.ended(wire.Failed)
	if m.Asked() != 1 || sums.Asked() != 0 || s.run("r-a").Segments != 1 {
		s.Errorf("the model was asked %d times, and for %d summaries", m.Asked(), sums.Asked())
	}
	s.lines("the ledger", s.outcomes(), "step error")
}

// testContextRefusedMidway has a provider that reports an overflow after the answer has begun.
func testContextRefusedMidway(s contextTest) {
	sums := summing()
	m := spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two"),
		spooltest.Turn{Text: []string{"half an ans"}, Err: contextOverflow()})
	e := s.working(s.contextConfig(m, sums))
	s.turns(e, "a", "b")
	s.start(e, "r-c", "c")
	s.ended(wire.Failed)
	if m.Asked() != 3 || sums.Asked() != 0 {
		s.Errorf("the model was asked %d times, and for %d summaries", m.Asked(), sums.Asked())
	}
}

func testContextRefusedThrottle(s contextTest) {
	sums := summing()
	m := spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two"),
		spooltest.Turn{
			Err: &spool.ModelError{
				Status: 429, Type: "rate_limit_exceeded",
				Message: "Request too large on tokens per min (TPM): please reduce the length of the messages.",
			},
		},
		spooltest.Say("three"))
	e := s.working(s.contextConfig(m, sums))
	s.turns(e, "a", "b", "c")
	if r := s.run("r-c"); m.Asked() != 4 || sums.Asked() != 0 || r.Segments != 2 {
		s.Errorf("the model was asked %d times, and for %d summaries: %+v", m.Asked(), sums.Asked(), r)
	}
}

// testContextCacheMarks checks that the prompts of a run and of the next run begin with the same
// messages, up to the cache marks of the previous prompt.
func testContextCacheMarks(s contextTest) {
	m := stepping(0, 2, "look", "look")
	c := s.config(m, plain("look", `"seen"`))
	c.Agents[0].Instructions = "Be brief."
	e := s.working(c)
	s.turns(e, "a", "b")
	asked := m.Requests()
	want := [][]int{{0, 1}, {0, 3}, {0, 5}, {0, 6, 7}}
	for i, r := range asked {
		if i >= len(want) || !slices.Equal(r.CacheMarks, want[i]) {
			s.Errorf("prompt %d of %d messages has the marks %v", i, len(r.Messages), r.CacheMarks)
		}
		if r.CacheKey == "" || r.CacheKey != asked[0].CacheKey || strings.Contains(r.CacheKey, "acme") {
			s.Errorf("prompt %d has the key %q", i, r.CacheKey)
		}
		if i > 0 {
			s.same("the beginning of the next prompt", r.Messages[:len(asked[i-1].Messages)], asked[i-1].Messages)
		}
	}
	other := spool.ThreadKey{Tenant: "acme", ID: "other"}
	r, err := e.Run(context.Background(), other, wire.StartRequest{Prompt: "x"})
	if err != nil || !r.Accepted {
		s.Fatal(r, err)
	}
	s.until("the other run", func() bool { return s.threadOf(other).State.Terminal() })
	if got := m.Requests()[4].CacheKey; got == asked[0].CacheKey {
		s.Error("two threads have the same key")
	}
}

package enginetest

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var retryTests = map[string]func(s *engineTest){
	"Transient":    testRetryTransient,
	"AskedTooLong": testRetryAskedTooLong,
	"MaxAttempts":  testRetryMaxAttempts,
}

// overloaded returns a temporary error.
func overloaded() error { return &spool.ModelError{Status: 503, Message: "overloaded"} }

func testRetryTransient(s *engineTest) {
	m := spooltest.NewModel(
		spooltest.Turn{Err: overloaded()},
		spooltest.Turn{Text: []string{"half an ans"}, Usage: spooltest.Tokens(5, 2), Err: overloaded()},
		spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
		spooltest.Turn{Err: overloaded()},
		spooltest.Say("done"),
	)
	e := s.engine(s.config(m, plain("look", "1")))
	begin := time.Now()
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.until("the first failure", func() bool { return m.Asked() == 1 && s.thread().State == wire.Queued })
	if r := s.run("r1"); r.Attempts != 1 || r.State != wire.Queued || r.Deaths != 0 {
		s.Errorf("after the first failure: %+v", r)
	}
	s.ended(wire.Completed)
	// 5 s, 10 s and, after a saved step, 5 s again, each plus up to a quarter.
	if took := time.Since(begin); took < 20*time.Second || took > 27*time.Second {
		s.Errorf("it took %s", took)
	}
	<-time.After(quiet)
	stop()
	s.lines("messages", s.script(), "user go", "assistant c1=look{}", "tool c1:1", "assistant done")
	s.lines("record", s.record(),
		"RUN_STARTED r1:1", "RUN_ENDED r1:1 error", "RUN_STARTED r1:2", "RUN_ENDED r1:2 error",
		"RUN_STARTED r1:3", "RUN_ENDED r1:3 error", "RUN_STARTED r1:4", "RUN_ENDED r1:4 finished")
	if r := s.run("r1"); r.Attempts != 0 || r.Segments != 4 {
		s.Errorf("in the end: %+v", r)
	}
}

// testRetryAskedTooLong has a provider that asks for a longer wait than the engine allows. Clients get
// the actual wait.
func testRetryAskedTooLong(s *engineTest) {
	c := s.config(spooltest.NewModel(
		spooltest.Turn{Err: &spool.ModelError{Status: 429, Message: "slow down", After: 10 * time.Minute}},
		spooltest.Turn{Err: &spool.ModelError{Status: 503, Message: "come back tomorrow", After: 24 * time.Hour}},
		spooltest.Say("done"),
	))
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	begin := time.Now()
	s.work(e)
	s.ended(wire.Completed)
	if took := time.Since(begin); took < 25*time.Minute || took > 26*time.Minute {
		s.Errorf("it took %s", took)
	}
	var told []int64
	for _, e := range s.entriesOf(chat) {
		var ended wire.RunEnded
		if e.Type == wire.EntryRunEnded && json.Unmarshal(e.Payload, &ended) == nil && ended.Status == wire.SegmentError {
			told = append(told, ended.RetryAfterMS)
		}
	}
	s.same("what the record tells", told, []int64{600_000, 900_000})
	<-time.After(quiet)
	told = nil
	for _, f := range client() {
		var failed wire.StreamFailed
		if f.Item != nil && f.Item.Type == wire.ItemRunError && f.Item.Decode(&failed) == nil {
			told = append(told, failed.RetryAfterMS)
		}
	}
	s.same("what the streams tell", told, []int64{600_000, 900_000})
}

func testRetryMaxAttempts(s *engineTest) {
	m := spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
		return spooltest.Turn{Text: []string{"x"}, Usage: spooltest.Tokens(3, 1), Err: overloaded()}
	})
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	r := s.run("r1")
	if m.Asked() != 3 || r.Attempts != 3 || r.Segments != 3 || !strings.Contains(r.Error, "overloaded") {
		s.Errorf("asked %d times: %+v", m.Asked(), r)
	}
	s.lines("messages", s.script(), "user go")
	if u, err := e.Usage(context.Background(), chat); err != nil || u.Tokens.TotalTokens != 12 {
		s.Errorf("usage: %+v, %v", u, err)
	}
}

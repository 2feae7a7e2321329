package enginetest

import (
	"context"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/wire"
)

// heldBy returns a start of the maker after a time, with the scopes of the maker.
func (s laterTest) heldBy(m wire.Maker, run spool.RunID, in time.Duration) wire.StartRequest {
	return wire.StartRequest{
		Prompt: "x", RunID: run, By: m.Subject, Scopes: m.Scopes, MayNotStop: m.MayNotStop, StartAt: s.at(in), Maker: &m,
	}
}

// refusal returns the reason of a start that was refused.
func (s laterTest) refusal(e *engine.Engine, run spool.RunID) string {
	s.Helper()
	d, err := e.DelayedStart(context.Background(), chat.Tenant, run)
	if err != nil {
		return err.Error()
	}
	return d.Reason + ": " + d.Error
}

// testLaterRight has makers whose right changes until their starts come due. A start gets the rights of then, waits
// while nobody knows them, and is refused when they have ended.
func testLaterRight(s laterTest) {
	m := &may{rights: wire.Rights{Scopes: []string{"boss", "extra"}}}
	c := s.talking()
	c.Schedules.MayStart = m.start
	e := s.engine(c)
	ann := annToken()
	ann.Scopes = []string{"boss", "clerk"}
	s.startAs(e, beside("a"), s.heldBy(ann, "r1", soon))
	m.fail(spool.Errorf(spool.Unavailable, "no file of tokens"))
	s.work(e)
	<-time.After(2 * soon)
	s.same("starts while the right is not known", s.waiting(e), "r1 a x;")
	m.fail(nil)
	s.until("the run", func() bool { return s.runs(beside("a")) == 1 })
	s.same("scopes", s.runsOf(beside("a"))[0].Scopes, []string{"boss"})

	s.startAs(e, beside("b"), s.heldBy(ann, "r2", soon))
	m.fail(spool.Errorf(spool.Forbidden, "The token is not in the file any more"))
	s.startAs(e, beside("c"), wire.StartRequest{Prompt: "x", RunID: "r3", StartAt: s.at(soon)}) // the host's own
	s.until("the run of the host", func() bool { return s.runs(beside("c")) == 1 })
	s.until("the refusal", func() bool {
		return s.refusal(e, "r2") == "forbidden: The token is not in the file any more"
	})
	s.same("runs of a maker without a right", s.runs(beside("b")), 0)
	if _, err := e.Run(context.Background(), beside("d"), s.heldBy(ann, "r4", soon)); spool.CodeOf(err) !=
		spool.Forbidden {
		s.Errorf("a maker without a right: %v", err)
	}
	s.same("dead jobs", len(s.deadJobs()), 0)
}

// testLaterSession has makers whose right nobody can look up. It ends with their credentials, unless the host bounds
// it.
func testLaterSession(s laterTest) {
	person := wire.Maker{
		Tenant: chat.Tenant, Subject: "jwt", Kind: wire.MakerPrincipal, Until: s.now().Add(time.Minute),
		Rights: wire.Rights{Scopes: []string{"boss", "clerk"}},
	}
	c := s.talking()
	e := s.engine(c)
	c.Schedules.MaxScopes, c.Schedules.MaxAge = []string{"boss"}, time.Hour
	bounded := s.engine(c)
	ask := func(e *engine.Engine, thread spool.ThreadID, r wire.StartRequest, want spool.Code) {
		s.Helper()
		_, err := e.Run(context.Background(), beside(thread), r)
		if (err == nil) != (want == "") || err != nil && (spool.CodeOf(err) != want ||
			!strings.HasPrefix(spool.MessageOf(err), "startAt must be before ")) {
			s.Errorf("%s: %v, want %q", r.RunID, err, want)
		}
	}
	ask(e, "a", s.heldBy(person, "r1", 30*time.Second), "")
	ask(e, "b", s.heldBy(person, "r2", 2*time.Minute), spool.Invalid)
	endless := person
	endless.Until = time.Time{}
	ask(e, "b", s.heldBy(endless, "r2", 2*time.Minute), "")
	ask(bounded, "c", s.heldBy(person, "r3", 30*time.Second), "")
	ask(bounded, "d", s.heldBy(person, "r4", 2*time.Minute), "")
	ask(bounded, "e", s.heldBy(person, "r5", 2*time.Hour), spool.Invalid)
	if _, err := e.MoveDelayedStart(context.Background(), chat.Tenant, "r1", s.at(time.Hour)); spool.CodeOf(err) !=
		spool.Invalid {
		s.Errorf("a move behind the end of the right: %v", err)
	}
	s.startAs(e, beside("f"), s.heldBy(person, "r6", 50*time.Second))
	<-time.After(40 * time.Second)
	stop := s.work(bounded)
	for thread, want := range map[spool.ThreadID][]string{"a": {"boss", "clerk"}, "c": {"boss", "clerk"}} {
		s.until("the run of "+string(thread), func() bool { return s.runs(beside(thread)) == 1 })
		s.same("scopes of "+string(thread), s.runsOf(beside(thread))[0].Scopes, want)
	}
	stop()
	<-time.After(2 * time.Minute)
	s.work(bounded)
	for thread, want := range map[spool.ThreadID][]string{"b": {"boss", "clerk"}, "d": {"boss"}} {
		s.until("the run of "+string(thread), func() bool { return s.runs(beside(thread)) == 1 })
		s.same("scopes of "+string(thread), s.runsOf(beside(thread))[0].Scopes, want)
	}
	s.until("the refusal", func() bool { return s.refusal(e, "r6") == "forbidden: The right of its maker has ended" })
	s.same("delayed starts", s.waiting(e), "r6 f xforbidden;")
}

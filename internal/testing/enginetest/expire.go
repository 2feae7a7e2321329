package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// expireTest is the fixture of the cases about parks that expire.
type expireTest struct{ *engineTest }

var expireTests = map[string]func(s expireTest){
	"Warned":       testExpireWarned,
	"Times":        testExpireTimes,
	"Defaults":     testExpireDefaults,
	"Marked":       testExpireMarked,
	"Fail":         testExpireFail,
	"FailSettled":  testExpireFailSettled,
	"FailSiblings": testExpireFailSiblings,
	"FailSwept":    testExpireFailSwept,
	"FailUnknown":  testExpireFailUnknown,
	"Extend":       testExpireExtend,
	"NoSense":      testExpireNoSense,
}

// expiring returns a tool whose calls need an approval and have the given expiry.
func expiring(x spool.Expiry) spool.Tool {
	t := approved("send", `"sent"`)
	t.Expiry = x
	return t
}

// waits returns the record entries about parks, each with the minutes since the first.
func (s expireTest) waits() (lines []string) {
	s.Helper()
	var first time.Time
	for _, e := range s.entriesOf(chat) {
		if !strings.HasPrefix(string(e.Type), "INPUT_") {
			continue
		}
		if first.IsZero() {
			first = e.CreatedAt
		}
		var p struct{ OnExpiry string }
		_ = json.Unmarshal(e.Payload, &p)
		passed := int(e.CreatedAt.Sub(first).Round(time.Minute) / time.Minute)
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%dm %s %s", passed, entryLine(e), p.OnExpiry)))
	}
	return lines
}

func testExpireWarned(s expireTest) {
	e := s.working(s.config(sending(), approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.until("the warning", func() bool { return len(s.waits()) > 1 })
	s.lines("waits", s.waits(), "0m INPUT_REQUIRED c1 approval", "12m INPUT_EXPIRING c1")
	var warning wire.InputExpiring
	for _, entry := range s.entriesOf(chat) {
		if entry.Type == wire.EntryInputExpiring {
			_ = json.Unmarshal(entry.Payload, &warning)
		}
	}
	if p := approveTest(s).park(); !warning.ExpiresAt.Equal(p.ExpiresAt) || p.State != wire.ParkOpen || !p.Warned {
		s.Errorf("the warning is %+v, the park %+v", warning, p)
	}
	<-time.After(2 * time.Minute)
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	<-time.After(time.Hour)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "INPUT_REQUIRED c1 approval", "RUN_ENDED r1:1 parked",
		"INPUT_EXPIRING c1", "HITL_RESPONSE c1 approved", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
}

// testExpireTimes checks which setting decides how long a call waits.
func testExpireTimes(s expireTest) {
	job := outside(func(a *spool.Answer) (json.RawMessage, error) { return a.Payload, nil }) // says an hour
	job.Expiry = spool.Expiry{TTL: time.Minute, Warn: 30 * time.Second}
	send := expiring(spool.Expiry{TTL: 2 * time.Hour, Warn: 20 * time.Minute})
	e := s.engine(
		s.config(
			spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "job"}, spooltest.Call{ID: "c2", Name: "send"}),
				spooltest.Say("done")),
			job, send,
		),
	)
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	for i, want := range []time.Duration{time.Hour, 2 * time.Hour} {
		if p := s.parksOf(chat, "r1")[i]; p.ExpiresAt.Sub(p.CreatedAt) != want || p.Expiry.TTL != want {
			s.Errorf("park %+v, want %s", p, want)
		}
	}
	<-time.After(3 * time.Hour)
	stop()
	s.lines("waits", s.waits(), "0m INPUT_REQUIRED c1 job", "0m INPUT_REQUIRED c2 approval",
		"60m INPUT_EXPIRING c1", "60m INPUT_EXPIRED c1", "100m INPUT_EXPIRING c2", "120m INPUT_EXPIRED c2")
}

// testExpireDefaults checks how long people and clients have if nothing says so, and when the warnings come.
func testExpireDefaults(s expireTest) {
	d := newDying(1)
	d.Name = "die"
	m := spooltest.NewModel(spooltest.Use(show("c1"), spooltest.Call{ID: "c2", Name: "send"},
		spooltest.Call{ID: "c3", Name: "die"}))
	c := s.config(m, approved("send", `"sent"`), d.Tool)
	c.ParkTTL = 0
	p := s.process(c)
	s.startAs(p.Engine, chat, showing())
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	s.working(c)
	s.becomes(wire.WaitingForInput)
	const day = 24 * time.Hour
	for _, p := range s.parksOf(chat, "r1") {
		want := spool.Expiry{Then: spool.ExpireDeny, TTL: 7 * day, Warn: time.Hour}
		if p.Reason == wire.ParkClientTool {
			want.TTL, want.Warn = 15*time.Minute, 3*time.Minute
		}
		if p.Expiry != want || p.ExpiresAt.Sub(p.CreatedAt) != want.TTL {
			s.Errorf("%s has %+v, want %+v", p.Reason, p.Expiry, want)
		}
	}
	s.same("questions", len(s.parksOf(chat, "r1")), 3)
}

// testExpireMarked has a run that completes although nobody answered its question. The run keeps the mark, and
// the thread has it until its next run.
func testExpireMarked(s expireTest) {
	m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("done"),
		spooltest.Say("again"))
	e := s.working(s.config(m, approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	want := wire.Expired{Questions: 1, Since: approveTest(s).park().ExpiresAt}
	o, err := e.Outcome(context.Background(), chat, "r1")
	if err != nil {
		s.Fatal(err)
	}
	var ended wire.RunEnded
	for _, entry := range s.entriesOf(chat) {
		if entry.Type == wire.EntryRunEnded {
			_ = json.Unmarshal(entry.Payload, &ended)
		}
	}
	for name, got := range map[string]wire.Expired{
		"run": s.run("r1").Expired, "thread": s.thread().Expired, "outcome": o.Expired, "end of the segment": ended.Expired,
	} {
		if got.Questions != 1 || !got.Since.Equal(want.Since) {
			s.Errorf("the %s has the mark %+v, want %+v", name, got, want)
		}
	}
	s.lines("listed", s.expired(e), "thread chat", "run r1", "question c1 true")
	s.start(e, "r2", "again")
	s.ended(wire.Completed)
	s.lines("listed after the next run", s.expired(e), "run r1", "question c1 true")
}

// expired returns what the lists of expired questions have.
func (s expireTest) expired(e *engine.Engine) (lines []string) {
	s.Helper()
	ctx := context.Background()
	threads, err := e.Threads(ctx, chat.Tenant, wire.ThreadQuery{Expired: true})
	runs, err2 := e.Runs(ctx, chat.Tenant, wire.RunQuery{Expired: true})
	page, err3 := e.Inbox(ctx, chat.Tenant, wire.ParkQuery{State: wire.ParkExpired})
	if err := errors.Join(err, err2, err3); err != nil {
		s.Fatal(err)
	}
	for _, t := range threads {
		lines = append(lines, "thread "+string(t.ID))
	}
	for _, r := range runs {
		lines = append(lines, "run "+string(r.ID))
	}
	for _, q := range page.Questions {
		lines = append(lines, fmt.Sprintf("question %s %t", q.ToolCallID, q.Expired))
	}
	return lines
}

const unanswered = "nobody answered the call of send in time"

func testExpireFail(s expireTest) {
	e := s.working(s.config(sending(), expiring(spool.Expiry{Then: spool.ExpireFail})))
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	if r := s.run("r1"); r.StopReason != wire.StopFailed || r.Error != unanswered {
		s.Errorf("the run is %+v", r)
	}
	s.lines("waits", s.waits(), "0m INPUT_REQUIRED c1 approval fail", "12m INPUT_EXPIRING c1 fail",
		"15m INPUT_EXPIRED c1 fail")
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"cancelled":true,"reason":"timeout","responded":false}`)
	if p := approveTest(s).park(); p.State != wire.ParkExpired || p.Answer != nil {
		s.Errorf("the park is %+v", p)
	}
	if s.executed() != 0 {
		s.Error("the tool was called")
	}
	if r, err := s.respond(e, "c1", true, ""); err != nil || r.Reason != wire.ReasonNoPark {
		s.Errorf("an answer after the end: %+v, %v", r, err)
	}
}

func testExpireFailSettled(s expireTest) {
	m := sending()
	c := s.config(m, expiring(spool.Expiry{Then: spool.ExpireFail}))
	var settled []wire.Settlement
	c.OnSettle = func(_ context.Context, t wire.Settlement) error {
		settled = append(settled, t)
		return nil
	}
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	if len(settled) != 1 || settled[0].State != wire.Failed || settled[0].Error != unanswered {
		s.Errorf("settled: %+v", settled)
	}
	if settled[0].Expired.Questions != 1 || s.thread().Expired.Questions != 1 {
		s.Errorf("the marks are %+v and %+v", settled[0].Expired, s.thread().Expired)
	}
	if m.Asked() != 1 || s.run("r1").Error != unanswered {
		s.Errorf("the model was asked %d times: %+v", m.Asked(), s.run("r1"))
	}
	s.lines("record", s.record(), "RUN_STARTED r1:1", "INPUT_REQUIRED c1 approval", "RUN_ENDED r1:1 parked",
		"INPUT_EXPIRING c1", "INPUT_EXPIRED c1")
}

// testExpireFailSiblings has a park that fails its run while another call still waits.
func testExpireFailSiblings(s expireTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"},
		spooltest.Call{ID: "c2", Name: "job"})),
		expiring(spool.Expiry{Then: spool.ExpireFail}),
		outside(func(a *spool.Answer) (json.RawMessage, error) { return a.Payload, nil })))
	begin := time.Now()
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	if took := time.Since(begin); took > 16*time.Minute {
		s.Errorf("it took %s", took)
	}
	for i, want := range []wire.ParkState{wire.ParkExpired, wire.ParkClosed} {
		if p := s.parksOf(chat, "r1")[i]; p.State != want || !p.Landed {
			s.Errorf("park %+v, want %s", p, want)
		}
	}
	<-time.After(2 * time.Hour)
	if got := s.record(); got[len(got)-1] != "INPUT_EXPIRED c1" {
		s.Errorf("the record ends with %s", got[len(got)-1])
	}
}

// testExpireFailSwept loses the job that would have failed the run.
func testExpireFailSwept(s expireTest) {
	e := approveTest(s).parked(sending(), expiring(spool.Expiry{Then: spool.ExpireFail}))
	err := s.backend.Store.Update(context.Background(), chat, 0,
		func(tx store.Tx) error { return tx.Write(store.Changes{CancelJobs: []string{"hitl-expiry:r1:c1"}}) })
	if err != nil {
		s.Fatal(err)
	}
	<-time.After(20 * time.Minute)
	s.work(e)
	s.ended(wire.Failed)
}

// testExpireFailUnknown has a question about an outcome that nobody answers.
func testExpireFailUnknown(s expireTest) {
	d := newDying(1)
	d.Expiry = spool.Expiry{Then: spool.ExpireFail, TTL: time.Minute}
	c := s.config(sending(), d.Tool)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	s.working(c)
	s.ended(wire.Failed)
	if got := s.script()[2]; !strings.HasPrefix(got, `tool c1:{"error":"the call was cut off`) || s.executed() != 1 {
		s.Errorf("the result is %s, after %d calls", got, s.executed())
	}
}

func testExpireExtend(s expireTest) {
	e := s.working(
		s.config(sending(), expiring(spool.Expiry{Then: spool.ExpireExtend, TTL: 10 * time.Minute, Extensions: 2})),
	)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("waits", s.waits(), "0m INPUT_REQUIRED c1 approval extend",
		"8m INPUT_EXPIRING c1 extend", "10m INPUT_EXTENDED c1 extend", "10m INPUT_REQUIRED c1 approval extend",
		"18m INPUT_EXPIRING c1 extend", "20m INPUT_EXTENDED c1", "20m INPUT_REQUIRED c1 approval",
		"28m INPUT_EXPIRING c1", "30m INPUT_EXPIRED c1")
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"cancelled":true,"reason":"timeout","responded":false}`, "assistant done")
}

func testExpireNoSense(s expireTest) {
	for _, x := range []spool.Expiry{{Then: "never"}, {TTL: -1}, {Extensions: -1}} {
		_, err := engine.New(s.backend, s.config(sending(), expiring(x)))
		if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), "Expiry.") {
			s.Errorf("%+v: %v", x, err)
		}
	}
}

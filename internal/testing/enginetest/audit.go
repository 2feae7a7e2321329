package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// auditTest is the fixture of the cases about the audit log.
type auditTest struct{ *engineTest }

var auditTests = map[string]func(s auditTest){
	"Answer":           testAuditAnswer,
	"RaiseBudget":      testAuditRaiseBudget,
	"Stop":             testAuditStop,
	"StopAgain":        testAuditStopAgain,
	"StopDecided":      testAuditStopDecided,
	"Interrupt":        testAuditInterrupt,
	"InterruptsInARow": testAuditInterruptsInARow,
	"Latest":           testAuditLatest,
	"Rollback":         testAuditRollback,
	"Delete":           testAuditDelete,
	"Operator":         testAuditOperator,
	"Operate":          testAuditOperate,
	"Together":         testAuditTogether,
	"Retention":        testAuditRetention,
}

// as returns a context for calls that the subject makes.
func as(subject string) context.Context {
	return engine.WithActor(context.Background(), wire.Actor{Subject: subject, Tenant: chat.Tenant})
}

// acts lists the audit log of the chat's tenant, the oldest entry first: what was done, by whom, and to
// which run.
func (s auditTest) acts() (lines []string) {
	s.Helper()
	list := s.auditLog(chat.Tenant)
	for i := range list {
		e := list[len(list)-1-i]
		words := []string{string(e.Action), "by " + e.By}
		if e.RunID != "" {
			words = append(words, string(e.RunID))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

func (s auditTest) auditLog(tenant spool.Tenant) []wire.AuditEntry {
	s.Helper()
	list, err := s.backend.Store.Audit(context.Background(), wire.AuditQuery{Tenant: tenant})
	if err != nil {
		s.Fatal(err)
	}
	return list
}

// An operator's action is logged as an operator's, even if the operator belongs to the tenant, and
// whatever name the answer has in the record.
func testAuditOperator(s auditTest) {
	e := s.working(s.config(sending(), approved("send", "1")))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	act := func(tenant spool.Tenant) context.Context {
		return engine.WithActor(context.Background(), wire.Actor{Subject: "olga", Tenant: tenant, Operator: true})
	}
	r, err := e.Respond(act("ops"), chat, wire.Response{ToolCallID: "c1", By: "operator"})
	s.history.Answered(spooltest.Answered{Thread: chat, Call: "c1", Delivered: r.Delivered, Unknown: err != nil})
	if err != nil || !r.Delivered {
		s.Fatal(r, err)
	}
	s.ended(wire.Completed)
	other := of(chat.Tenant, "other")
	s.startAs(e, other, wire.StartRequest{Prompt: "go", RunID: "r2"})
	s.until("the park", func() bool { return s.threadOf(other).State == wire.WaitingForInput })
	if r, err := e.Stop(act(chat.Tenant), other); err != nil || !r.Accepted {
		s.Fatal(r, err)
	}
	s.history.Stopped(other)
	var lines []string
	for _, entry := range s.auditLog(chat.Tenant) {
		lines = append(lines, string(entry.Action)+" "+string(entry.ByTenant)+"/"+entry.By)
	}
	s.lines("the log", lines, "stop acme/olga", "answer ops/olga")
	s.same("the record", approveTest(s).answers()[0].AnsweredBy, "operator")
}

// An accepted answer is logged with what was shown and the reason. A refused answer is not logged.
func testAuditAnswer(s auditTest) {
	e := s.working(
		s.config(
			spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send", Args: `{"text":"of the prompt"}`}),
				spooltest.Say("done")),
			approved("send", "1"),
		),
	)
	s.start(e, "r1", "of the prompt")
	s.becomes(wire.WaitingForInput)
	digest := s.parksOf(chat, "r1")[0].Digest
	if r, err := s.respondWith(e, wire.Response{ToolCallID: "c1", Digest: "another", By: "eve"}); r.Delivered ||
		err != nil {
		s.Errorf("an answer to something else: %+v, %v", r, err)
	}
	r, err := s.respondWith(e, wire.Response{
		ToolCallID: "c1", Approved: true, Digest: digest, By: "bert", Reason: "it is Monday",
	})
	if !r.Delivered || err != nil {
		s.Fatalf("the answer: %+v, %v", r, err)
	}
	if r, err := s.respondWith(e, wire.Response{ToolCallID: "c1", By: "eve"}); r.Delivered || err != nil {
		s.Errorf("an answer that comes late: %+v, %v", r, err)
	}
	s.ended(wire.Completed)
	list, yes := s.auditLog(chat.Tenant), true
	if len(list) != 1 {
		s.Fatalf("%d entries", len(list))
	}
	list[0].At = time.Time{}
	detail := `{"revision":"` + string(s.run("r1").Revision) + `"}`
	s.same("the detail", string(compare.Canonical(list[0].Detail)), detail)
	list[0].Detail = nil
	s.same("the entry", list[0], wire.AuditEntry{
		Tenant: chat.Tenant, Seq: 1, Action: wire.AuditAnswer, By: "bert", ThreadID: chat.ID, RunID: "r1", ToolCallID: "c1",
		Approved: &yes, Digest: digest, Reason: "it is Monday",
	})
	if text, err := json.Marshal(list); err != nil || strings.Contains(string(text), "of the prompt") {
		s.Errorf("the log has what was said: %s, %v", text, err)
	}
}

func testAuditRaiseBudget(s auditTest) {
	e := s.working(budgetTest(s).asksForMore(spool.Budget{ToolCalls: 1}, frugal(40, thrice)))
	s.start(e, "r1", "go")
	s.answer(e, budgetTest(s).budgetPark().ToolCallID, true, `{"toolCallBudget":9}`)
	s.ended(wire.Completed)
	s.lines("the log", s.acts(), "answer by ann r1", "raise_budget by ann r1")
	s.same("the new bounds", string(compare.Canonical(s.auditLog(chat.Tenant)[0].Detail)), `{"toolCallBudget":9}`)
}

func testAuditStop(s auditTest) {
	e := s.engine(s.config(spooltest.NewModel()))
	s.start(e, "r1", "go")
	s.startAs(e, chat, wire.StartRequest{Prompt: "next", RunID: "r2", WhenBusy: spool.BusyEnqueue})
	s.startAs(e, chat, wire.StartRequest{Prompt: "more", RunID: "r3", WhenBusy: spool.BusyEnqueue})
	s.startAs(e, chat, wire.StartRequest{Prompt: "last", RunID: "r4", WhenBusy: spool.BusyEnqueue})
	if r, err := e.StopRun(as("bert"), chat, "r2"); !r.Accepted || err != nil {
		s.Fatalf("stop one that waits: %+v, %v", r, err)
	}
	if r, err := e.Stop(as("anna"), chat); !r.Accepted || err != nil {
		s.Fatalf("stop: %+v, %v", r, err)
	}
	s.history.Stopped(chat)
	if r, err := e.Stop(as("eve"), chat); r.Accepted || err != nil {
		s.Errorf("stop what has ended: %+v, %v", r, err)
	}
	s.lines("the log", s.acts(), "stop by bert r2", "stop by anna r3", "stop by anna r4", "stop by anna r1")
}

// A start that stops the previous run is logged as a stop by the subject of the start.
func testAuditInterrupt(s auditTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("done"))))
	s.start(e, "r1", "go")
	s.startAs(e, chat, wire.StartRequest{Prompt: "no", RunID: "r2", WhenBusy: spool.BusyInterrupt, By: "bert"})
	s.history.Stopped(chat)
	s.work(e)
	s.ended(wire.Completed)
	s.lines("the log", s.acts(), "stop by bert r1")
}

// The log keeps who deleted a thread. Deleting a missing thread is not logged.
func testAuditDelete(s auditTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Say("done"), spooltest.Say("done"))))
	old := of(chat.Tenant, "old")
	pruneTest(s).completes(e, old)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if r, err := e.DeleteThread(as("bert"), old); !r.Accepted || err != nil {
		s.Fatalf("delete: %+v, %v", r, err)
	}
	if r, err := e.DeleteThread(as("eve"), old); r.Accepted || err != nil {
		s.Errorf("delete again: %+v, %v", r, err)
	}
	<-time.After(time.Hour)
	if _, err := e.Prune(as("olga"), wire.PruneOptions{Before: s.now()}); err != nil {
		s.Fatal(err)
	}
	s.lines("the log", s.acts(), "delete_thread by bert", "prune_thread by olga")
	s.same("the last thread", s.auditLog(chat.Tenant)[0].ThreadID, chat.ID)
	s.keys = nil
	s.history.Forget(old, chat)
}

// An action of another tenant's operator is logged for the tenant that it affects.
func testAuditOperate(s auditTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("done"))))
	s.start(e, "r1", "go")
	job := redriveTest(s).die(e)
	operator := engine.WithActor(context.Background(), wire.Actor{Subject: "olga", Tenant: "ops"})
	again, err := e.Redrive(operator, chat.Tenant, job)
	if err != nil || !again.Accepted {
		s.Fatalf("redrive: %+v, %v", again, err)
	}
	s.history.Started(chat, again.RunID)
	job = redriveTest(s).die(e)
	if n, err := e.PurgeJobs(operator, chat.Tenant, wire.JobQuery{JobID: job}); n != 1 || err != nil {
		s.Errorf("purge: %d, %v", n, err)
	}
	s.lines("the log", s.acts(), "redrive_job by olga "+string(again.RunID), "purge_jobs by olga")
	for _, entry := range s.auditLog(chat.Tenant) {
		if entry.ByTenant != "ops" || entry.JobID == 0 {
			s.Errorf("%+v", entry)
		}
	}
	s.same("of the operator's tenant", len(s.auditLog("ops")), 0)
}

// A failed action is not logged.
func testAuditTogether(s auditTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("done"), spooltest.Say("done"))))
	s.start(e, "r1", "go")
	b := s.join()
	b.Store = failingStore{b.Store}
	failing := s.over(b, s.config(spooltest.NewModel()))
	if _, err := failing.Stop(as("anna"), chat); !errors.Is(err, errAuditFails) {
		s.Errorf("a stop without a log: %v", err)
	}
	if _, err := failing.DeleteThread(as("anna"), chat); err != nil { // the thread is active
		s.Error(err)
	}
	waitTest(s).busy(e, "r2", spool.BusyEnqueue)
	if _, err := failing.Run(
		as("anna"), chat, wire.StartRequest{Prompt: "no", RunID: "r3", WhenBusy: spool.BusyLatest},
	); !errors.Is(err, errAuditFails) {
		s.Errorf("a start in another's place without a log: %v", err)
	}
	s.lines("the log", s.acts())
	s.same("the runs", waitTest(s).states(), "r1 QUEUED, r2 QUEUED")
	s.work(e)
	s.ended(wire.Completed)
	if _, err := failing.DeleteThread(as("anna"), chat); !errors.Is(err, errAuditFails) {
		s.Errorf("a deletion without a log: %v", err)
	}
	s.same("the thread exists", pruneTest(s).exists(chat), true)
}

var errAuditFails = errors.New("the audit log fails")

// failingStore cannot write its audit log.
type failingStore struct{ store.Store }

func (f failingStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	return f.Store.Update(ctx, key, fence, func(tx store.Tx) error { return fn(failingTx{tx}) })
}

type failingTx struct{ store.Tx }

func (t failingTx) Write(c store.Changes) error {
	if len(c.Audit) > 0 {
		return errAuditFails
	}
	return t.Tx.Write(c)
}

// Workers remove entries that are older than the configuration says, or none if it says for ever.
func testAuditRetention(s auditTest) {
	day := 24 * time.Hour
	s.lasts(600 * day)
	kept := s.config(spooltest.NewModel())
	kept.Retention.Audit, kept.Worker.Poll, kept.Worker.SweepEvery = -1, day, day
	e := s.engine(kept)
	add := func() {
		if err := e.AppendAudit(as("anna"), chat.Tenant, &wire.AuditEntry{Action: "own"}); err != nil {
			s.Fatal(err)
		}
	}
	add()
	stop := s.work(e)
	<-time.After(500 * day)
	add()
	s.same("kept for ever", len(s.auditLog(chat.Tenant)), 2)
	stop()
	kept.Retention.Audit, kept.Worker.Poll, kept.Worker.SweepEvery = 0, time.Hour, time.Hour
	stop = s.work(s.engine(kept))
	<-time.After(2 * time.Hour)
	s.lines("within 400 days", s.acts(), "own by anna")
	stop()
	kept.Retention.Audit = day
	s.work(s.engine(kept))
	<-time.After(day)
	s.lines("within a day", s.acts())
}

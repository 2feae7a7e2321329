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

// storageTest is the fixture of the cases about the limit of storage.
type storageTest struct{ *engineTest }

var storageTests = map[string]func(s storageTest){
	"Refused":   testStorageRefused,
	"LastStart": testStorageLastStart,
	"NextStep":  testStorageNextStep,
	"Queued":    testStorageQueued,
	"Parked":    testStorageParked,
	"Nested":    testStorageNested,
}

// storageLimit is how many bytes a tenant of these tests may store: enough for a few small runs.
const storageLimit = 100_000

// fill makes the thread's tenant exceed its limit with another thread, and returns that thread.
func (s storageTest) fill(c engine.Config) spool.ThreadKey {
	s.Helper()
	c.Limits.TenantBytes = 0
	key := spool.ThreadKey{Tenant: chat.Tenant, ID: "full"}
	s.startAs(s.engine(c), key, wire.StartRequest{Prompt: strings.Repeat("x", storageLimit)})
	return key
}

// endsFull waits until the limit has ended the run, and checks the record.
func (s storageTest) endsFull() {
	s.Helper()
	var told wire.StorageLimitReached
	budgetTest(s).endsBy(wire.StopStorageLimit, wire.EntryStorageLimitReached, &told)
	if told.BytesLimit != storageLimit {
		s.Errorf("the record tells %+v", told)
	}
}

// testStorageRefused checks that operations that add much are refused for the full tenant, and for no
// other.
func testStorageRefused(s storageTest) {
	c := s.config(echo())
	c.Limits.TenantBytes = storageLimit
	e, ctx := s.working(c), context.Background()
	first := s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", IdempotencyKey: "k"})
	s.ended(wire.Completed)
	full := s.fill(c)
	<-time.After(time.Minute)
	before := s.all(chat, "r1")
	refused := func(what string, err error) {
		s.Helper()
		if spool.CodeOf(err) != spool.StorageFull || !strings.Contains(spool.MessageOf(err), "100000") {
			s.Errorf("%s: %v", what, err)
		}
	}
	_, err := e.Run(ctx, chat, wire.StartRequest{Prompt: "more"})
	refused("a start", err)
	_, err = e.Run(ctx, spool.ThreadKey{Tenant: chat.Tenant, ID: "new"}, wire.StartRequest{Prompt: "more"})
	refused("a start on a new thread", err)
	_, err = e.PublishEvent(ctx, chat, "receipt", nil, wire.PublishOptions{Durable: true})
	refused("a durable event", err)
	_, err = e.Compact(ctx, chat)
	refused("a summary", err)
	s.same("the thread", s.all(chat, "r1"), before)

	if again, err := e.Run(ctx, chat, wire.StartRequest{Prompt: "go", RunID: "r1", IdempotencyKey: "k"}); err != nil ||
		again.RunID != first.RunID {
		s.Errorf("the first start again: %+v, %v", again, err)
	}
	if _, err := e.PublishEvent(ctx, chat, "receipt", nil, wire.PublishOptions{}); err != nil {
		s.Errorf("a live event: %v", err)
	}
	s.startAs(e, spool.ThreadKey{Tenant: "other", ID: "t"}, wire.StartRequest{Prompt: "go"})
	if o, err := e.Overview(ctx, chat.Tenant); err != nil || o.Bytes < storageLimit || o.BytesLimit != storageLimit {
		s.Errorf("the overview has %d of %d bytes, %v", o.Bytes, o.BytesLimit, err)
	}
	if o, err := e.Overview(ctx, "other"); err != nil || o.Bytes > storageLimit {
		s.Errorf("the other tenant has %d bytes, %v", o.Bytes, err)
	}
	if result, err := e.DeleteThread(ctx, full); err != nil || !result.Accepted {
		s.Fatalf("delete: %+v, %v", result, err)
	}
	s.keys = s.keys[:1]
	s.start(e, "r2", "go on")
	s.until("the end", func() bool { return s.run("r2").State == wire.Completed })
}

// testStorageLastStart checks that only the start that began while there was room exceeds the limit.
func testStorageLastStart(s storageTest) {
	c := s.config(spooltest.NewModel())
	c.Limits.TenantBytes = storageLimit
	e, ctx := s.engine(c), context.Background()
	most := int64(2*storageLimit - 1)
	for i, size := range []int{storageLimit - 10_000, storageLimit} {
		key := spool.ThreadKey{Tenant: chat.Tenant, ID: spool.ThreadID("t" + string(rune('1'+i)))}
		s.startAs(e, key, wire.StartRequest{Prompt: strings.Repeat("x", size)})
	}
	if _, err := e.Run(
		ctx, spool.ThreadKey{Tenant: chat.Tenant, ID: "t3"}, wire.StartRequest{Prompt: "more"},
	); spool.CodeOf(err) != spool.StorageFull {
		s.Errorf("a start beyond the bound: %v", err)
	}
	if o, err := e.Overview(ctx, chat.Tenant); err != nil || o.Bytes <= storageLimit || o.Bytes > most {
		s.Errorf("the tenant stores %d bytes, and at most %d were let through, %v", o.Bytes, most, err)
	}
	s.history.Starts = nil // no worker executes them
	s.keys = nil
}

// testStorageNextStep has a tool whose result exceeds the limit: the step is saved, and is the last
// one.
func testStorageNextStep(s storageTest) {
	m := spooltest.NewModel(spooltest.Turn{Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
		spooltest.Turn{Text: []string{"never"}})
	c := s.config(m, plain("look", `"`+strings.Repeat("x", storageLimit)+`"`))
	c.Limits.TenantBytes = storageLimit
	s.start(s.working(c), "r1", "go")
	s.endsFull()
	if n := len(m.Requests()); n != 1 {
		s.Errorf("the model was asked %d times", n)
	}
	if messages := s.messagesOf(chat); len(messages) != 3 || messages[2].Role != spool.RoleTool {
		s.Errorf("the thread has %s", compare.Dump(messages))
	}
}

// testStorageQueued exceeds the limit before a worker takes the run.
func testStorageQueued(s storageTest) {
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"never"}})
	c := s.config(m)
	c.Limits.TenantBytes = storageLimit
	e := s.engine(c)
	s.start(e, "r1", "go")
	s.fill(c)
	s.work(e)
	s.endsFull()
	s.lines("messages", s.script(), "user go")
}

// testStorageParked exceeds the limit while a person thinks. The approved call still runs and is saved.
func testStorageParked(s storageTest) {
	c := s.config(sending(), approved("send", `"sent"`))
	c.Limits.TenantBytes = storageLimit
	e := s.working(c)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.fill(c)
	s.answer(e, "c1", true, "")
	s.endsFull()
	if messages := s.messagesOf(chat); len(messages) != 3 || !strings.Contains(compare.Dump(messages[2]), "sent") {
		s.Errorf("the thread has %s", compare.Dump(messages))
	}
}

// testStorageNested checks that the nested runs end, and the run that has spawned them.
func testStorageNested(s storageTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "work")), spooltest.Say("never")},
		"work": {spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}), spooltest.Say("never")},
	})
	c := nestedTest(s).treeConfig(m, plain("look", `"`+strings.Repeat("x", storageLimit)+`"`))
	c.Limits.TenantBytes = storageLimit
	s.start(s.working(c), "r1", "go")
	s.until("the end", func() bool { return s.run("r1").State.Terminal() })
	for name, run := range map[string]store.RunRow{
		"the run": s.run("r1"), "the nested run": nestedTest(s).nested()["work"],
	} {
		if run.State != wire.Completed || run.StopReason != wire.StopStorageLimit {
			s.Errorf("%s is %s by %s", name, run.State, run.StopReason)
		}
	}
	if n := len(m.Requests()); n != 2 {
		s.Errorf("the models were asked %d times", n)
	}
	budgetTest(s).wellFormed()
}

// weighed checks the bytes of a tenant: they must be at least the size of its messages and of the
// record's payloads, except for the newest ones of a thread with a run.
func (s storageTest) weighed(bytes int64, threads []wire.Thread) {
	s.Helper()
	least := 0
	for _, thread := range threads {
		err := s.backend.Store.View(context.Background(), thread.Key(), func(v store.View) error {
			messages, err := v.Messages(store.MessageQuery{})
			for _, m := range messages {
				text, err := json.Marshal(m.Content)
				if err != nil {
					return err
				}
				least += len(text)
			}
			entries, err2 := v.Entries(store.EntryQuery{})
			for _, e := range entries {
				least += len(e.Payload)
			}
			return errors.Join(err, err2)
		})
		if err != nil {
			s.Error(err)
		}
		if thread.State.Active() {
			least -= 64 << 10
		}
	}
	if bytes < int64(least) || len(threads) == 0 && bytes != 0 {
		s.Errorf("%d threads have %d bytes, want at least %d", len(threads), bytes, least)
	}
}

package spooltest

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestArchive checks that a store keeps the contract of [store.Archive]. A store must also pass [TestStore] and
// [TestQueue].
func TestArchive(t *testing.T, open Open) {
	t.Helper()

	for name, test := range map[string]func(t *testing.T, open Open){
		"RoundTrip":  testArchiveRoundTrip,
		"Again":      testArchiveAgain,
		"Same":       testArchiveSame,
		"Before":     testArchiveBefore,
		"Differs":    testArchiveDiffers,
		"Collides":   testArchiveCollides,
		"Unreadable": testArchiveUnreadable,
		"Held":       testArchiveHeld,
		"Claimed":    testArchiveClaimed,
		"Rows":       testArchiveRows,
		"Audit":      testArchiveAudit,
		"Nothing":    testArchiveNothing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

// archiveTest is an empty backend with an archive.
type archiveTest struct {
	*queueTest
	archive store.Archive
}

// within runs fn with an empty backend.
func within(t *testing.T, name string, open Open, fn func(a *archiveTest)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		q := &queueTest{storeTest: newStoreTest(t, open), ctx: context.Background()}
		archive, ok := q.Store.(store.Archive)
		if !ok {
			t.Fatal("the store has no archive")
		}
		fn(&archiveTest{queueTest: q, archive: archive})
	})
}

// exported is a section with its rows.
type exported struct {
	store.Section
	lines [][]byte
}

func (a *archiveTest) export(s store.Section) exported {
	a.Helper()
	e := exported{Section: s}
	a.ok("export", a.archive.ExportSection(a.ctx, s, func(line []byte) error {
		if !json.Valid(line) {
			a.Errorf("a row is no JSON: %s", line)
		}
		e.lines = append(e.lines, append([]byte(nil), line...))
		return nil
	}))
	return e
}

// exportAll returns all sections.
func (a *archiveTest) exportAll() (all []exported) {
	a.Helper()
	for _, kind := range store.SectionKinds() {
		sections, err := a.archive.Sections(a.ctx, kind)
		a.ok("list the sections", err)
		for _, s := range sections {
			all = append(all, a.export(s))
		}
	}
	return all
}

func (a *archiveTest) imports(want bool, all ...exported) {
	a.Helper()
	for _, e := range all {
		added, err := a.archive.ImportSection(a.ctx, e.Section, e.lines)
		a.ok("import the "+e.String(), err)
		a.same("the "+e.String()+" was added", added, want)
	}
}

// text returns sections with a line for each row.
func text(all []exported) string {
	var b strings.Builder
	for _, e := range all {
		b.WriteString("# " + e.String() + "\n")
		for _, line := range e.lines {
			b.Write(append(line, '\n'))
		}
	}
	return b.String()
}

// furnish fills a backend with rows of every kind, in two tenants.
func (a *archiveTest) furnish() {
	a.Helper()
	key := thread("t")
	a.write(key, func(tx store.Tx) error { return fill(tx, key, "r") })
	a.clock.Advance(1500 * time.Microsecond)
	a.write(key, func(tx store.Tx) error { return tx.Write(furniture(tx)) })
	a.says(key, "m3", "m4")
	dropped := a.drops(key, "m3", "r")
	a.clock.Advance(time.Second)
	a.says(key, "m5")
	a.drops(key, "m5", "r")
	a.says(key, "m6")
	a.drops(key, "m6", "")
	a.restores(key, dropped)
	a.says(spool.ThreadKey{Tenant: "other", ID: "t"}, "m1") // with the ids of the first tenant
	a.act(spool.DefaultTenant, &wire.AuditEntry{Action: wire.AuditStop, By: "ann"}, new(fullAudit()))
	a.act("", &wire.AuditEntry{Action: wire.AuditLogin})
	a.ok("put rows", a.putRows(ours, store.Row{Kind: "k", Key: "b", Value: []byte(`{"x": 1}`)},
		store.Row{Kind: "k", Key: "a", Value: []byte("2"), ExpiresAt: a.clock.Now().Add(time.Hour)}))
	version := a.rows(kinds("k"))[1].Version
	a.ok("replace a row", a.putRows(ours, store.Row{Kind: "k", Key: "b", Value: []byte(`"<é>"`), Version: version}))
	a.write(ours, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Jobs: []wire.Job{
				{Queue: "hooks", Payload: []byte(`{"n":1}`), ThreadID: "gone"},
				{Queue: "hooks", Key: "e", Payload: []byte(`{}`)},
			},
		})
	})
}

// furniture changes what fill has written, so that more of the columns have values.
func furniture(tx store.Tx) store.Changes {
	n, zero := int64(7), int64(0)
	at := tx.Now()
	return store.Changes{
		Thread: &wire.Thread{
			State: wire.WaitingForInput, Model: "m", Title: "A \"title\"\n<é>", Owner: "ann",
			Labels: map[string]string{"z": "1", "alpha": "2"}, RunID: "r", Fence: 3,
		},
		Runs: []store.RunRow{{
			Run: wire.Run{
				ID: "r", Agent: "a", StartedBy: "ann", Model: "m", State: wire.WaitingForInput, Steps: 1, Segments: 2,
				EnqueuedAt: at, StartedAt: at,
				TokenCount: spool.TokenCount{InputTokens: 1, CachedInputTokens: 2, OutputTokens: 3, TotalTokens: 4}, CostMicros: 5,
				Currency: "EUR", Allowance: &wire.Allowance{},
			},
			RunState: store.RunState{
				StartKey: "k", StartHash: "h", HostState: []byte("{ \"a\" : 1,\n\"b\":2}"), ProviderOptions: []byte(`{"p":1}`),
				Nonce: "nonce", Scopes: []string{"s"}, Client: &wire.ClientInput{}, Saved: wire.Offset{Fence: 2, N: 9}, Deaths: 1,
				Draft: &store.Draft{Message: spool.Message{ID: "m9", Role: spool.RoleAssistant}},
			},
		}},
		NewRuns: []store.RunRow{
			{
				Run: wire.Run{
					ID: "n", RootID: "r", ParentID: "r", Depth: 1, State: wire.Completed, Prompt: "p", CallID: "c",
					Result: &wire.NestedResult{Text: "x"}, TokenCount: spool.TokenCount{InputTokens: 1},
				},
			},
			{Run: wire.Run{ID: "w", State: wire.Queued, QueuePosition: 1}, RunState: store.RunState{Wait: &store.Wait{}}},
		},
		Parks: []store.Park{
			{
				RunID: "r", ToolCallID: "b", AgentID: "n", Frames: []wire.ParkFrame{{ToolCallID: "c"}}, State: wire.ParkAnswered,
				Answer: &spool.Answer{Approved: true, At: at}, Landed: true, CreatedAt: at,
			},
			{
				RunID: "r", ToolCallID: "c1", ToolName: "send", Step: 2, Args: []byte(`{"to":"bob"}`), Shown: []byte("{}"),
				Reason: wire.ParkApproval, Occurrence: 2, Revision: "rev", Digest: "d", State: wire.ParkOpen, CreatedAt: at,
				ExpiresAt: at.Add(time.Hour), Warned: true, DistinctApprover: true,
			},
		},
		Effects: []store.Effect{
			{RunID: "r", Step: 1, ToolCallID: "a", State: wire.EffectDone, Result: []byte(`"done"`)},
			{RunID: "n", Step: 1, ToolCallID: "a", State: wire.EffectVoid},
		},
		Usage: []wire.UsageRow{
			{
				RunID: "r", AgentID: "n", Agent: "b", Step: 1, Model: "m", ModelID: "m-1", Requested: "m",
				Outcome: wire.OutcomeFinished, Usage: spool.Usage{Output: &zero}, Guess: spool.Usage{Input: &n},
				Cost: &spool.Cost{Micros: 0, Currency: "EUR", Source: "table", Version: "1"},
			},
		},
		Delta: new(fullDelta("<é>", at)),
		Jobs: []wire.Job{
			{Queue: "hooks", Key: "about t", Payload: []byte(`{}`)},
			{
				RunID: "r", Agent: "a", Kind: wire.JobExpiry, Key: "later", DueAt: at.Add(time.Hour), Segment: 2, Model: "m",
				Subject: "ann",
			},
		},
		Dead: []wire.QueuedJob{
			{Job: wire.Job{RunID: "r", Agent: "a", Key: "dead", DueAt: at, Subject: "ann"}, Attempts: 4, Cause: "why"},
		},
	}
}

// seen is what callers see of a backend with the furniture.
type seen struct {
	Threads  []compare.Contents
	Rows     []store.Row
	Audit    []wire.AuditEntry
	Jobs     []wire.QueuedJob
	Tally    wire.Tally
	Messages []spool.Message // the turns, also those that are not in the view
}

func (a *archiveTest) see() (v seen) {
	a.Helper()
	for _, key := range []spool.ThreadKey{thread("t"), {Tenant: "other", ID: "t"}} {
		v.Threads = append(v.Threads, a.all(key, "r"))
	}
	a.read(thread("t"), func(view store.View) (err error) {
		v.Messages, err = view.Messages(store.MessageQuery{Turns: true})
		return err
	})
	v.Rows = a.rows(kinds("k"))
	v.Audit = append(a.audit(spool.DefaultTenant, wire.AuditQuery{}), a.audit("", wire.AuditQuery{})...)
	for _, state := range []wire.JobState{"", wire.JobDead} {
		jobs, err := a.Store.Jobs(a.ctx, wire.JobQuery{Tenant: spool.DefaultTenant, State: state})
		a.ok("list the jobs", err)
		for _, j := range jobs {
			j.JobID = 0 // each store gives its own
			v.Jobs = append(v.Jobs, j)
		}
	}
	v.Tally = a.tally(spool.DefaultTenant)
	return v
}

// testArchiveRoundTrip checks that a second store shows what the first one did, and hands over the same bytes.
func testArchiveRoundTrip(t *testing.T, open Open) {
	var all []exported
	var before seen
	within(t, "From", open, func(a *archiveTest) {
		a.furnish()
		all, before = a.exportAll(), a.see()
		a.same("the export again", text(a.exportAll()), text(all))
	})
	within(t, "To", open, func(a *archiveTest) {
		a.clock.Advance(time.Minute)
		a.imports(true, all...)
		a.same("the export", text(a.exportAll()), text(all))
		after := a.see()
		// What a sum includes while a run is active may lag behind.
		if lag := after.Tally.Bytes - before.Tally.Bytes; lag < 0 || lag > 32<<10 {
			a.Errorf("the bytes went from %d to %d", before.Tally.Bytes, after.Tally.Bytes)
		}
		after.Tally.Bytes = before.Tally.Bytes
		a.same("what callers see", after, before)

		// The numbers go on.
		a.says(thread("t"), "m7")
		a.act(spool.DefaultTenant, &wire.AuditEntry{Action: wire.AuditStop})
		a.same("the audit log", a.audited(spool.DefaultTenant, wire.AuditQuery{}), "cba")
		a.write(thread("t"), func(tx store.Tx) error {
			return tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}})
		})
		next := store.SnapshotDelta{}
		a.write(thread("t"), func(tx store.Tx) error { return tx.Write(store.Changes{Delta: &next}) })
		a.same("the version of the next delta", next.Version, int64(3))
		entries := a.all(thread("t"), "r").Entries
		a.same("the last seq", entries[len(entries)-1].Seq, int64(len(entries)))
		a.write(thread("t"), func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
		tally := a.tally(spool.DefaultTenant)
		a.same("threads after a deletion", tally.Threads, int64(0))
		a.same("bytes after a deletion", tally.Bytes, int64(0))
		a.same("runs after a deletion", len(tally.Runs), 0)
	})
}

// one exports the section of the thread t.
func (a *archiveTest) one() exported {
	a.Helper()
	return a.export(store.Section{Kind: store.SectionThread, Tenant: spool.DefaultTenant, Name: "t"})
}

// exportOne returns all sections of a backend with the furniture, and that of the thread t.
func exportOne(t *testing.T, open Open) (all []exported, one exported) {
	t.Helper()
	within(t, "From", open, func(a *archiveTest) {
		a.furnish()
		all, one = a.exportAll(), a.one()
	})
	return all, one
}

// testArchiveAgain checks that a second import adds nothing, whatever became of the sections since.
func testArchiveAgain(t *testing.T, open Open) {
	all, one := exportOne(t, open)
	within(t, "To", open, func(a *archiveTest) {
		a.imports(true, all...)
		before := text(a.exportAll())
		a.imports(false, all...)
		a.same("the export", text(a.exportAll()), before)
		a.says(thread("t"), "m7")
		a.imports(false, one)
		a.write(thread("t"), func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
		a.imports(false, one)
		a.same("the rows of a deleted thread", len(a.one().lines), 0)
		a.clock.Advance(31 * 24 * time.Hour)
		a.imports(true, one)
	})
}

// testArchiveSame checks that the store from which a section is takes it without a change.
func testArchiveSame(t *testing.T, open Open) {
	within(t, "Store", open, func(a *archiveTest) {
		a.furnish()
		one := a.one()
		a.imports(false, one)
		a.same("the export", text([]exported{a.one()}), text([]exported{one}))
	})
}

// testArchiveBefore checks that a section of a version before the deltas is added, and that those of its thread begin
// with the next commit.
func testArchiveBefore(t *testing.T, open Open) {
	_, one := exportOne(t, open)
	number := regexp.MustCompile(`,"last_version":\d+`)
	before := exported{Section: one.Section}
	for _, line := range one.lines {
		if !strings.HasPrefix(string(line), `{"delta":`) {
			before.lines = append(before.lines, number.ReplaceAll(line, nil))
		}
	}
	if len(one.lines)-len(before.lines) != 2 {
		t.Fatalf("the thread has %d rows, and %d without deltas", len(one.lines), len(before.lines))
	}
	within(t, "To", open, func(a *archiveTest) {
		a.imports(true, before)
		a.same("the export", text([]exported{a.one()}), text([]exported{before}))
		a.write(thread("t"), func(tx store.Tx) error { return tell(tx, "m", 0) })
		a.same("the first delta", a.deltas(thread("t"), store.DeltaQuery{})[0].Version, int64(1))
	})
}

// refusesSection checks that a section is refused and changes nothing.
func (a *archiveTest) refusesSection(e exported, code spool.Code, words string) {
	a.Helper()
	before := text(a.exportAll())
	added, err := a.archive.ImportSection(a.ctx, e.Section, e.lines)
	a.fails("import the "+e.String(), err, code)
	if added || !strings.Contains(spool.MessageOf(err), words) {
		a.Errorf("added: %v, message: %s, want %q", added, spool.MessageOf(err), words)
	}
	a.same("the export after a refusal", text(a.exportAll()), before)
}

// testArchiveDiffers checks that a thread which is there with another content is kept.
func testArchiveDiffers(t *testing.T, open Open) {
	_, one := exportOne(t, open)
	within(t, "To", open, func(a *archiveTest) {
		a.says(thread("t"), "m1")
		a.refusesSection(one, spool.Conflict, "thread t of the tenant default is there already, with another content")
	})
}

// testArchiveCollides checks that nothing of a thread is added if one of its runs is there in another one.
func testArchiveCollides(t *testing.T, open Open) {
	_, one := exportOne(t, open)
	within(t, "To", open, func(a *archiveTest) {
		a.queued(thread("t2"), "n")
		tally := a.tally(spool.DefaultTenant)
		a.refusesSection(one, spool.Conflict, "")
		a.same("the tally", a.tally(spool.DefaultTenant), tally)
	})
}

// testArchiveUnreadable checks that nothing of a section with wrong rows is added.
func testArchiveUnreadable(t *testing.T, open Open) {
	_, one := exportOne(t, open)
	for name, wrong := range map[string]struct{ line, words string }{
		"Column": {`{"message":{"ord":9,"colour":"red"}}`, `no column "colour"`},
		"Table":  {`{"note":{"ord":9}}`, `the kind "note"`},
		"Value":  {`{"message":{"ord":"9"}}`, "ord"},
		"JSON":   {`{"message":{"ord":9}`, "no row"},
		"Twice":  {`{"thread":{"state":"IDLE"}}`, "several threads"},
		"Other":  {`{"job":{"thread_id":"t2","run_id":"r2"}}`, "of the thread t2"},
	} {
		within(t, name, open, func(a *archiveTest) {
			bad := exported{one.Section, append(append([][]byte(nil), one.lines...), []byte(wrong.line))}
			a.refusesSection(bad, spool.Invalid, wrong.words)
		})
	}
	within(t, "NoThread", open, func(a *archiveTest) {
		a.refusesSection(exported{one.Section, one.lines[1:]}, spool.Invalid, "does not begin with the thread")
	})
}

// testArchiveHeld checks that a thread is not handed over while a worker holds it.
func testArchiveHeld(t *testing.T, open Open) {
	within(t, "Store", open, func(a *archiveTest) {
		a.furnish()
		held := func(what string) {
			a.Helper()
			err := a.archive.ExportSection(a.ctx,
				store.Section{Kind: store.SectionThread, Tenant: spool.DefaultTenant, Name: "t"}, func([]byte) error {
					return errors.New("a row of a thread that a worker holds")
				})
			a.fails(what, err, spool.Conflict)
		}
		if len(a.claim(1)) != 1 {
			a.Fatal("there is no job")
		}
		held("a thread whose job is claimed")
		a.clock.Advance(lease)
		if len(a.one().lines) == 0 {
			a.Error("a thread whose claim has lapsed has no rows")
		}
		a.write(thread("t"), func(tx store.Tx) error {
			t, err := tx.Thread()
			t.LeaseUntil = tx.Now().Add(lease)
			return errors.Join(err, tx.Write(store.Changes{Thread: &t}))
		})
		held("a thread with a lease")
		a.clock.Advance(lease)
		if len(a.one().lines) == 0 {
			a.Error("a thread whose lease has lapsed has no rows")
		}
	})
}

// testArchiveClaimed checks that workers get the jobs of an imported thread.
func testArchiveClaimed(t *testing.T, open Open) {
	var one exported
	within(t, "From", open, func(a *archiveTest) {
		a.furnish()
		if len(a.claim(1)) != 1 {
			a.Fatal("there is no job")
		}
		a.clock.Advance(lease)
		one = a.one()
	})
	within(t, "To", open, func(a *archiveTest) {
		a.clock.Advance(2 * lease)
		a.imports(true, one)
		got := a.claim(5)
		if len(got) != 1 || got[0].Key != "job:r" || got[0].Attempt != 2 {
			a.Fatalf("claimed %+v", got)
		}
		a.ok("acknowledge", a.Store.Ack(a.ctx, got[0], store.Ack{Kind: store.AckDone}))
	})
}

// testArchiveRows checks that rows and events which are there stay as they are.
func testArchiveRows(t *testing.T, open Open) {
	all, _ := exportOne(t, open)
	within(t, "To", open, func(a *archiveTest) {
		a.ok("put a row", a.putRows(ours, store.Row{Kind: "k", Key: "b", Value: []byte("0")}))
		a.write(ours, func(tx store.Tx) error {
			return tx.Write(store.Changes{Jobs: []wire.Job{{Queue: "hooks", Key: "e", Payload: []byte(`{"own":true}`)}}})
		})
		a.imports(true, all...)
		rows := a.rows(kinds("k"))
		a.same("the rows", len(rows), 2)
		a.same("the row that was there", string(rows[1].Value), "0")
		jobs, err := a.Store.Jobs(a.ctx, wire.JobQuery{Tenant: spool.DefaultTenant})
		a.ok("list the jobs", err)
		payloads := compare.Spaced(jobs, func(j wire.QueuedJob) string { return j.Key + "=" + string(j.Payload) })
		if !strings.Contains(payloads, `e={"own":true}`) || !strings.Contains(payloads, `={"n":1}`) {
			a.Errorf("the events: %s", payloads)
		}
	})
}

// testArchiveAudit checks that a log with entries of its own is kept.
func testArchiveAudit(t *testing.T, open Open) {
	all, _ := exportOne(t, open)
	within(t, "To", open, func(a *archiveTest) {
		a.act(spool.DefaultTenant, &wire.AuditEntry{Action: wire.AuditPurge})
		for _, e := range all {
			if e.Kind == store.SectionAudit && e.Tenant == spool.DefaultTenant {
				a.refusesSection(e, spool.Conflict, "audit 0 of the tenant default")
			}
		}
	})
}

// testArchiveNothing checks sections that do not exist.
func testArchiveNothing(t *testing.T, open Open) {
	within(t, "Store", open, func(a *archiveTest) {
		a.same("the export of an empty store", text(a.exportAll()), "")
		a.same("the rows of a missing thread", len(a.one().lines), 0)
		_, err := a.archive.Sections(a.ctx, "colour")
		a.fails("list an unknown kind", err, spool.Invalid)
	})
}

package spooltest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// fullDelta returns a delta in which every field has a value, but those that a store sets. The name is in its texts.
func fullDelta(name string, at time.Time) store.SnapshotDelta {
	run := wire.RunJSON{
		ID: "r", ThreadID: "t", ParentID: "p", CallID: "c", Depth: 1, Agent: name, Model: "m", State: wire.Failed,
		StopReason: wire.StopFailed, Error: "a “reason” <b>\n", StartedBy: "ann", EnqueuedAt: at,
		StartedAt: at.Add(time.Second), EndedAt: at.Add(time.Minute), MaxSteps: 9, Steps: 2, Attempts: 1, InputTokens: 1,
		CachedInputTokens: 2, OutputTokens: 3, TotalTokens: 4, Prompt: name, Result: &wire.NestedResult{Text: name},
		CostMicros: 5, Currency: "EUR", TokenBudget: 6, CostBudgetMicros: 7, ToolCallBudget: 8, WallTimeMS: 9,
	}
	return store.SnapshotDelta{
		Thread: &store.DeltaThread{
			State: wire.WaitingForInput, Model: "m", Title: name, Owner: "ann", Labels: map[string]string{"k": name},
		},
		RunID: "r",
		Runs: []store.DeltaRun{
			{RunJSON: run},
			{
				RunJSON: wire.RunJSON{ID: "w", ThreadID: "t", Agent: name, State: wire.Queued},
				Place:   7,
				Wait:    &store.DeltaWait{WhenBusy: spool.BusyEnqueue, Content: spool.TextContent(name), ClientMessageID: "id"},
			},
		},
		View:  []store.ViewChange{{Drop: 3, From: "m2"}, {Restore: 2, From: "m5"}, {Add: []spool.MessageID{"m3", "m4"}}},
		Parks: []store.DeltaPark{{RunID: "r", ToolCallID: "c", State: wire.ParkOpen}},
	}
}

// shown returns a delta of a thread as it is read again: its body is JSON. What a store sets stays.
func (s *storeTest) shown(key spool.ThreadKey, d store.SnapshotDelta) store.SnapshotDelta {
	s.Helper()
	body, err := d.MarshalStored()
	s.ok("encode a delta", err)
	again := store.SnapshotDelta{Version: d.Version, Seq: d.Seq, At: d.At}
	s.ok("decode a delta", again.UnmarshalStored(body, key.ID))
	return again
}

func (s *storeTest) deltas(key spool.ThreadKey, q store.DeltaQuery) (found []store.SnapshotDelta) {
	s.Helper()
	s.read(key, func(v store.View) (err error) {
		found, err = v.Deltas(q)
		return err
	})
	return found
}

// numbered returns deltas as text: version, seq and the first message.
func numbered(all []store.SnapshotDelta) string {
	var b strings.Builder
	for _, d := range all {
		fmt.Fprintf(&b, "%d/%d %s; ", d.Version, d.Seq, d.View[0].Add[0])
	}
	return b.String()
}

// tell writes a delta with the entries of the same commit.
func tell(tx store.Tx, message spool.MessageID, entries int) error {
	c := store.Changes{Delta: &store.SnapshotDelta{View: []store.ViewChange{{Add: []spool.MessageID{message}}}}}
	for range entries {
		c.Entries = append(c.Entries, wire.NewEntry("A", "", nil))
	}
	return tx.Write(c)
}

func testStoreDeltaRoundTrip(s *storeTest) {
	key := thread("t")
	full, empty := fullDelta("é", s.clock.Now()), store.SnapshotDelta{}
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
	s.same("deltas of a thread without some", len(s.deltas(key, store.DeltaQuery{})), 0)

	// The entries of the same commit count, also if the caller adds them before.
	s.clock.Advance(1500 * time.Microsecond)
	at := s.clock.Now()
	s.write(key, func(tx store.Tx) error {
		return errors.Join(
			tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}}),
			tx.Write(store.Changes{
				Entries: []*wire.Entry{wire.NewEntry("A", "", nil), wire.NewEntry("A", "", nil)}, Delta: &full,
			}),
		)
	})
	s.same("what was set", store.SnapshotDelta{Version: full.Version, Seq: full.Seq, At: full.At},
		store.SnapshotDelta{Version: 1, Seq: 3, At: at})
	s.clock.Advance(time.Second)
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Delta: &empty}) })
	s.same("what was set of an empty one", empty, store.SnapshotDelta{Version: 2, Seq: 3, At: s.clock.Now()})
	s.same("deltas", s.deltas(key, store.DeltaQuery{}), []store.SnapshotDelta{s.shown(key, full), empty})

	// The caller may go on with its value.
	full.Runs[0].Agent, full.View[2].Add[0], full.Thread.Labels["k"] = "other", "other", "other"
	s.same("what was stored", s.deltas(key, store.DeltaQuery{Limit: 1})[0].Runs[0].Agent, "é")
	s.same("what was stored of a map", s.deltas(key, store.DeltaQuery{Limit: 1})[0].Thread.Labels["k"], "é")
}

// testStoreDeltaAtOnce checks that a delta has its version when Write returns, so that an event in a later Write of the
// transaction can have it.
func testStoreDeltaAtOnce(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
	for n := int64(1); n < 4; n++ {
		s.clock.Advance(time.Second)
		s.write(key, func(tx store.Tx) error {
			d := store.SnapshotDelta{Version: 99, Seq: 99, At: tx.Now().Add(time.Hour)}
			err := tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}, Delta: &d})
			s.same("what Write has set", d, store.SnapshotDelta{Version: n, Seq: n, At: tx.Now()})
			e := event("e" + strconv.FormatInt(d.Version, 10))
			e.Payload = fmt.Appendf(nil, `{"version":%d}`, d.Version)
			return errors.Join(err, tx.Write(store.Changes{Jobs: []wire.Job{e}}))
		})
	}
	jobs, err := s.Store.Jobs(s.Context(), wire.JobQuery{Tenant: key.Tenant})
	s.ok("jobs", err)
	s.same("events", each(jobs, func(j wire.QueuedJob) string { return string(j.Payload) }),
		[]string{`{"version":1}`, `{"version":2}`, `{"version":3}`})
	s.same("versions", each(s.deltas(key, store.DeltaQuery{}), func(d store.SnapshotDelta) int64 { return d.Version }),
		[]int64{1, 2, 3})
}

// testStoreDeltaQuery compares every combination of a query's fields with the result of a plain loop.
func testStoreDeltaQuery(s *storeTest) {
	key, other := thread("t"), thread("other")
	for _, key := range []spool.ThreadKey{key, other} {
		s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
	}
	const number = 12
	for i := range number {
		s.write(key, func(tx store.Tx) error { return tell(tx, spool.MessageID(fmt.Sprint("m", i)), i%3) })
		s.write(other, func(tx store.Tx) error { return tell(tx, "other", 1) })
	}
	all := s.deltas(key, store.DeltaQuery{})
	for i, d := range all {
		s.same("version", d.Version, int64(i+1))
		s.same("message", d.View[0].Add, []spool.MessageID{spool.MessageID(fmt.Sprint("m", i))})
	}
	s.same("number of deltas", len(all), number)
	s.same("the last seq", all[number-1].Seq, int64(number))
	for _, after := range []int64{0, 1, 7, number - 1, number, number + 9} {
		for _, limit := range []int{0, 1, 3, 100} {
			want := all[min(after, number):]
			if limit > 0 {
				want = want[:min(limit, len(want))]
			}
			s.same(fmt.Sprintf("%d after %d", limit, after), s.deltas(key, store.DeltaQuery{After: after, Limit: limit}), want)
		}
	}
}

// testStoreDeltaRollsBack checks that a delta is committed with its transaction or not at all, and that the next one
// gets its number.
func testStoreDeltaRollsBack(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
	failure := errors.New("no")
	// written again after a failure, as by an update that runs twice
	kept := store.SnapshotDelta{View: []store.ViewChange{{Add: []spool.MessageID{"kept"}}}}
	for round := range 6 {
		err := s.Store.Update(s.Context(), key, 0, func(tx store.Tx) error {
			err := tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}, Delta: &kept})
			own, err2 := tx.Deltas(store.DeltaQuery{})
			if n := round/2 + 1; err2 == nil && len(own) != n {
				err2 = fmt.Errorf("the transaction sees %d deltas, want %d", len(own), n)
			}
			if round%2 == 0 {
				return errors.Join(failure, err, err2)
			}
			return errors.Join(err, err2)
		})
		if round%2 == 0 {
			s.same("the error", fmt.Sprint(err), "no")
			s.same("deltas after a failure", len(s.deltas(key, store.DeltaQuery{})), round/2)
			continue
		}
		s.ok("update", err)
		s.same("version", kept.Version, int64(round/2+1))
	}
	s.same("deltas", numbered(s.deltas(key, store.DeltaQuery{})), "1/1 kept; 2/2 kept; 3/3 kept; ")

	s.is("an old fence", s.Store.Update(s.Context(), key, 9, func(tx store.Tx) error { return tell(tx, "fenced", 0) }),
		store.ErrFenced)
	s.refuses("a change that is refused", key, errNotFound,
		store.Changes{Delta: &store.SnapshotDelta{}, TakeDead: []int64{7}})
	s.write(key, func(tx store.Tx) error { return tell(tx, "last", 0) })
	s.same("the version after failures", s.deltas(key, store.DeltaQuery{After: 3})[0].Version, int64(4))
}

// testStoreDeltaDeleted checks that deltas go with their thread, and that those of a new one begin anew.
func testStoreDeltaDeleted(s *storeTest) {
	ours, other, theirs := thread("t"), thread("other"), spool.ThreadKey{Tenant: "other", ID: "t"}
	begin := func(tx store.Tx, message spool.MessageID) error {
		return errors.Join(tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}), tell(tx, message, 1))
	}
	for _, key := range []spool.ThreadKey{ours, other, theirs} {
		s.write(key, func(tx store.Tx) error { return begin(tx, "first") })
		s.write(key, func(tx store.Tx) error { return tell(tx, spool.MessageID(key.String()), 1) })
	}
	alone := func(what string) {
		s.Helper()
		for _, key := range []spool.ThreadKey{other, theirs} {
			s.same(what, numbered(s.deltas(key, store.DeltaQuery{})), "1/1 first; 2/2 "+key.String()+"; ")
		}
	}
	alone("deltas of the others")
	s.write(ours, func(tx store.Tx) error {
		err := tx.Write(store.Changes{DeleteThread: true})
		own, err2 := tx.Deltas(store.DeltaQuery{})
		if len(own) > 0 {
			err2 = fmt.Errorf("the transaction sees %d deltas of a thread that it has deleted", len(own))
		}
		return errors.Join(err, err2)
	})
	s.same("deltas of a deleted thread", len(s.deltas(ours, store.DeltaQuery{})), 0)
	s.refuses("a delta without a thread", ours, errNotFound, store.Changes{Delta: &store.SnapshotDelta{}})
	alone("deltas of the others, after the deletion")

	s.write(ours, func(tx store.Tx) error { return begin(tx, "again") })
	s.same("deltas of a new thread", numbered(s.deltas(ours, store.DeltaQuery{})), "1/1 again; ")
	s.write(ours, func(tx store.Tx) error {
		return errors.Join(tell(tx, "lost", 1), tx.Write(store.Changes{DeleteThread: true}), begin(tx, "at once"))
	})
	s.same("deltas of a thread that was replaced at once", numbered(s.deltas(ours, store.DeltaQuery{})), "1/1 at once; ")
}

// testStoreDeltaBig checks that a body may be long, and counts as bytes of the thread.
func testStoreDeltaBig(s *storeTest) {
	const size = 2_000_000
	key := thread("t")
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
	before := s.tally(key.Tenant).Bytes
	big := store.SnapshotDelta{
		Runs: []store.DeltaRun{
			{RunJSON: wire.RunJSON{ID: "r", Result: &wire.NestedResult{Text: strings.Repeat("é", size/2)}}},
		},
	}
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Delta: &big}) })
	s.same("the delta", s.deltas(key, store.DeltaQuery{}), []store.SnapshotDelta{s.shown(key, big)})
	if by := s.tally(key.Tenant).Bytes - before; by < size || by > size+10_000 {
		s.Errorf("a delta of %d bytes has grown the tenant by %d", size, by)
	}
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	s.same("the bytes without threads", s.tally(key.Tenant).Bytes, int64(0))
}

// testStoreDeltaRace checks that writers of one thread number its deltas without gaps.
func testStoreDeltaRace(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
	const rounds = 5
	errs := race(func(i int) error {
		for range rounds {
			err := s.Store.Update(s.Context(), key, 0,
				func(tx store.Tx) error { return tell(tx, spool.MessageID(strconv.Itoa(i)), 1) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	s.ok("write deltas", errors.Join(errs...))
	all := s.deltas(key, store.DeltaQuery{})
	s.same("number of deltas", len(all), racers*rounds)
	for i, d := range all {
		if want := int64(i + 1); d.Version != want || d.Seq != want {
			s.Fatalf("delta %d has version %d and seq %d", i+1, d.Version, d.Seq)
		}
	}
}

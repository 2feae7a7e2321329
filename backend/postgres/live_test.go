package postgres

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var wakeTopic = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}

type heard struct {
	kind   store.WakeKind
	notice []byte
}

// listenTo collects the wake-ups of a topic.
func listenTo(t *testing.T, l store.Live, topic spool.ThreadKey) <-chan heard {
	t.Helper()
	all := make(chan heard, 10_000)
	stop, err := l.Subscribe(t.Context(), topic, func(kind store.WakeKind, notice []byte) { all <- heard{kind, notice} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return all
}

// pair is a test with two processes.
type pair struct {
	*testing.T

	one, two *DB
}

// nodes opens a database as two processes do, directly and behind a pooler.
func nodes(t *testing.T, test func(p pair)) {
	t.Helper()
	for name, o := range map[string]*Options{"Direct": {}, "Pooler": {Pooler: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t, tables)
			if o.Pooler {
				url = pgtest.Bouncer(t, url, 2)
			}
			test(pair{t, opened(t, url, o), opened(t, url, o)})
		})
	}
}

// TestWakeAcross wakes subscribers of another process, with each kind, once, and with notices of any bytes and
// the greatest length.
func TestWakeAcross(t *testing.T) {
	t.Parallel()
	nodes(t, func(p pair) {
		t, one, two := p.T, p.one, p.two
		near, far := listenTo(t, one.Live(), wakeTopic), listenTo(t, two.Live(), wakeTopic)
		kinds := []store.WakeKind{
			store.WakeRecord, store.WakeStream, store.WakeStop, store.WakeEvent, store.WakeDeleted, store.WakeOwner,
			store.WakeJobs,
		}
		for _, kind := range kinds {
			one.live.Wake(wakeTopic, kind, nil)
		}
		for _, kind := range kinds {
			if got := testwait.For(t, near, "the near wake-up"); got.kind != kind {
				t.Errorf("near: woken with %q, want %q", got.kind, kind)
			}
			if got := testwait.For(t, far, "the far wake-up"); got.kind != kind {
				t.Errorf("far: woken with %q, want %q", got.kind, kind)
			}
		}
		longest := bytes.Repeat([]byte("'\"\\\n\x00é"), store.MaxNoticeBytes)[:store.MaxNoticeBytes]
		for _, notice := range [][]byte{[]byte("one"), longest, longest, []byte("two")} {
			one.live.Wake(wakeTopic, store.WakeNotice, notice)
			testwait.For(t, near, "the near notice")
			if got := testwait.For(t, far, "the far notice"); !bytes.Equal(got.notice, notice) {
				t.Errorf("heard %.40q, want %.40q", got.notice, notice)
			}
		}
		// Its own wake-ups have come back by the time at which one of the other process has.
		two.live.Wake(wakeTopic, store.WakeStop, nil)
		if got := testwait.For(t, near, "a wake-up of the other process"); got.kind != store.WakeStop || len(near) > 0 {
			t.Errorf("woken with %q, and %d more times", got.kind, len(near))
		}
	})
}

// TestWakeMixed has a process that listens and one behind a pooler: each hears the other.
func TestWakeMixed(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t, tables)
	listens := opened(t, url, nil)
	polls := opened(t, pgtest.Bouncer(t, url, 2), &Options{Pooler: true})
	toListener, toPoller := listenTo(t, listens.Live(), wakeTopic), listenTo(t, polls.Live(), wakeTopic)
	both := func() {
		t.Helper()
		polls.live.Wake(wakeTopic, store.WakeNotice, []byte("from the one that polls"))
		testwait.For(t, toPoller, "its own wake-up")
		if got := testwait.For(t, toListener, "a wake-up by NOTIFY"); string(got.notice) != "from the one that polls" {
			t.Errorf("the one that listens was woken with %+v", got)
		}
		listens.live.Wake(wakeTopic, store.WakeNotice, []byte("from the one that listens"))
		testwait.For(t, toListener, "its own wake-up")
		if got := testwait.For(t, toPoller, "a wake-up from the table"); string(got.notice) != "from the one that listens" {
			t.Errorf("the one that polls was woken with %+v", got)
		}
	}
	both()
	// It has forgotten who polls, and hears it again.
	listens.live.pollers.Store(0)
	polls.live.tidyWakes()
	for ctx := testwait.Context(t, "the news that a process polls"); !listens.live.somePoll(); {
		if ctx.Err() != nil {
			t.Fatal(context.Cause(ctx))
		}
		runtime.Gosched()
	}
	both()
	// Nobody polls, so nothing is written.
	if err := polls.Close(); err != nil {
		t.Fatal(err)
	}
	last := payloads("other", encodeWakes([]wake{{topic: wakeTopic, kind: store.WakeStop}}))
	if err := listens.run(t.Context(), listens.live.notify(last)); err != nil {
		t.Fatal(err)
	}
	testwait.For(t, toListener, "what was sent after the last word of the one that polls")
	listens.live.pollers.Store(0)
	before, err := listens.live.lastWake()
	if err != nil {
		t.Fatal(err)
	}
	if err := listens.live.send([]wake{{topic: wakeTopic, kind: store.WakeStop}}); err != nil {
		t.Fatal(err)
	}
	if after, err := listens.live.lastWake(); err != nil || after != before {
		t.Errorf("a wake-up was written although nobody polls: %d, then %d, %v", before, after, err)
	}
}

// TestStopAcross measures how long a stop takes to another process: less than the half second that the engine
// allows itself without wake-ups. The fastest of a few counts, because the machine may be busy.
func TestStopAcross(t *testing.T) {
	t.Parallel()
	nodes(t, func(p pair) {
		t, one, two := p.T, p.one, p.two
		far := listenTo(t, two.Live(), wakeTopic)
		one.Live()
		fastest := time.Hour
		for range 8 {
			began := time.Now()
			one.live.Wake(wakeTopic, store.WakeStop, nil)
			testwait.For(t, far, "the stop")
			fastest = min(fastest, time.Since(began))
		}
		if fastest > 500*time.Millisecond {
			t.Errorf("a stop takes %s at least, want 0.5 s at most", fastest)
		}
		t.Logf("a stop takes %s", fastest)
	})
}

// TestWakesGather wakes many topics many times: they must share a few notifications.
func TestWakesGather(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t, tables)
	db := opened(t, url, nil)
	ctx := testwait.Context(t, "the notifications")
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "LISTEN "+db.live.channel()); err != nil {
		t.Fatal(err)
	}
	const topics, times = 200, 50
	for range times {
		for i := range topics {
			db.live.Wake(spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(fmt.Sprint("t", i))}, store.WakeStream,
				nil)
		}
	}
	db.Live() // it sends what has gathered
	topic, sent := make(map[spool.ThreadKey]int), 0
	var from pieces
	for len(topic) < topics {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			t.Fatal(err)
		}
		sent++
		if _, body, complete := from.add(n.Payload); complete {
			for _, w := range decodeWakes(body) {
				topic[w.topic]++
			}
		}
	}
	if sent > 3 {
		t.Errorf("%d wake-ups of %d topics took %d notifications, want 3 at most", topics*times, topics, sent)
	}
}

// TestListenAgain cuts the connection that listens. A wake-up in between is lost, and the subscribers are woken with
// each kind that makes them read once the connection is back.
func TestListenAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t, tables)
	proxy := pgtest.NewProxy(t, url)
	one, two := opened(t, url, nil), opened(t, proxy.URL(), nil)
	thread, jobs := listenTo(t, two.Live(), wakeTopic), listenTo(t, two.Live(), store.JobsTopic)
	events := listenTo(t, two.Live(), store.EventsTopic)
	one.Live()
	one.live.Wake(wakeTopic, store.WakeEvent, nil)
	if got := testwait.For(t, thread, "a wake-up before the cut"); got.kind != store.WakeEvent {
		t.Fatalf("woken with %q", got.kind)
	}

	proxy.Refuse(true)
	if proxy.Cut() == 0 {
		t.Fatal("nothing was cut")
	}
	one.live.Wake(wakeTopic, store.WakeEvent, nil)
	ctx := testwait.Context(t, "the wake-up to be sent")
	for waiting := 1; waiting > 0 && ctx.Err() == nil; {
		one.live.outbox.mu.Lock()
		waiting = len(one.live.outbox.waiting)
		one.live.outbox.mu.Unlock()
	}
	proxy.Refuse(false)
	for _, kind := range []store.WakeKind{store.WakeRecord, store.WakeStream, store.WakeStop, store.WakeOwner} {
		if got := testwait.For(t, thread, "a wake-up after the cut"); got.kind != kind {
			t.Errorf("woken with %q, want %q", got.kind, kind)
		}
	}
	if got := testwait.For(t, jobs, "a wake-up of the workers"); got.kind != store.WakeJobs {
		t.Errorf("the workers were woken with %q", got.kind)
	}
	if got := testwait.For(t, events, "a wake-up of the workers of events"); got.kind != store.WakeJobs {
		t.Errorf("the workers of events were woken with %q", got.kind)
	}
	one.live.Wake(wakeTopic, store.WakeEvent, nil)
	if got := testwait.For(t, thread, "a wake-up on the new connection"); got.kind != store.WakeEvent {
		t.Errorf("woken with %q", got.kind)
	}
}

// TestSendAgain cuts all connections of a process while wake-ups wait to be sent: they are sent later.
func TestSendAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t, tables)
	proxy := pgtest.NewProxy(t, url)
	one, two := opened(t, proxy.URL(), nil), opened(t, url, nil)
	one.Live()
	far := listenTo(t, two.Live(), wakeTopic)
	proxy.Refuse(true)
	proxy.Cut()
	one.live.Wake(wakeTopic, store.WakeNotice, []byte("{}"))
	proxy.Refuse(false)
	if got := testwait.For(t, far, "the notice"); got.kind != store.WakeNotice {
		t.Errorf("woken with %q", got.kind)
	}
}

// TestLiveEnds closes a database: what has gathered is sent before, and nothing works afterwards.
func TestLiveEnds(t *testing.T) {
	t.Parallel()
	nodes(t, func(p pair) {
		t, one, two := p.T, p.one, p.two
		far := listenTo(t, two.Live(), wakeTopic)
		one.Live()
		key := store.StreamKey{Thread: wakeTopic, ID: "r:1"}
		if err := one.live.Open(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		one.live.Wake(wakeTopic, store.WakeJobs, nil)
		one.live.Wake(wakeTopic, store.WakeStop, nil)
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
		for kind := store.WakeJobs; kind != store.WakeStop; {
			kind = testwait.For(t, far, "the last wake-up").kind
		}
		if err := one.live.Append(t.Context(), key, streamItems(1, 1)); spool.CodeOf(err) != spool.Unavailable {
			t.Errorf("Append returned %v, want an error with the code unavailable", err)
		}
		if err := one.live.Append(context.Background(), key, nil); spool.CodeOf(err) != spool.Unavailable {
			t.Errorf("Append of nothing returned %v, want an error with the code unavailable", err)
		}
	})
}

// streamItems returns the items from one number to another.
func streamItems(from, to int64) (items []wire.Item) {
	for n := from; n <= to; n++ {
		items = append(items, wire.NewItem(wire.ItemTextContent, wire.Offset{Fence: 1, N: n}, 0,
			wire.Delta{MessageID: "m", Delta: "x"}))
	}
	return items
}

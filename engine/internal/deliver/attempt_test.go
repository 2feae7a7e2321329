package deliver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// An event arrives once, signed, and the log has the attempt.
func TestDelivered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "thanks")
		}})
		e := event("msg_1", "t1", 1)
		s.tell("a", e)
		s.run(time.Minute)
		text, err := wire.EncodeWebhook(e)
		s.ok("encode", err)
		if got := s.requests(); len(got) != 1 || got[0].body != string(text) {
			t.Errorf("%+v", got)
		}
		same(t, "the jobs", s.jobs(""), []string{})
		same(t, "the dead jobs", s.jobs(wire.JobDead), []string{})
		same(t, "the log", s.attempts("a"), []string{"msg_1 1 delivered 200 thanks"})
		if s.log.Len() > 0 {
			t.Errorf("the process says %s", &s.log)
		}
	})
}

// Further attempts have the same id and bytes and another signature, and come when the schedule says.
func TestFailsThenSucceeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		s := newScene(t, map[string]http.HandlerFunc{"a": func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1) < 3 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}})
		s.tell("a", event("msg_1", "t1", 1))
		s.run(time.Hour)
		got := s.requests()
		if len(got) != 3 {
			t.Fatalf("%+v", got)
		}
		for i, r := range got {
			if r.id != "msg_1" || r.body != got[0].body || i > 0 && r.signature == got[i-1].signature {
				t.Errorf("the attempt %d is %+v", i+1, r)
			}
		}
		if first, second := got[1].at-got[0].at, got[2].at-got[1].at; first < 5*time.Second ||
			first > 6*time.Second || second < 5*time.Minute || second > 5*time.Minute+31*time.Second {
			t.Errorf("the waits are %s and %s", first, second)
		}
		const failed = "failed 500 the endpoint answered 500 Internal Server Error again"
		same(t, "the log", s.attempts("a"), []string{"msg_1 3 delivered 200", "msg_1 2 " + failed, "msg_1 1 " + failed})
	})
}

// An event that is never taken is dead after ten attempts, and those of other threads do not wait for it.
func TestDiesAtLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusBadRequest)})
		s.tell("a", event("msg_1", "t1", 1))
		s.run(5 * 24 * time.Hour)
		if got := s.requests(); len(got) != 10 {
			t.Errorf("%d attempts", len(got))
		}
		same(t, "the dead events", s.jobs(wire.JobDead), []string{"msg_1: the endpoint answered 400 Bad Request"})
		if log := s.attempts("a"); log[0] != "msg_1 10 dead 400 the endpoint answered 400 Bad Request" {
			t.Errorf("the last line is %s", log[0])
		}
	})
}

// 410 disables the endpoint, and its other events are dead without an attempt.
func TestGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusGone)})
		s.tell("a", event("msg_1", "t1", 1))
		stop := s.work(s.deliverer())
		pass(time.Minute)
		s.tell("a", event("msg_2", "t1", 2))
		pass(time.Minute)
		stop()
		same(t, "the requests", s.ids("a"), []string{"msg_1 0s"})
		same(t, "the dead events", s.jobs(wire.JobDead), []string{
			"msg_2: the endpoint is disabled", "msg_1: the endpoint answered 410 Gone",
		})
		if e := s.endpoints["a"]; e.DisabledReason != "the endpoint answered 410 Gone" {
			t.Errorf("the endpoint is disabled for %q", e.DisabledReason)
		}
		same(t, "the log", s.attempts("a"), []string{"msg_1 1 gone 410 the endpoint answered 410 Gone"})
	})
}

// An endpoint whose maker's right has ended is disabled, and nothing is sent. While nobody knows the right, its events
// wait without an attempt.
func TestRightEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusOK)})
		s.right = spool.Errorf(spool.Unavailable, "no file of tokens")
		s.tell("a", event("msg_1", "t1", 1))
		s.run(24 * time.Hour)
		same(t, "the requests while nobody knows", s.ids("a"), nil)
		same(t, "the dead events while nobody knows", s.jobs(wire.JobDead), nil)
		s.right = nil
		s.run(time.Minute)
		if got := s.ids("a"); len(got) != 1 {
			t.Errorf("the requests are %v", got)
		}
		s.right = spool.Errorf(spool.Forbidden, "the token is not in the file any more")
		s.tell("a", event("msg_2", "t1", 2))
		s.run(time.Minute)
		if got := s.ids("a"); len(got) != 1 {
			t.Errorf("the requests behind the right are %v", got)
		}
		same(t, "the dead events", s.jobs(wire.JobDead), []string{"msg_2: the right of its maker has ended"})
		if e := s.endpoints["a"]; e.DisabledAt.IsZero() || e.DisabledReason != "the right of its maker has ended" {
			t.Errorf("the endpoint is %+v", e.WebhookEndpoint)
		}
	})
}

// The endpoint says when to come again.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		s := newScene(t, map[string]http.HandlerFunc{"a": func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1) == 1 {
				w.Header().Set("Retry-After", "90")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}})
		s.tell("a", event("msg_1", "t1", 1))
		s.run(time.Hour)
		same(t, "the requests", s.ids("a"), []string{"msg_1 0s", "msg_1 1m30s"})
	})
}

// An endpoint that hangs has four events at once, and holds up nobody else, however many wait.
func TestHangHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{
			"slow": hang,
			"fast": answer(http.StatusOK),
		})
		for i := range 100 {
			id := fmt.Sprintf("msg_%d", i)
			s.tell("slow", event(id, threadOf(i), 1))
		}
		stop := s.work(s.deliverer())
		pass(10 * time.Second)
		s.tell("fast", event("msg_fast", "t1", 1))
		pass(time.Second)
		same(t, "the other endpoint", s.ids("fast"), []string{"msg_fast 10s"})
		if n := len(s.jobs(wire.JobInFlight)); n > perEndpoint+1 {
			t.Errorf("%d events have slots", n)
		}
		pass(3 * time.Minute)
		stop()
		if n := s.most["/slow"]; n != perEndpoint {
			t.Errorf("%d at once", n)
		}
		if n := len(s.ids("slow")); n < 40 {
			t.Errorf("%d attempts in three minutes", n)
		}
	})
}

// A burst for one endpoint arrives about as fast as the endpoint takes it.
func TestBurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": func(http.ResponseWriter, *http.Request) {
			pass(100 * time.Millisecond)
		}})
		for i := range 200 {
			s.tell("a", event(fmt.Sprintf("msg_%d", i), threadOf(i), 1))
		}
		s.run(20 * time.Second) // 5 s if no place was ever free
		same(t, "the jobs", s.jobs(""), []string{})
		if n := len(s.requests()); n != 200 {
			t.Errorf("%d requests", n)
		}
	})
}

// The events of a quick endpoint wait for a place where they are, and none is claimed twice.
func TestWaitsInPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": func(http.ResponseWriter, *http.Request) {
			pass(5 * time.Millisecond)
		}})
		counted := &releases{Store: s.db}
		s.db = counted
		for i := range 200 {
			s.tell("a", event(fmt.Sprintf("msg_%d", i), threadOf(i), 1))
		}
		s.run(time.Second)
		same(t, "the jobs", s.jobs(""), []string{})
		if n := counted.n.Load(); n > 0 {
			t.Errorf("%d events were released", n)
		}
		if n := s.most["/a"]; n != perEndpoint {
			t.Errorf("%d at once", n)
		}
	})
}

// releases counts the jobs that come back.
type releases struct {
	store.Store

	n atomic.Int64
}

func (r *releases) Ack(ctx context.Context, d store.Delivery, a store.Ack) error {
	if a.Kind == store.AckRelease {
		r.n.Add(1)
	}
	return r.Store.Ack(ctx, d, a)
}

// The end of a process interrupts an attempt, which does not count. What was claimed by a process that has died is
// delivered by another one.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		s := newScene(t, map[string]http.HandlerFunc{"a": func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 1 {
				hang(w, r)
			}
		}})
		s.tell("a", event("msg_1", "t1", 1))
		s.run(5 * time.Second)
		if jobs, err := s.db.Jobs(t.Context(), wire.JobQuery{Tenant: acme}); err != nil || jobs[0].Attempts != 0 {
			t.Errorf("%+v, %v", jobs, err)
		}
		// A worker that dies between its claim and its attempt.
		claimed, _, err := s.db.Claim(t.Context(), store.ClaimQuery{
			Limit: 1, Lease: 30 * time.Second, Queues: []string{endpoint.Queue},
		})
		if err != nil || len(claimed) != 1 {
			t.Fatalf("%+v, %v", claimed, err)
		}
		s.run(time.Minute)
		same(t, "the requests", s.ids("a"), []string{"msg_1 0s", "msg_1 35s"})
		same(t, "the jobs", s.jobs(""), []string{})
		same(t, "the log", s.attempts("a"), []string{"msg_1 2 delivered 200"})
	})
}

// Of two processes, each event has one.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": func(http.ResponseWriter, *http.Request) {
			pass(50 * time.Millisecond)
		}})
		stops := []func(){s.work(s.deliverer()), s.work(s.deliverer())}
		for i := range 50 {
			s.tell("a", event(fmt.Sprintf("msg_%d", i), threadOf(i), 1))
		}
		pass(time.Minute)
		for _, stop := range stops {
			stop()
		}
		seen := make(map[string]int)
		for _, r := range s.requests() {
			seen[r.id]++
		}
		if len(seen) != 50 || len(s.requests()) != 50 {
			t.Errorf("%d events in %d requests", len(seen), len(s.requests()))
		}
		if log := s.attempts("a"); len(log) != 50 {
			t.Errorf("the log has %d lines", len(log))
		}
	})
}

// An acknowledgement of a claim that somebody else has now changes nothing.
func TestStaleToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusOK)})
		s.tell("a", event("msg_1", "t1", 1))
		claim := func() store.Delivery {
			taken, _, err := s.db.Claim(t.Context(), store.ClaimQuery{
				Limit: 1, Lease: 30 * time.Second, Queues: []string{endpoint.Queue},
			})
			if err != nil || len(taken) != 1 {
				t.Fatalf("%+v, %v", taken, err)
			}
			return taken[0]
		}
		old := claim()
		pass(time.Minute)
		claim() // by another process
		d := s.deliverer()
		ack := ackOf(t, d.Handle(t.Context(), old))
		err := s.db.Ack(t.Context(), old, ack)
		if ack.Kind != store.AckDone || err == nil {
			t.Errorf("%+v, %v", ack, err)
		}
		d.acked(old, err)
		same(t, "the jobs", s.jobs(""), []string{"msg_1"})
	})
}

// An event of an endpoint that is gone is dropped. One that only another node may know comes back for a day.
func TestUnknownEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusOK), "host": answer(http.StatusOK)})
		s.tell("removed", event("msg_1", "t1", 1))
		e := event("msg_2", "t1", 2)
		text, err := wire.EncodeWebhook(e)
		s.ok("encode", err)
		s.put(e, "later", endpoint.Event{Event: text, FromFile: true})
		e.ID = "msg_3"
		s.put(e, "@other.example", endpoint.Event{Event: text, URL: "http://other.example/"})
		e.ID = "msg_4"
		s.put(e, "@127.0.0.1", endpoint.Event{Event: text, URL: "http://127.0.0.1/host?key=hidden"})
		e.ID = "msg_5"
		s.put(e, "@127.0.0.1", endpoint.Event{Event: text, URL: "sealed:hidden@127.0.0.1"})
		stop := s.work(s.deliverer())
		pass(time.Hour + time.Minute)
		if got := s.jobs(""); len(got) != 3 {
			t.Errorf("%s are left", got)
		}
		jobs, err := s.db.Jobs(t.Context(), wire.JobQuery{Tenant: acme})
		if err != nil || jobs[0].Attempts != 0 || jobs[1].Attempts != 0 {
			t.Errorf("%+v, %v", jobs, err)
		}
		s.mu.Lock()
		s.endpoints["later"] = s.endpoints["a"]
		s.mu.Unlock()
		pass(25 * time.Hour)
		stop()
		if n := len(s.ids("a")); n != 1 {
			t.Errorf("%d requests", n)
		}
		if n := len(s.ids("host")); n != 1 {
			t.Errorf("%d requests for the host", n)
		}
		same(t, "the dead events", s.jobs(wire.JobDead), []string{
			"msg_2: its URL is encrypted with a key that no configuration has any more",
			"msg_2: no configuration has the endpoint any more",
		})
		payloads := strings.NewReplacer(`?key=hidden"`, "", "sealed:hidden@", "")
		if all := s.dump(); strings.Contains(payloads.Replace(all), "hidden") {
			t.Errorf("the URL is in %s", all)
		}
	})
}

func threadOf(i int) spool.ThreadID { return spool.ThreadID(fmt.Sprintf("t_%d", i)) }

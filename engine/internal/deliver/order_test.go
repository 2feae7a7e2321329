package deliver

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The events of a thread come in its order while attempts succeed, also those of one commit and those of a thread that
// was made again.
func TestOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": func(http.ResponseWriter, *http.Request) {
			time.Sleep(10 * time.Second) // the last one waits for longer than a minute
		}})
		var all []wire.WebhookEvent
		for i := range 12 {
			e := event(fmt.Sprintf("msg_%02d", i), "t1", int64(i/2%3)+1)
			e.Data.Index = i % 2
			if i >= 6 {
				e.Data.ThreadCreatedAt = e.Data.ThreadCreatedAt.Add(time.Hour)
			}
			all = append(all, e)
		}
		for i := range all { // neither their ids nor their times order them
			s.tell("a", all[(i*5)%12])
		}
		s.run(5 * time.Minute)
		var got []string
		for _, r := range s.requests() {
			got = append(got, r.id)
		}
		var want []string
		for _, e := range all {
			want = append(want, e.ID)
		}
		same(t, "the events", got, want)
		for _, line := range s.attempts("a") {
			if !strings.Contains(line, " 1 delivered 200") {
				t.Errorf("waiting has counted: %s", line)
			}
		}
	})
}

// An event that fails holds later ones of its thread for a minute. It holds none of another thread.
func TestFailingHoldsForAMinute(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Webhook-Id") == "msg_1" {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}, "b": answer(http.StatusOK)})
		stop := s.work(s.deliverer())
		s.tell("a", event("msg_1", "t1", 1))
		time.Sleep(2 * time.Second)
		s.tell("a", event("msg_2", "t1", 2), event("msg_3", "t2", 1))
		s.tell("b", event("msg_2", "t1", 2))
		time.Sleep(2 * time.Minute)
		stop()
		got := s.ids("a")
		if len(got) != 4 || got[0] != "msg_1 0s" || got[1] != "msg_3 2s" || !strings.HasPrefix(got[2], "msg_1 5s") ||
			got[3] != "msg_2 1m2s" {
			t.Errorf("%q", got)
		}
		same(t, "the other endpoint", s.ids("b"), []string{"msg_2 2s"})
	})
}

// An event whose first attempt was cut off by the death of its process holds later ones for at most a minute too.
func TestLapsedHolds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusOK)})
		s.tell("a", event("msg_1", "t1", 1), event("msg_2", "t1", 2))
		claimed, _, err := s.db.Claim(t.Context(), store.ClaimQuery{
			Limit: 2, Lease: 30 * time.Second, Queues: []string{endpoint.Queue},
		})
		if err != nil || len(claimed) != 2 {
			t.Fatalf("%+v, %v", claimed, err)
		}
		s.run(2 * time.Minute)
		same(t, "the requests", s.ids("a"), []string{"msg_1 30s", "msg_2 31s"})
	})
}

// An event without a thread waits for none.
func TestNoThread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusOK)})
		for _, e := range wire.WebhookSamples() {
			if e.Type == wire.WebhookSchedulePaused {
				e.Timestamp = time.Now()
				s.tell("a", e)
			}
		}
		s.run(time.Second)
		same(t, "the jobs", s.jobs(""), []string{})
		if n := len(s.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

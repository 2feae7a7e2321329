package deliver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

func keyOf(tenant spool.Tenant) spool.ThreadKey { return spool.ThreadKey{Tenant: tenant} }

// A dead event comes again with its id and its body, although the template has changed. The others stay dead.
func TestReplayOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var works atomic.Bool
		s := newScene(t, map[string]http.HandlerFunc{"a": func(w http.ResponseWriter, _ *http.Request) {
			if !works.Load() {
				w.WriteHeader(http.StatusGone)
			}
		}})
		s.add("a", webhook.FormConfig{Form: webhook.Template, Template: `{"one": {{json .id}}}`})
		s.tell("a", event("msg_1", "t1", 1), event("msg_2", "t2", 1))
		d := s.deliverer()
		stop := s.work(d)
		defer stop()
		pass(28 * 24 * time.Hour)
		_, err := d.Replay(t.Context(), acme, "a", wire.WebhookReplay{EventID: "msg_1"})
		if spool.CodeOf(err) != spool.Conflict {
			t.Errorf("of a disabled endpoint: %v", err)
		}
		works.Store(true)
		s.add("a", webhook.FormConfig{Form: webhook.Template, Template: `{"two": {{json .id}}}`})
		s.change("a", func(e *endpoint.Endpoint) { e.DisabledAt = time.Time{} })
		done, err := d.Replay(t.Context(), acme, "a", wire.WebhookReplay{EventID: "msg_1"})
		if err != nil || done != (wire.WebhookReplayed{Events: 1}) {
			t.Errorf("%+v, %v", done, err)
		}
		for _, id := range []string{"msg_1", "msg_9"} {
			if _, err := d.Replay(t.Context(), acme, "a", wire.WebhookReplay{EventID: id}); spool.CodeOf(err) != spool.NotFound {
				t.Errorf("the replay of %s: %v", id, err)
			}
		}
		pass(time.Second)
		var bodies []string
		for _, r := range s.requests() {
			if r.id == "msg_1" {
				bodies = append(bodies, r.body)
			}
		}
		same(t, "the bodies", bodies, []string{`{"one": "msg_1"}`, `{"one": "msg_1"}`})
		dead, err := d.Dead(t.Context(), acme, "a", wire.JobQuery{Limit: 10})
		if err != nil || len(dead) != 1 || dead[0].EventID != "msg_2" || dead[0].ThreadID != "t2" ||
			dead[0].Type != wire.WebhookRunCompleted || dead[0].Cause == "" || dead[0].DiedAt.IsZero() {
			t.Errorf("%+v, %v", dead, err)
		}
		audit, err := s.db.Audit(t.Context(), wire.AuditQuery{Tenant: acme})
		if err != nil || len(audit) != 1 || audit[0].Action != wire.AuditRedrive || audit[0].ThreadID != "t1" {
			t.Errorf("%+v, %v", audit, err)
		}
	})
}

// All events that died since a time come again, page after page, and no other endpoint's.
func TestReplaySince(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusOK), "b": answer(http.StatusOK)})
		for _, name := range []string{"a", "b"} {
			s.change(name, func(e *endpoint.Endpoint) { e.DisabledAt = time.Now() })
		}
		d := s.deliverer()
		stop := s.work(d)
		defer stop()
		s.tell("a", event("msg_old", "t1", 1))
		pass(time.Hour)
		since := time.Now()
		s.tell("b", event("msg_b", "t1", 2))
		var want []string
		for i := range 2*deadPage + 50 {
			id := fmt.Sprintf("msg_%03d", i)
			s.tell("a", event(id, spool.ThreadID(fmt.Sprintf("t%d", i%7)), int64(i)+2))
			want = append(want, id)
		}
		pass(time.Hour)
		for _, name := range []string{"a", "b"} {
			s.change(name, func(e *endpoint.Endpoint) { e.DisabledAt = time.Time{} })
		}
		done, err := d.Replay(t.Context(), acme, "a", wire.WebhookReplay{Since: since})
		if err != nil || done != (wire.WebhookReplayed{Events: len(want)}) {
			t.Errorf("%+v, %v", done, err)
		}
		pass(10 * time.Minute)
		var got []string
		for _, r := range s.requests() {
			got = append(got, r.id)
		}
		slices.Sort(got)
		same(t, "the events", got, want)
		dead := s.jobs(wire.JobDead)
		slices.Sort(dead)
		same(t, "the dead events", dead, []string{"msg_b: the endpoint is disabled", "msg_old: the endpoint is disabled"})
	})
}

// One event is found behind others, and a replay ends although its events die again at once.
func TestReplayEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusOK)})
		s.add("a", webhook.FormConfig{
			Form: webhook.Template, Template: `{{if eq .data.threadId "t1"}}{"x": 1}{{else}}no JSON{{end}}`,
			Events: []wire.WebhookType{wire.WebhookRunCompleted},
		})
		d := s.deliverer()
		stop := s.work(d)
		defer stop()
		for i := range 2*deadPage + 50 {
			s.tell("a", event(fmt.Sprintf("msg_%03d", i), threadOf(i), 1))
			pass(time.Millisecond)
		}
		pass(time.Minute)
		done, err := d.Replay(t.Context(), acme, "a", wire.WebhookReplay{EventID: "msg_000"})
		if err != nil || done != (wire.WebhookReplayed{Events: 1}) {
			t.Errorf("%+v, %v", done, err)
		}
		pass(time.Minute)
		slow := s.deliverer()
		slow.Store = &slowDead{s.db}
		done, err = slow.Replay(t.Context(), acme, "a", wire.WebhookReplay{Since: time.Now().Add(-time.Hour)})
		if err != nil || done != (wire.WebhookReplayed{Events: 2*deadPage + 50}) {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// slowDead lets time pass before a list of dead jobs.
type slowDead struct{ store.Store }

func (s *slowDead) Jobs(ctx context.Context, q wire.JobQuery) ([]wire.QueuedJob, error) {
	if q.State == wire.JobDead {
		pass(time.Minute)
	}
	return s.Store.Jobs(ctx, q)
}

// Two processes that write the log of an endpoint at once lose no line.
func TestLogOfTwo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusOK)})
		d, other := s.deliverer(), s.deliverer()
		one := func(id string) []line {
			return []line{{tenant: acme, subject: "a", WebhookAttempt: wire.WebhookAttempt{EventID: id, At: time.Now()}}}
		}
		d.Store = &race{Store: s.db, other: func() { s.ok("write", other.write(t.Context(), one("msg_1"))) }}
		s.ok("write", d.write(t.Context(), one("msg_2")))
		if log := s.attempts("a"); len(log) != 2 {
			t.Errorf("%q", log)
		}
	})
}

// Dead events are kept for the time that the configuration says, and the jobs of others are not touched.
func TestKeep(t *testing.T) {
	t.Parallel()
	testKeep(t, false)
}

// Those of a tenant without endpoints are removed too, by a process that knows of the tenant only from the store.
func TestKeepOfFormerTenant(t *testing.T) {
	t.Parallel()
	testKeep(t, true)
}

func testKeep(t *testing.T, former bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusGone)})
		s.tell("a", event("msg_1", "t1", 1))
		s.put(event("msg_x", "t1", 1), "a", endpoint.Event{Event: []byte(`{"id":"msg_x"}`)})
		s.ok("write", s.db.Update(t.Context(), spool.ThreadKey{Tenant: acme, ID: "t9"}, 0, func(tx store.Tx) error {
			return tx.Write(store.Changes{Dead: []wire.QueuedJob{{Job: wire.Job{
				Key: "other", Queue: "mail", Payload: endpoint.Event{Event: []byte(`{"id":"mail"}`)}.Encode(),
			}}}})
		}))
		s.run(time.Hour)
		s.mu.Lock()
		s.former = former
		s.mu.Unlock()
		s.run(keep - 3*time.Hour)
		if dead := s.jobs(wire.JobDead); len(dead) != 3 {
			t.Errorf("too early, %q are left", dead)
		}
		s.run(4 * time.Hour)
		same(t, "the dead jobs", s.jobs(wire.JobDead), []string{"mail"})
	})
}

// The log has the last hundred attempts of an endpoint, each with a bounded answer, and nothing of an endpoint that had
// the name before.
func TestLogIsARing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(strings.Repeat("x", 100_000)))
		}, "a.b": answer(http.StatusOK)})
		d := s.deliverer()
		stop := s.work(d)
		s.tell("a.b", event("msg_other", "t1", 1))
		for i := range logLines + 30 {
			s.tell("a", event(fmt.Sprintf("msg_%03d", i), threadOf(i), 1))
			pass(time.Second)
		}
		stop()
		lines := s.attempts("a")
		if len(lines) != logLines || !strings.HasPrefix(lines[0], "msg_129 ") || !strings.HasPrefix(lines[99], "msg_030 ") ||
			len(lines[0]) > 600 {
			t.Errorf("%d lines, from %.20s to %.20s", len(lines), lines[0], lines[len(lines)-1])
		}
		same(t, "the other log", s.attempts("a.b"), []string{"msg_other 1 delivered 200"})
		few, err := d.Attempts(t.Context(), acme, "a", 3)
		if err != nil || len(few) != 3 || few[0].EventID != "msg_129" || few[0].DurationMS != 0 || few[0].ThreadID == "" {
			t.Errorf("%+v, %v", few, err)
		}
		rows, err := s.db.Rows(t.Context(), store.RowQuery{Tenant: acme, Kind: logKind})
		if err != nil || len(rows) != logLines+1+2 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
		s.change("a", func(e *endpoint.Endpoint) { e.CreatedAt = time.Now() })
		same(t, "of the new endpoint", s.attempts("a"), []string{})
		if _, err := d.Attempts(t.Context(), acme, "none", 0); spool.CodeOf(err) != spool.NotFound {
			t.Errorf("of an unknown endpoint: %v", err)
		}
		if _, err := d.Attempts(t.Context(), "other", "a", 0); spool.CodeOf(err) != spool.NotFound {
			t.Errorf("of another tenant: %v", err)
		}
		pass(keepLog)
		s.change("a", func(e *endpoint.Endpoint) { e.CreatedAt = time.Time{} })
		same(t, "after its retention", s.attempts("a"), []string{})
	})
}

// A sample arrives at once, also without a worker and at an endpoint that is disabled, and is in the log.
func TestPing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusTeapot)})
		s.change("a", func(e *endpoint.Endpoint) { e.DisabledAt = time.Now() })
		got, err := s.deliverer().Ping(t.Context(), acme, "a")
		if err != nil || got.Result != "failed" || got.Status != http.StatusTeapot || got.Type != wire.WebhookRunCompleted ||
			!strings.HasPrefix(got.EventID, "msg_") {
			t.Errorf("%+v, %v", got, err)
		}
		if r := s.requests(); len(r) != 1 || r[0].id != got.EventID || strings.Contains(r[0].body, `"text"`) ||
			!strings.Contains(r[0].body, `,"test":true,"data":`) {
			t.Errorf("%+v", r)
		}
		if log := s.attempts("a"); len(log) != 1 || !strings.HasPrefix(log[0], got.EventID) {
			t.Errorf("%q", log)
		}
		same(t, "the jobs", s.jobs(""), []string{})
		if _, err := s.deliverer().Ping(t.Context(), acme, "none"); spool.CodeOf(err) != spool.NotFound {
			t.Error(err)
		}
	})
}

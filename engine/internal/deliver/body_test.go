package deliver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// What the first attempt renders is what all others send, although the template has changed meanwhile. The body is gone
// once it is delivered.
func TestRendersOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var n atomic.Int64
		s := newScene(t, map[string]http.HandlerFunc{"a": func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1) < 3 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}})
		form := func(word string) webhook.FormConfig {
			return webhook.FormConfig{Form: webhook.Template, Template: `{"` + word + `": {{json .id}}}`}
		}
		s.add("a", form("one"))
		s.tell("a", event("msg_1", "t1", 1))
		stop := s.work(s.deliverer())
		time.Sleep(time.Second)
		s.add("a", form("two"))
		time.Sleep(time.Hour)
		s.tell("a", event("msg_2", "t1", 2))
		time.Sleep(time.Second)
		stop()
		var bodies []string
		for _, r := range s.requests() {
			bodies = append(bodies, r.body)
		}
		const one = `{"one": "msg_1"}`
		same(t, "the bodies", bodies, []string{one, one, one, `{"two": "msg_2"}`})
		rows, err := s.db.Rows(t.Context(), store.RowQuery{Tenant: acme, Kind: bodyKind})
		if err != nil || len(rows) > 0 {
			t.Errorf("%d bodies are left, %v", len(rows), err)
		}
	})
}

// Of two processes that render at once, one's bytes count for both.
func TestRendersAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusOK)})
		e := event("msg_1", "t1", 1)
		text, err := wire.EncodeWebhook(e)
		s.ok("encode", err)
		s.add("a", webhook.FormConfig{Form: webhook.Template, Template: `{"mine": {{json .id}}}`})
		d := s.deliverer()
		// Another node stores its body between the read and the write of this one.
		d.Store = &race{Store: s.db, other: func() {
			s.ok("write", s.db.Update(t.Context(), keyOf(acme), 0, func(tx store.Tx) error {
				return tx.Write(store.Changes{Rows: []store.Row{{
					Kind: bodyKind, Key: bodyKey("a", "msg_1"), Value: []byte(`{"contentType":"text/x","bytes":"dGhlaXJz"}`),
				}}})
			}))
		}}
		a := &attempt{Delivery: store.Delivery{Job: wire.Job{Tenant: acme, Subject: "a"}}, event: e}
		a.payload = endpoint.Event{Event: text}
		a.to, err = s.Find(t.Context(), acme, "a")
		s.ok("find", err)
		body, err := d.body(t.Context(), a)
		if err != nil || string(body.Bytes) != "theirs" || body.ContentType != "text/x" {
			t.Errorf("%s %s, %v", body.ContentType, body.Bytes, err)
		}
	})
}

// race calls other once behind a read of rows.
type race struct {
	store.Store

	other func()
}

func (r *race) Rows(ctx context.Context, q store.RowQuery) ([]store.Row, error) {
	rows, err := r.Store.Rows(ctx, q)
	if r.other != nil {
		r.other()
		r.other = nil
	}
	return rows, err
}

// A template that fails with an event makes it dead, with the reason.
func TestTemplateFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusOK)})
		s.add("a", webhook.FormConfig{
			Form: webhook.Template, Template: `{{if eq .data.threadId "t1"}}{"x": 1}{{else}}no JSON{{end}}`,
			Events: []wire.WebhookType{wire.WebhookRunCompleted},
		})
		s.tell("a", event("msg_1", "t1", 1), event("msg_2", "t2", 1))
		s.run(time.Minute)
		same(t, "the requests", s.ids("a"), []string{"msg_1 0s"})
		if dead := s.jobs(wire.JobDead); len(dead) != 1 || !strings.HasPrefix(dead[0], "msg_2: template: the result is not JSON") {
			t.Errorf("%q", dead)
		}
	})
}

// A link is made for each attempt, and nobody stores it. The body is the same but for it.
func TestLink(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, form := range []webhook.FormName{webhook.Plain, webhook.Slack} {
			var n atomic.Int64
			s := newScene(t, map[string]http.HandlerFunc{"a": func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write([]byte("https://links.example/secret"))
			}})
			var asked []option.WebhookLink
			s.link = func(_ context.Context, l option.WebhookLink) (string, error) {
				asked = append(asked, l)
				if len(asked) == 2 {
					return "", errors.New("not now")
				}
				return fmt.Sprintf("https://links.example/secret%d", n.Add(1)), nil
			}
			s.add("a", webhook.FormConfig{Form: form})
			s.change("a", func(e *endpoint.Endpoint) { e.Approver, e.MadeBy = "ann", "bob" })
			q := question("msg_1")
			s.tell("a", q)
			s.run(time.Hour)
			got := s.requests()
			if len(got) != 4 || len(asked) != 5 {
				t.Fatalf("%d requests, %d links", len(got), len(asked))
			}
			want := option.WebhookLink{
				Key: keyOf(acme), ThreadCreatedAt: q.Data.ThreadCreatedAt, Call: "call_1", Digest: q.Data.Question.Digest,
				Endpoint: "a", MadeBy: "bob", Approver: "ann", ExpiresAt: q.Data.Question.ExpiresAt,
			}
			want.Key.ID = "t1"
			for i, r := range got {
				link := fmt.Sprintf("https://links.example/secret%d", i+1)
				if strings.Count(r.body, link) != 1 ||
					strings.ReplaceAll(r.body, link, "") != strings.ReplaceAll(got[0].body, "https://links.example/secret1", "") {
					t.Errorf("the attempt %d has %s", i+1, r.body)
				}
				if l := asked[i]; l.ExpiresAt.Equal(want.ExpiresAt) {
					l.ExpiresAt = want.ExpiresAt
					if l != want {
						t.Errorf("the link is for %+v, want %+v", l, want)
					}
				} else {
					t.Errorf("the link ends at %s", l.ExpiresAt)
				}
			}
			if all := s.dump(); strings.Contains(all, "links.example") || strings.Contains(all, "hidden") ||
				strings.Contains(all, secret) || !strings.Contains(all, "msg_1") {
				t.Errorf("the store and the log have %s", all)
			}
		}
	})
}

// An event that needs a link is dead if nobody may answer with it any more.
func TestNoApprover(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, map[string]http.HandlerFunc{"a": answer(http.StatusOK)})
		s.link = func(context.Context, option.WebhookLink) (string, error) { return "https://links.example/1", nil }
		s.tell("a", question("msg_1"))
		s.run(time.Minute)
		same(t, "the dead events", s.jobs(wire.JobDead), []string{
			"msg_1: its body has a link, and the endpoint has no approver",
		})
	})
}

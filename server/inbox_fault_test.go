package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// faultyThread is a store whose updates of one thread happen and then fail, so that nobody knows. Its lists fail too.
type faultyThread struct {
	store.Store

	id     spool.ThreadID
	before bool
}

var errBusy = &spool.Error{Code: spool.Unavailable, Message: "the store is busy"}

func (s faultyThread) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	if key.ID == s.id && s.before {
		return errBusy
	}
	if err := s.Store.Update(ctx, key, fence, fn); err != nil || key.ID != s.id {
		return err
	}
	return errBusy
}

func (s faultyThread) Parks(context.Context, wire.ParkQuery) ([]store.ParkRow, error) {
	return nil, errBusy
}

// over serves the data of a bundle through another store.
func (b *bundle) over(
	t *testing.T, db store.Store,
) func(method, path, body string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()

	backend := b.backend
	backend.Store = db
	s := newServer(t, backend, server.Config{
		Authenticator: twoTenants(t), StreamTokenKeys: [][]byte{[]byte(strings.Repeat("k", 32))},
	})
	return func(method, path, body string, header map[string]string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(patiently(t), method, path, strings.NewReader(body))
		for name, value := range header {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
}

// A store that fails in one of several answers does not stop the others. Whether that answer counted, nobody knows:
// sent again, it does not count twice.
func TestInboxFaults(t *testing.T) {
	t.Parallel()

	b := keyed(t)
	var answers []string
	for _, thread := range []string{"t1", "t2", "t3", "t4"} {
		b.asks(t, tokenA, thread)
		q := b.question(t, tokenA, thread)
		if thread != "t4" {
			answers = append(answers, fmt.Sprintf(`{"threadId":%q,"toolCallId":%q,"digest":%q,"approved":false}`, thread,
				q.ToolCallID, q.Digest))
		}
	}
	body, bearer := `{"answers":[`+strings.Join(answers, ",")+`]}`, map[string]string{"Authorization": "Bearer " + tokenA}
	send := b.over(t, faultyThread{Store: b.backend.Store, id: "t2"})
	if got := send(http.MethodGet, inboxPath, "", bearer); got.Code != http.StatusServiceUnavailable ||
		strings.Contains(got.Body.String(), "t1") {
		t.Errorf("the list: %d %s", got.Code, got.Body)
	}
	got := send(http.MethodPost, answersPath, body, bearer)
	var lines []string
	for line := range strings.SplitSeq(got.Body.String(), "},{") {
		lines = append(lines, line)
	}
	if got.Code != http.StatusOK || len(lines) != 3 || !strings.Contains(lines[0], `"delivered":true`) ||
		!strings.Contains(lines[1], `"code":"unavailable"`) ||
		!strings.Contains(lines[1], `"delivered":false`) || !strings.Contains(lines[2], `"delivered":true`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if again := b.as(t, tokenA, http.MethodPost, answersPath, body); strings.Contains(again.body, `"delivered":true`) ||
		strings.Count(again.body, `"reason"`) != 3 {
		t.Errorf("again: %s", again.body)
	}
	if n := strings.Count(
		b.as(t, tokenA, http.MethodGet, "/api/admin/audit?action=answer", "").body, `"action":"answer"`,
	); n != 3 {
		t.Errorf("%d answers counted", n)
	}

	// The page of a link says that it did not work, and lets the approver try again.
	link := b.link(t, tokenA, "t4", "cleo")
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	down := b.over(t, faultyThread{Store: b.backend.Store, id: "t4", before: true})
	if got := down(http.MethodPost, link, "decision=approve", form); got.Code != http.StatusServiceUnavailable ||
		!strings.Contains(got.Body.String(), `<form method="post"`) {
		t.Errorf("a link: %d %s", got.Code, got.Body)
	}
	broken := b.over(t, brokenStore{b.backend.Store, errBusy})
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if got := broken(method, link, "decision=approve", form); got.Code != http.StatusServiceUnavailable ||
			saysWhat(got.Body.String()) || got.Header().Get("Retry-After") == "" {
			t.Errorf("%s of a link: %d %s", method, got.Code, got.Body)
		}
	}
	if got := b.do(
		t, call{method: http.MethodPost, path: link, body: "decision=approve", header: form},
	); got.status != http.StatusOK {
		t.Errorf("at last: %d %s", got.status, got.body)
	}
}

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

func TestThreadPages(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	var want []spool.ThreadID
	for i := range 5 {
		id := fmt.Sprintf("t%d", i)
		b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"`+id+`","prompt":"hello"}`)
	}
	page := func(q string) (ids []spool.ThreadID, next string) {
		got := b.as(t, tokenA, http.MethodGet, threadsPath+q, "")
		var list struct {
			Threads []wire.Thread
			Next    string
		}
		if err := json.Unmarshal([]byte(got.body), &list); err != nil || got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", q, got.status, got.body)
		}
		for _, thread := range list.Threads {
			ids = append(ids, thread.ID)
		}
		return ids, list.Next
	}

	want, next := page("")
	if len(want) != 5 || next != "" {
		t.Fatalf("all: %v, next %q", want, next)
	}
	var got []spool.ThreadID
	for q := "?limit=2"; ; q = "?limit=2&before=" + url.QueryEscape(next) {
		var ids []spool.ThreadID
		ids, next = page(q)
		if got = append(got, ids...); next == "" || len(got) > 5 {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages: -want +got\n%s", diff)
	}
}

func TestDeleteThread(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hello"}`)
	remove := func() answer { return b.as(t, tokenA, http.MethodDelete, threadsPath+"?threadId=t1", "") }

	if got := remove(); got.status != http.StatusConflict ||
		got.body !=
			`{"accepted":false,"reason":"active_run","error":"Thread has an active run — stop it before deleting"}` {
		t.Errorf("active: %d %s", got.status, got.body)
	}
	b.as(t, tokenA, http.MethodPost, controlPath, `{"threadId":"t1"}`)
	if got := remove(); got.status != http.StatusOK || got.body != `{"accepted":true}` {
		t.Errorf("stopped: %d %s", got.status, got.body)
	}
	if got := remove(); got.status != http.StatusNotFound {
		t.Errorf("deleted: %d %s", got.status, got.body)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	for _, prompt := range []string{"one", "two"} {
		b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"`+prompt+`"}`)
		b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA}).until(t, state(wire.Completed))
	}
	texts := func(q string) (texts []string, ids []spool.MessageID) {
		got := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1"+q, "")
		var snapshot wire.Snapshot
		if err := json.Unmarshal([]byte(got.body), &snapshot); err != nil || got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", q, got.status, got.body)
		}
		for _, m := range snapshot.Messages {
			if texts = append(texts, string(m.Role)); m.Role == spool.RoleUser {
				texts[len(texts)-1] += " " + m.Text()
			}
			ids = append(ids, m.ID)
		}
		return texts, ids
	}
	all, ids := texts("")
	if diff := cmp.Diff([]string{"user one", "assistant", "user two", "assistant"}, all); diff != "" {
		t.Fatal(diff)
	}
	for q, want := range map[string][]string{
		"&limit=1":                                 all[3:],
		"&limit=2&before=" + string(ids[3]):        all[1:3],
		"&lastMessageId=" + string(ids[1]):         all[2:],
		"&lastMessageId=unknown":                   all,
		"&lastMessageId=" + url.QueryEscape("a b"): all,
	} {
		if got, _ := texts(q); cmp.Diff(want, got) != "" {
			t.Errorf("%s: %v, want %v", q, got, want)
		}
	}

	usage := b.as(t, tokenA, http.MethodGet, usagePath+"?threadId=t1", "")
	var used wire.ThreadUsage
	if err := json.Unmarshal([]byte(usage.body), &used); err != nil || usage.status != http.StatusOK ||
		used.Tokens.TotalTokens == 0 {
		t.Errorf("usage: %d %s", usage.status, usage.body)
	}
}

package client_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/wire"
)

// asked returns a client of a server on which threads wait, each for one answer.
func asked(t *testing.T, threads int) *client.Client {
	t.Helper()

	_, c := setup(t)
	for i := range threads {
		id := spool.ThreadID(fmt.Sprint("t", i))
		if o := run(t, c, client.RunRequest{ThreadID: id, Prompt: `use send with {"to":"ann"}`}); len(o.Parks) != 1 {
			t.Fatalf("outcome %+v", o)
		}
	}
	return c
}

func TestInbox(t *testing.T) {
	t.Parallel()

	c := asked(t, 3)
	ctx := testwait.Context(t, "the inbox")
	list := func(f client.InboxFilter) string {
		var out strings.Builder
		for q, err := range c.Inbox(ctx, f) {
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString(string(q.ThreadID) + " ")
			if q.Digest == "" || q.ToolName != "send" || string(q.Arguments) != `{"to":"ann"}` {
				t.Errorf("question %+v", q)
			}
		}
		return out.String()
	}
	for name, f := range map[string]client.InboxFilter{
		"all": {}, "in pages": {PageSize: 1}, "of pairs, by expiry": {PageSize: 2, Order: wire.ParksByExpiry},
		"filtered": {Tool: "send", Reason: wire.ParkApproval},
	} {
		if got := list(f); got != "t0 t1 t2 " {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := list(
		client.InboxFilter{ThreadID: "t1"},
	) + list(client.InboxFilter{Tool: "look"}) + list(client.InboxFilter{Owner: "eve"}) +
		list(
			client.InboxFilter{StartedBy: "eve"},
		) + list(client.InboxFilter{Agent: "other"}) + list(client.InboxFilter{State: wire.ParkExpired}); got != "t1 " {
		t.Errorf("of one thread: %s", got)
	}
	for _, err := range c.Inbox(ctx, client.InboxFilter{Order: "size"}) {
		if spool.CodeOf(err) != spool.Invalid {
			t.Errorf("an order that there is not: %v", err)
		}
	}
}

func TestAnswerAll(t *testing.T) {
	t.Parallel()

	c := asked(t, 2)
	ctx := testwait.Context(t, "the answers")
	var answers []client.InboxAnswer
	for q, err := range c.Inbox(ctx, client.InboxFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, client.InboxAnswer{
			ThreadID: q.ThreadID, RespondRequest: client.RespondRequest{
				ToolCallID: q.ToolCallID, Digest: q.Digest, Approved: true, Reason: "fine",
			},
		})
	}
	wrong := answers[1]
	wrong.Arguments = json.RawMessage(`[1]`)
	list := []client.InboxAnswer{answers[0], wrong}
	for range 120 { // more than one request has
		list = append(list, client.InboxAnswer{ThreadID: "none", RespondRequest: answers[0].RespondRequest})
	}
	list = append(list, answers[1])
	results := must(c.AnswerAll(ctx, list))(t)
	if len(results) != len(list) || !results[0].Delivered || results[1].Delivered || results[1].Code != spool.Invalid ||
		results[121].Reason != wire.ReasonNoPark || results[121].ThreadID != "none" || !results[122].Delivered {
		t.Errorf("results %+v", results)
	}
	if again := must(c.AnswerAll(ctx, answers))(t); len(again) != 2 || again[0].Delivered || again[1].Delivered ||
		again[0].Reason == "" {
		t.Errorf("again: %+v", again)
	}
	if none, err := c.AnswerAll(ctx, nil); err != nil || len(none) != 0 {
		t.Errorf("no answers: %v, %v", none, err)
	}
	if _, err := c.AnswerAll(ctx, make([]client.InboxAnswer, 1)); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("an answer to nothing: %v", err)
	}
}

func TestCreateLink(t *testing.T) {
	t.Parallel()

	c := asked(t, 1)
	ctx := testwait.Context(t, "the link")
	for q, err := range c.Inbox(ctx, client.InboxFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		in := client.LinkRequest{
			ThreadID: q.ThreadID, ToolCallID: q.ToolCallID, Digest: q.Digest, Approver: "ann@example.com",
			ExpiresIn: 2 * time.Minute,
		}
		link := must(c.CreateLink(ctx, in))(t)
		if left := time.Until(link.ExpiresAt); link.URL == "" || left > 2*time.Minute || left < time.Minute {
			t.Errorf("link %+v", link)
		}
		in.Digest = "sha256:0"
		if _, err := c.CreateLink(ctx, in); spool.CodeOf(err) != spool.Conflict {
			t.Errorf("a link to another question: %v", err)
		}
		in.ToolCallID = "none"
		if _, err := c.CreateLink(ctx, in); spool.CodeOf(err) != spool.NotFound {
			t.Errorf("a link to nothing: %v", err)
		}
	}
}

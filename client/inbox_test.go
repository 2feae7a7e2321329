package client_test

import (
	"fmt"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/internal/testwait"
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
	list := func(f client.InboxFilter) (threads string) {
		for q, err := range c.Inbox(ctx, f) {
			if err != nil {
				t.Fatal(err)
			}
			threads += string(q.ThreadID) + " "
			if q.Digest == "" || q.ToolName != "send" || string(q.Arguments) != `{"to":"ann"}` {
				t.Errorf("question %+v", q)
			}
		}
		return threads
	}
	for name, f := range map[string]client.InboxFilter{
		"all": {}, "in pages": {PageSize: 1}, "of pairs, by expiry": {PageSize: 2, Order: spool.ParksByExpiry},
		"filtered": {Tool: "send", Reason: spool.ParkApproval},
	} {
		if got := list(f); got != "t0 t1 t2 " {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := list(client.InboxFilter{ThreadID: "t1"}) + list(client.InboxFilter{Tool: "look"}) + list(client.InboxFilter{Owner: "eve"}) +
		list(client.InboxFilter{StartedBy: "eve"}) + list(client.InboxFilter{Agent: "other"}); got != "t1 " {
		t.Errorf("of one thread: %s", got)
	}
	for _, err := range c.Inbox(ctx, client.InboxFilter{Order: "size"}) {
		if spool.CodeOf(err) != spool.Invalid {
			t.Errorf("an order that there is not: %v", err)
		}
	}
}

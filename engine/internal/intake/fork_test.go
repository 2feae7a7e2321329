package intake

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// call and result are the messages of a call and of its result, and summary that of a summary.
func call(id spool.MessageID, calls ...spool.ToolCallID) spool.Message {
	m := spool.Message{ID: id, Role: spool.RoleAssistant, RunID: "r", ClientMessageID: "mine"}
	for _, c := range calls {
		m.Content = append(m.Content, spool.Part{Type: spool.PartToolCall, ToolCallID: c})
	}
	return m
}

func result(id spool.MessageID, call spool.ToolCallID) spool.Message {
	return spool.Message{
		ID: id, Role: spool.RoleTool, Content: spool.Content{{Type: spool.PartToolResult, ToolCallID: call}},
	}
}

func turn(id spool.MessageID) spool.Message {
	return spool.Message{ID: id, Role: spool.RoleUser, Content: spool.TextContent(string(id))}
}

func summary(id, through spool.MessageID) spool.Message {
	return spool.Message{
		ID: id, Role: spool.RoleSystem, Content: spool.Content{{Type: spool.PartSummary, ThroughMessageID: through}},
	}
}

// A fork has the messages up to the last one behind which no call waits, under ids of its own, and an entry for each
// summary.
func TestFork(t *testing.T) {
	t.Parallel()
	nested := turn("n")
	nested.AgentID = "n1"
	//nolint:dupword // the roles of messages
	for _, c := range []struct {
		name string
		of   []spool.Message
		want string
	}{
		{"turns", []spool.Message{turn("a"), nested, turn("b")}, "user user"},
		{
			"calls with their results",
			[]spool.Message{turn("a"), call("b", "c1", "c2"), result("c", "c1"), result("d", "c2")},
			"user assistant tool tool",
		},
		{"a call without its result", []spool.Message{turn("a"), call("b", "c1", "c2"), result("c", "c1")}, "user"},
		{"a call without its result, and a turn", []spool.Message{turn("a"), call("b", "c1"), turn("c")}, "user"},
		{
			"summaries",
			[]spool.Message{turn("a"), turn("b"), summary("c", "b"), turn("d"), summary("e", "d")},
			"user user system user system CONTEXT_COMPACTED{summarizedMessages:2,messageId:3} CONTEXT_COMPACTED{summarizedMessages:2,messageId:5}",
		},
		{
			"a summary of nothing that is there",
			[]spool.Message{summary("a", "gone"), turn("b")},
			"system user CONTEXT_COMPACTED{summarizedMessages:1,messageId:1}",
		},
		{"nothing", []spool.Message{call("a", "c1")}, "invalid"},
	} {
		d := newDesk(t)
		got, err := d.Fork(context.Background(), spool.ThreadKey{Tenant: "t", ID: "old"}, &wire.Snapshot{Messages: c.of},
			d.key.ID)
		if said := forked(d.rows.Rows, err); said != c.want ||
			err == nil && (!got.Accepted || got.Messages != len(d.rows.Rows.Messages)) {
			t.Errorf("%s: %+v, %s, want %s", c.name, got, said, c.want)
		}
		for _, m := range d.rows.Rows.Messages {
			if m.ClientMessageID != "" || len(m.ID) < 10 {
				t.Errorf("%s: a message keeps its ids: %+v", c.name, m)
			}
		}
	}
}

// forked says which messages and entries a thread has. Ids are the numbers of messages.
func forked(rows maptx.Rows, err error) string {
	if err != nil {
		return string(spool.CodeOf(err))
	}
	said := make([]string, 0, len(rows.Messages))
	ids := []string{`"`, ""}
	for i, m := range rows.Messages {
		said = append(said, string(m.Role))
		ids = append(ids, string(m.ID), strconv.Itoa(i+1))
	}
	for _, e := range rows.Entries {
		said = append(said, string(e.Type)+strings.NewReplacer(ids...).Replace(string(e.Payload)))
	}
	return strings.Join(said, " ")
}

func TestForkRefused(t *testing.T) {
	t.Parallel()
	at := &wire.Snapshot{Messages: []spool.Message{turn("a")}}
	for _, c := range []struct {
		name  string
		given func(d *desk)
		want  string
	}{
		{"a bad id", func(d *desk) { d.key.ID = "a b"; full(d) }, "invalid"},
		{"a tenant without room", func(d *desk) { full(d); d.rows.Rows.Thread = &wire.Thread{} }, "limit"},
		{"an id that is used", func(d *desk) { d.rows.Rows.Thread = &wire.Thread{} }, "refused: " + wire.ReasonThreadUsed},
	} {
		d := newDesk(t)
		c.given(d)
		before := d.rows.Clone()
		result, err := d.Fork(context.Background(), spool.ThreadKey{Tenant: "t", ID: "old"}, at, d.key.ID)
		got := "refused: " + result.Reason
		if err != nil {
			got = string(spool.CodeOf(err))
		}
		if got != c.want || result.Accepted {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if diff := maptx.Diff(before, d.rows); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func full(d *desk) {
	d.CheckRoom = func(context.Context, spool.Tenant) error { return spool.Errorf(spool.Limit, "full") }
}

// A start without an agent goes to the one that the thread was handed to, if the caller may use it.
func TestHolder(t *testing.T) {
	t.Parallel()
	handed := []store.Handover{{From: "a", To: "secret"}}
	for _, c := range []struct {
		name  string
		given func(d *desk)
		want  string
	}{
		{"the agent that has it", func(*desk) {}, "secret"},
		{"before the edited turn", func(d *desk) { d.r.EditMessageID = "m2" }, ""},
		{"the named agent", func(d *desk) { d.r.Agent = "a" }, "a"},
		{"an agent that the caller may not use", func(d *desk) { d.r.Scopes = nil }, ""},
		{"nobody has it", func(d *desk) { d.rows.Rows.Runs[1].Handovers = nil }, ""},
		{"a message of no run", func(d *desk) { d.rows.Rows.Messages[1].RunID = "gone" }, ""},
		{"no messages", func(d *desk) { d.rows.Rows.Messages = nil }, ""},
	} {
		d := newDesk(t)
		d.Registry.Agents[0].Transfers = map[string]spool.Transfer{"secret": {}}
		d.r.Scopes = []string{"boss"}
		d.rows.Rows = maptx.Rows{
			Thread: &wire.Thread{State: wire.Idle},
			Runs: []store.RunRow{
				{Run: wire.Run{ID: "r1", Agent: "a"}},
				{Run: wire.Run{ID: "r2", Agent: "secret"}, RunState: store.RunState{Handovers: handed}},
			},
			Messages: []spool.Message{{ID: "m1", RunID: "r1"}, {ID: "m2", RunID: "r2"}, {ID: "m3", RunID: "r1", AgentID: "n1"}},
		}
		c.given(d)
		held, err := d.agentOf(context.Background(), d.key, &d.r)
		if diff := cmp.Diff(c.want, d.r.Agent); diff != "" || err != nil || held != (c.want == "secret") {
			t.Errorf("%s: %t, %v (-want +got):\n%s", c.name, held, err, diff)
		}
	}
}

package intake

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A response is checked before its park is read. A JSON null counts as nothing.
func TestCheckResponse(t *testing.T) {
	t.Parallel()
	long := json.RawMessage(`"` + strings.Repeat("a", maxAnswer) + `"`)
	for _, c := range []struct {
		r    wire.Response
		want string // the refusal, or the payload and the arguments
	}{
		{wire.Response{ToolCallID: "c", Payload: json.RawMessage(` {"a":1} `)}, `{"a":1}|`},
		{wire.Response{ToolCallID: "c", Payload: json.RawMessage(`null`), Args: json.RawMessage(` null `)}, `|`},
		{wire.Response{ToolCallID: "c", Approved: true, Args: json.RawMessage(`{ "b": 1 }`)}, `|{"b":1}`},
		{wire.Response{ToolCallID: "c", Reason: strings.Repeat("a", maxReason)}, `|`},
		{wire.Response{}, "toolCallId"},
		{wire.Response{ToolCallID: "c", Payload: json.RawMessage(`{`), Reason: strings.Repeat("a", maxReason+1)}, "payload"},
		{wire.Response{ToolCallID: "c", Payload: long}, "payload is longer than 262144 bytes"},
		{wire.Response{ToolCallID: "c", Approved: true, Args: long}, "arguments is longer than 262144 bytes"},
		{
			wire.Response{ToolCallID: "c", Args: json.RawMessage(`{}`), Reason: strings.Repeat("a", maxReason+1)},
			"reason is longer than 4096 bytes",
		},
		{wire.Response{ToolCallID: "c", Args: json.RawMessage(`{}`)}, "arguments are only for an approved call"},
	} {
		err := checkResponse(&c.r)
		got := string(c.r.Payload) + "|" + string(c.r.Args)
		if err != nil {
			got = spool.MessageOf(err)
		}
		if !strings.HasPrefix(got, c.want) || err != nil && spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%.80v: %.80s, want %s", c.r, got, c.want)
		}
	}
}

// question is a thread whose run waits for the answer to the call c1.
func question(d *desk, change func(p *store.Park)) {
	p := store.Park{
		RunID: "r", ToolCallID: "c1", ToolName: "own", State: wire.ParkOpen, Reason: wire.ParkApproval,
		ExpiresAt: maptx.Start.Add(time.Hour),
	}
	change(&p)
	d.rows.Rows = maptx.Rows{
		Thread: &wire.Thread{State: wire.WaitingForInput, RunID: "r"},
		Runs:   []store.RunRow{{Run: wire.Run{ID: "r", Agent: "a", State: wire.WaitingForInput}}}, Parks: []store.Park{p},
	}
}

// What an approving answer brings is checked with what would get it.
func TestCheckEdit(t *testing.T) {
	t.Parallel()
	number := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	is := func(reason, tool string, schema json.RawMessage) func(p *store.Park) {
		return func(p *store.Park) { p.Reason, p.ToolName, p.Schema = reason, tool, schema }
	}
	yes := wire.Response{ToolCallID: "c1", Approved: true}
	edits := wire.Response{ToolCallID: "c1", Approved: true, Args: json.RawMessage(`{"n":"one"}`)}
	pays := wire.Response{ToolCallID: "c1", Approved: true, Payload: json.RawMessage(`{"n":"one"}`)}
	for _, c := range []struct {
		name string
		park func(p *store.Park)
		r    wire.Response
		want string
	}{
		{"an approval", is(wire.ParkApproval, "own", nil), yes, ""},
		{"an edit", is(wire.ParkApproval, "own", nil), edits, ""},
		{
			"an edit of a tool that the process lacks", is(wire.ParkApproval, "other", nil), edits,
			"arguments cannot be edited: this server does not have the tool",
		},
		{"an edit of such a tool, with a schema", is(wire.ParkApproval, "other", number), edits, "arguments: "},
		{"a payload that does not fit", is("own", "own", number), pays, "payload: "},
		{"no payload", is("own", "own", number), yes, "payload: "},
		{"a payload of a schema that nobody can read", is("own", "own", json.RawMessage(`7`)), pays, ""},
		{"a denial", is("own", "own", number), wire.Response{ToolCallID: "c1"}, ""},
		{"another call", is("own", "own", number), wire.Response{ToolCallID: "c2", Approved: true}, ""},
		{"a call that was answered", func(p *store.Park) { p.State, p.Schema = wire.ParkAnswered, number }, edits, ""},
	} {
		d := newDesk(t)
		question(d, c.park)
		err := d.checkEdit(context.Background(), d.key, c.r)
		if got := spool.MessageOf(err); c.want == "" && err != nil || c.want != "" && !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if err := newDesk(t).checkEdit(context.Background(), spool.ThreadKey{}, edits); err != nil {
		t.Errorf("an answer to no thread: %v", err)
	}
}

// An answer that comes too late expires the question, and is told about it.
func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		given func(d *desk)
		want  []wire.RespondResult
		state wire.ParkState
	}{
		{
			"in time", func(*desk) {},
			[]wire.RespondResult{{Delivered: true}, {Reason: wire.ReasonNoPark, Error: "No matching pending input request"}},
			wire.ParkAnswered,
		},
		{"late", func(d *desk) { d.rows.At = maptx.Start.Add(time.Hour) }, []wire.RespondResult{
			{Reason: wire.ReasonAnswered, Error: "This request was already answered"},
			{Reason: wire.ReasonNoPark, Error: "No matching pending input request"},
		}, wire.ParkExpired},
		{
			"late, of a question that is extended by that", func(d *desk) {
				d.rows.At, d.rows.Rows.Parks[0].Expiry = maptx.Start.Add(time.Hour),
					spool.Expiry{Then: spool.ExpireExtend, Extensions: 2, TTL: time.Hour}
			},
			[]wire.RespondResult{{Delivered: true}, {Reason: wire.ReasonNoPark, Error: "No matching pending input request"}},
			wire.ParkAnswered,
		},
		{"late, of a question that fails the run", func(d *desk) {
			d.rows.At, d.rows.Rows.Parks[0].Expiry = maptx.Start.Add(time.Hour), spool.Expiry{Then: spool.ExpireFail}
		}, []wire.RespondResult{
			{Reason: wire.ReasonNoPark, Error: "No matching pending input request"},
			{Reason: wire.ReasonNoPark, Error: "No matching pending input request"},
		}, wire.ParkExpired},
		{"of no thread", func(d *desk) { d.rows.Rows = maptx.Rows{} }, []wire.RespondResult{
			{Reason: wire.ReasonNoPark, Error: "No matching pending input request"},
			{Reason: wire.ReasonNoPark, Error: "No matching pending input request"},
		}, ""},
	} {
		d := newDesk(t)
		question(d, func(*store.Park) {})
		c.given(d)
		got, err := d.Answer(context.Background(), d.key, []wire.Response{{ToolCallID: "c1"}, {ToolCallID: "c2"}})
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", c.name, diff, err)
		}
		for _, p := range d.rows.Rows.Parks {
			if p.State != c.state {
				t.Errorf("%s: the park is %s, want %s", c.name, p.State, c.state)
			}
		}
	}
}

func TestApplied(t *testing.T) {
	t.Parallel()
	before := wire.Thread{Title: "t", Owner: "ann", Labels: map[string]string{"a": "1", "b": "2"}}
	for _, c := range []struct {
		name   string
		change wire.ThreadChange
		want   wire.Thread
		err    string
	}{
		{"nothing", wire.ThreadChange{}, before, ""},
		{
			"title and owner",
			wire.ThreadChange{Title: new("u"), Owner: new("")},
			wire.Thread{Title: "u", Labels: before.Labels},
			"",
		},
		{
			"labels",
			wire.ThreadChange{Labels: map[string]*string{"a": nil, "b": new("3"), "c": new("4"), "d": nil}},
			wire.Thread{Title: "t", Owner: "ann", Labels: map[string]string{"b": "3", "c": "4"}},
			"",
		},
		{"a bad label", wire.ThreadChange{Labels: map[string]*string{"a": new("")}}, wire.Thread{}, "labels.a is empty"},
	} {
		got, err := applied(before, c.change)
		if c.err != "" {
			if spool.MessageOf(err) != c.err {
				t.Errorf("%s: %v, want %s", c.name, err, c.err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", c.name, diff, err)
		}
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "2"}, before.Labels); diff != "" {
		t.Errorf("the labels before were changed: %s", diff)
	}
	if got, err := applied(wire.Thread{}, wire.ThreadChange{Labels: map[string]*string{"a": new("1")}}); err != nil ||
		got.Labels["a"] != "1" {
		t.Errorf("the first label: %v, %v", got.Labels, err)
	}
}

// The audit log has a new owner, and no other change.
func TestChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change wire.ThreadChange
		want   string
	}{
		{wire.ThreadChange{Title: new("u")}, "thread Title=u"},
		{wire.ThreadChange{Owner: new("bob")}, "thread Owner=bob\n+ audit 1 Action=change_owner Detail={from:ann,to:bob}"},
		{wire.ThreadChange{Owner: new("ann")}, ""},
		{wire.ThreadChange{Title: new("")}, "title is empty"},
		{wire.ThreadChange{Title: new("a\nb")}, "title has control characters, or is not UTF-8"},
	} {
		d := newDesk(t)
		d.rows.Rows.Thread = &wire.Thread{Owner: "ann"}
		before := d.rows.Clone()
		_, err := d.Change(context.Background(), d.key, c.change)
		got := maptx.Diff(before, d.rows)
		if err != nil {
			got += spool.MessageOf(err)
		}
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if _, err := newDesk(t).Change(
		context.Background(), spool.ThreadKey{}, wire.ThreadChange{},
	); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("a change of no thread: %v", err)
	}
}

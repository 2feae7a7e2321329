package agui_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/wire"
)

// TestOccurrence answers the second question of a call. The first one's id is not its id.
func TestOccurrence(t *testing.T) {
	t.Parallel()

	payload, err := json.Marshal(wire.InputRequired{
		ToolCallID: "c1", ToolName: "send", Reason: wire.ParkOutcomeUnknown, Digest: "sha256:2", Occurrence: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	open := agui.Open(&wire.Snapshot{
		Thread:       wire.Thread{State: wire.WaitingForInput},
		ActiveEvents: []wire.Entry{{Type: wire.EntryInputRequired, Payload: payload}},
	})
	if len(open) != 1 || open[0].ID != "c1#2" || open[0].ToolCallID != "c1" {
		t.Fatalf("the interrupts are %+v", open)
	}
	for name, c := range map[string]struct {
		resume string
		want   []agui.Answer
		code   spool.Code
	}{
		"first": {`{"interruptId":"c1","status":"resolved","payload":{"approved":true}}`, nil, spool.Conflict},
		"second": {
			`{"interruptId":"c1#2","status":"resolved","payload":{"approved":true}}`,
			[]agui.Answer{{ToolCallID: "c1", Approved: true, Digest: "sha256:2"}},
			"",
		},
		"cancelled": {
			`{"interruptId":"c1#2","status":"cancelled"}`, []agui.Answer{{ToolCallID: "c1", Digest: "sha256:2"}}, "",
		},
		"another": {
			`{"interruptId":"c1#2","status":"resolved","payload":{"approved":true,"digest":"d"}}`,
			[]agui.Answer{{ToolCallID: "c1", Approved: true, Digest: "d"}},
			"",
		},
	} {
		got, err := input(t, `{"resume":[`+c.resume+`]}`).Answers(open)
		if spool.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		} else if diff := cmp.Diff(c.want, got); err == nil && diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// The answer to a question with a schema has a payload of that schema.
func TestResponseSchema(t *testing.T) {
	t.Parallel()

	for reason, field := range map[string]string{"elicitation": "payload", wire.ParkApproval: "editedArgs"} {
		payload, err := json.Marshal(wire.InputRequired{
			ToolCallID: "c1", ToolName: "send", Reason: reason,
			InputSchema: json.RawMessage(`{"type":"object","required":["why"]}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		open := agui.Open(&wire.Snapshot{
			Thread:       wire.Thread{State: wire.WaitingForInput},
			ActiveEvents: []wire.Entry{{Type: wire.EntryInputRequired, Payload: payload}},
		})
		var got struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(open[0].ResponseSchema, &got); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got.Properties[field]), "why") {
			t.Errorf("%s: the schema of %s is %s", reason, field, got.Properties[field])
		}
	}
}

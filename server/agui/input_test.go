package agui_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/wire"
)

func input(t *testing.T, text string) *agui.RunAgentInput {
	t.Helper()

	var in agui.RunAgentInput
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		t.Fatal(err)
	}
	return &in
}

// Clients declare their version from 1.0 on.
func TestBefore1(t *testing.T) {
	t.Parallel()

	for in, want := range map[string]bool{
		`{}`: true, `{"protocolVersion":""}`: true, `{"protocolVersion":"0.9"}`: true, `{"protocolVersion":"next"}`: true,
		`{"protocolVersion":"1.0"}`: false, `{"protocolVersion":"1.7"}`: false, `{"protocolVersion":"2"}`: false,
		`{"protocolVersion":"10.1"}`: false,
	} {
		if got := input(t, in).Before1(); got != want {
			t.Errorf("%s: before 1.0: %t", in, got)
		}
	}
}

func TestTurn(t *testing.T) {
	t.Parallel()

	file := func(url, media string) wire.Attachment { return wire.Attachment{URL: url, MediaType: media} }
	for name, c := range map[string]struct {
		messages string
		want     *agui.Turn
		code     spool.Code
	}{
		"None":      {`[]`, nil, ""},
		"Assistant": {`[{"id":"a","role":"user","content":"x"},{"id":"b","role":"assistant"}]`, nil, ""},
		"Text": {
			`[{"id":"a","role":"user","content":"x"},{"id":"b","role":"user","content":"y"}]`, &agui.Turn{ID: "b", Text: "y"},
			"",
		},
		"NoID": {`[{"id":"a b","role":"user","content":"x"}]`, &agui.Turn{Text: "x"}, ""},
		"Parts": {
			`[{"id":"a","role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"y"},
				{"type":"image","source":{"type":"url","value":"https://e.example/x.png"}},
				{"type":"image","source":{"type":"data","value":"AAAA","mimeType":"image/png"}},
				{"type":"document","source":{"type":"url","value":"https://e.example/x"}},
				{"type":"document","source":{"type":"data","value":"YQ==","mimeType":"text/csv"}}]}]`,
			&agui.Turn{ID: "a", Text: "x\ny", Attachments: []wire.Attachment{
				file("https://e.example/x.png", ""), file("data:image/png;base64,AAAA", "image/png"),
				file("https://e.example/x", "application/pdf"), file("data:text/csv;base64,YQ==", "text/csv"),
			}},
			"",
		},
		"Audio": {
			`[{"id":"a","role":"user","content":[{"type":"audio","source":{"type":"url","value":"https://e.example/x"}}]}]`, nil,
			spool.Invalid,
		},
		"File": {
			`[{"id":"a","role":"user","content":[{"type":"image","source":{"type":"file","value":"f1"}}]}]`, nil, spool.Invalid,
		},
		"Number": {`[{"id":"a","role":"user","content":7}]`, nil, spool.Invalid},
		"Tool":   {`[{"id":"a","role":"tool","content":"x","toolCallId":"c"}]`, nil, spool.Invalid},
	} {
		got, err := input(t, `{"messages":`+c.messages+`}`).Turn()
		if spool.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
			continue
		}
		if diff := cmp.Diff(c.want, got); err == nil && diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()

	open := []agui.Interrupt{{ID: "c1", Reason: wire.ParkApproval}, {ID: "c2", Reason: "delivery"}}
	for name, c := range map[string]struct {
		resume string
		want   []agui.Answer
		code   spool.Code
	}{
		"Both": {
			`[{"interruptId":"c2","status":"cancelled"},{"interruptId":"c1","status":"resolved","payload":{"approved":true,"payload":{"a":1}}}]`,
			[]agui.Answer{{ToolCallID: "c1", Approved: true, Payload: json.RawMessage(`{"a":1}`)}, {ToolCallID: "c2"}},
			"",
		},
		"Denied": {
			`[{"interruptId":"c1","status":"resolved","payload":{"approved":false,"reason":"no"}},{"interruptId":"c2","status":"resolved"}]`,
			[]agui.Answer{{ToolCallID: "c1", Reason: "no"}, {ToolCallID: "c2", Approved: true}},
			"",
		},
		"Edited": {
			`[{"interruptId":"c1","status":"resolved","payload":{"approved":true,"editedArgs":{"to":"bob"},"digest":"d"}},{"interruptId":"c2","status":"resolved","payload":"noon"}]`,
			[]agui.Answer{
				{ToolCallID: "c1", Approved: true, Args: json.RawMessage(`{"to":"bob"}`), Digest: "d"},
				{ToolCallID: "c2", Approved: true, Payload: json.RawMessage(`"noon"`)},
			},
			"",
		},
		"Missing": {`[{"interruptId":"c1","status":"cancelled"}]`, nil, spool.Invalid},
		"Twice": {
			`[{"interruptId":"c1","status":"cancelled"},{"interruptId":"c1","status":"resolved"}]`, nil, spool.Invalid,
		},
		"Unknown": {`[{"interruptId":"c3","status":"cancelled"}]`, nil, spool.Conflict},
		"Status": {
			`[{"interruptId":"c1","status":"done"},{"interruptId":"c2","status":"cancelled"}]`, nil, spool.Invalid,
		},
		"NoBool": {
			`[{"interruptId":"c1","status":"resolved","payload":{"approved":"yes"}},{"interruptId":"c2","status":"cancelled"}]`,
			nil, spool.Invalid,
		},
		"Null": {
			`[{"interruptId":"c1","status":"resolved","payload":{"approved":null}},{"interruptId":"c2","status":"cancelled"}]`,
			nil, spool.Invalid,
		},
		"OnlyEdited": {
			`[{"interruptId":"c1","status":"resolved","payload":{"editedArgs":{}}},{"interruptId":"c2","status":"cancelled"}]`,
			nil, spool.Invalid,
		},
		"NothingSent": {`[]`, nil, spool.Invalid},
		"Own": {
			`[{"interruptId":"c1","status":"cancelled"},{"interruptId":"c2","status":"resolved","payload":{"decision":"later"}}]`,
			[]agui.Answer{
				{ToolCallID: "c1"},
				{ToolCallID: "c2", Approved: true, Payload: json.RawMessage(`{"decision":"later"}`)},
			},
			"",
		},
		"OwnDenied": {
			`[{"interruptId":"c1","status":"cancelled"},{"interruptId":"c2","status":"resolved","payload":{"approved":false}}]`,
			[]agui.Answer{{ToolCallID: "c1"}, {ToolCallID: "c2"}},
			"",
		},
		"OwnNoBool": {
			`[{"interruptId":"c1","status":"cancelled"},{"interruptId":"c2","status":"resolved","payload":{"approved":"no"}}]`,
			nil, spool.Invalid,
		},
		"OwnMiscase": {
			`[{"interruptId":"c1","status":"cancelled"},{"interruptId":"c2","status":"resolved","payload":{"Approved":false}}]`,
			nil, spool.Invalid,
		},
	} {
		got, err := input(t, `{"resume":`+c.resume+`}`).Answers(open)
		if spool.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
			continue
		}
		if diff := cmp.Diff(c.want, got); err == nil && diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// A question of the engine's own is not answered by a payload that lacks the boolean: only true
// allows something to happen.
func TestAnswersNeedDecision(t *testing.T) {
	t.Parallel()

	for _, reason := range []string{wire.ParkApproval, wire.ParkOutcomeUnknown, wire.ParkBudget} {
		open := []agui.Interrupt{{ID: "c1", Reason: reason}}
		for _, payload := range []string{
			``, `,"payload":null`, `,"payload":true`, `,"payload":false`, `,"payload":"no"`, `,"payload":7`, `,"payload":[]`,
			`,"payload":[{"approved":true}]`, `,"payload":{}`, `,"payload":{"Approved":false}`, `,"payload":{"APPROVED":true}`,
			`,"payload":{"decision":"deny"}`, `,"payload":{"approved":null}`, `,"payload":{"approved":"true"}`,
			`,"payload":{"approved":1}`, `,"payload":{"payload":{"approved":true}}`,
			`,"payload":{"approved":false,"APPROVED":true}`, `,"payload":{"approved":false,"approved":true}`,
			`,"payload":{"approved":true,"reason":7}`,
		} {
			got, err := input(t, `{"resume":[{"interruptId":"c1","status":"resolved"`+payload+`}]}`).Answers(open)
			if spool.CodeOf(err) != spool.Invalid {
				t.Errorf("%s, %s: %+v, %v", reason, payload, got, err)
			}
		}
		for status, want := range map[string]bool{
			`"resolved","payload":{"approved":true}`: true, `"resolved","payload":{"approved":false}`: false,
			`"cancelled","payload":{"approved":true}`: false,
		} {
			got, err := input(t, `{"resume":[{"interruptId":"c1","status":`+status+`}]}`).Answers(open)
			if err != nil || len(got) != 1 || got[0].Approved != want {
				t.Errorf("%s, %s: %+v, %v", reason, status, got, err)
			}
		}
	}
}

func TestWishes(t *testing.T) {
	t.Parallel()

	for props, want := range map[string]agui.Wishes{
		``: {}, `,"forwardedProps":7`: {}, `,"forwardedProps":{"model":"x"}`: {},
		`,"forwardedProps":{"spool":{"agent":"a","model":"m","maxSteps":3,"whenBusy":"steer"}}`: {
			StartOptions: wire.StartOptions{Agent: "a", Model: "m", MaxSteps: 3}, WhenBusy: spool.BusySteer,
		},
	} {
		if got, err := input(t, `{"threadId":"t"`+props+`}`).Wishes(); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %+v, %v", props, got, err)
		}
	}
	options, err := input(t, `{"forwardedProps":{"spool":{"providerOptions":{"seed":7},"state":null}}}`).Wishes()
	if err != nil || string(options.ProviderOptions) != `{"seed":7}` {
		t.Errorf("provider options: %s, %v", options.ProviderOptions, err)
	}
	for _, wrong := range []string{
		`{"agent":7}`, `{"state":{}}`, `{"agent":"a","Agent":"b"}`, `{"model":"a","model":"b"}`,
	} {
		if _, err := input(t, `{"forwardedProps":{"spool":`+wrong+`}}`).Wishes(); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

package fold_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func entry(kind wire.EntryType, payload string) wire.Entry {
	return wire.Entry{Type: kind, ThreadID: "t", RunID: "r", CreatedAt: noon, Payload: json.RawMessage(payload)}
}

// What the end of a segment means for its run is said by its status, and by the wait for the next attempt.
func TestEnded(t *testing.T) {
	t.Parallel()

	for payload, want := range map[string]fold.Ended{
		`{"status":"finished"}`: {State: wire.Completed},
		`{"status":"stopped"}`:  {State: wire.Cancelled},
		`{"status":"parked"}`:   {State: wire.WaitingForInput},
		`{"status":"error"}`:    {State: wire.Failed},
		`{"status":"lost"}`:     {},
		`{"status":"error","error":"busy","retryAfterMs":1500}`: {
			Retry: &fold.Retry{RunID: "r", At: noon.Add(1500 * time.Millisecond), Error: "busy"},
		},
		`{"status":"lost","retryAfterMs":1000}`: {Retry: &fold.Retry{RunID: "r", At: noon.Add(time.Second)}},
	} {
		got, err := fold.Entry(entry(wire.EntryRunEnded, payload))
		ended, ok := got.(fold.Ended)
		if err != nil || !ok || ended.State != want.State || !reflect.DeepEqual(ended.Retry, want.Retry) {
			t.Errorf("%s: %+v, %v, want %+v", payload, got, err, want)
		}
	}
}

// A payload that cannot be read is an error that names the kind, and a kind without a rule is none.
func TestUnreadable(t *testing.T) {
	t.Parallel()

	for _, k := range wire.EntryKinds() {
		_, err := fold.Entry(entry(k.Type, `{"messageIndex":`))
		if err == nil {
			if said, _ := fold.Entry(entry(k.Type, `{}`)); said != nil && k.Type != wire.NoticeThreadDeleted {
				t.Errorf("%s: half a payload was read", k.Type)
			}
			continue
		}
		if spool.CodeOf(err) != spool.Internal || !strings.Contains(err.Error(), string(k.Type)) {
			t.Errorf("%s: %v", k.Type, err)
		}
	}
	if said, err := fold.Entry(entry("RECEIPT", `[`)); said != nil || err != nil {
		t.Errorf("an entry of an application: %v, %v", said, err)
	}
	for _, k := range wire.ItemKinds() {
		item := wire.Item{Type: k.Type, Data: json.RawMessage(`{"messageId":`)}
		_, said, itemErr := fold.Item(item)
		_, isContent, contentErr := fold.ContentOf(item)
		for _, err := range []error{itemErr, contentErr} {
			if err != nil && (spool.CodeOf(err) != spool.Internal || !strings.Contains(err.Error(), string(k.Type))) {
				t.Errorf("%s: %v", k.Type, err)
			}
		}
		if said != nil && itemErr == nil || isContent && contentErr == nil {
			t.Errorf("%s: half an item was read", k.Type)
		}
	}
}

// Questions keep the order in which they were asked. A later question of a call takes the place of the earlier one.
func TestParks(t *testing.T) {
	t.Parallel()

	later := noon.Add(time.Hour)
	var open fold.Parks
	for _, e := range []wire.Entry{
		entry(wire.EntryInputRequired, `{"toolCallId":"a","toolName":"send"}`),
		entry(wire.EntryInputRequired, `{"toolCallId":"b","toolName":"send"}`),
		entry(wire.EntryInputRequired, `{"toolCallId":"c","toolName":"send"}`),
		entry(wire.EntryInputRequired, `{"toolCallId":"a","toolName":"again"}`),
		entry(wire.EntryInputExtended, `{"toolCallId":"b","expiresAt":"2026-11-30T13:00:00Z"}`),
		entry(wire.EntryHITLResponse, `{"toolCallId":"c","approved":true}`),
	} {
		said, err := fold.Entry(e)
		if err != nil {
			t.Fatal(err)
		}
		open = open.After(said)
	}
	questions := open.Questions()
	if len(questions) != 2 || questions[0].ToolName != "again" || questions[1].ToolCallID != "b" ||
		!questions[1].ExpiresAt.Equal(later) {
		t.Errorf("open: %+v", questions)
	}
	said, err := fold.Entry(entry(wire.EntryInputExpired, `{"toolCallId":"a"}`))
	if open = open.After(said); err != nil || len(open) != 1 || len(open.Of("r")) != 1 || len(open.Of("other")) != 0 {
		t.Errorf("open after one has expired: %+v, %v", open, err)
	}
}

// A step is the messages that it will be: texts that grow, calls, and results in the order of the calls.
func TestStep(t *testing.T) {
	t.Parallel()

	step := fold.Step{Stream: "r:1"}
	for i, data := range []string{
		`TEXT_MESSAGE_START {"messageId":"m1"}`,
		`TEXT_MESSAGE_CONTENT {"messageId":"m1","delta":"Hel"}`,
		`TEXT_MESSAGE_CONTENT {"messageId":"m1","delta":"lo"}`,
		`TOOL_CALL_START {"toolCallId":"c1","toolName":"look"}`,
		`TOOL_CALL_START {"toolCallId":"c2","toolName":"send"}`,
		`TOOL_CALL_ARGS {"toolCallId":"c2","delta":"{\"to\":"}`,
		`TOOL_CALL_END {"toolCallId":"c1","args":{"a":1}}`,
		`TOOL_CALL_RESULT {"toolCallId":"c2","result":2}`,
		`TOOL_CALL_RESULT {"toolCallId":"c1","result":1}`,
	} {
		kind, fields, _ := strings.Cut(data, " ")
		item := wire.Item{
			Type: wire.ItemType(kind), Data: json.RawMessage(fields), Offset: wire.Offset{Fence: 1, N: int64(i) + 1},
		}
		content, ok, err := fold.ContentOf(item)
		if !ok || err != nil {
			t.Fatalf("%s: %v, %v", data, ok, err)
		}
		step.Add(item.Offset, content)
	}
	messages := step.Messages("t")
	if len(messages) != 2 || messages[0].RunID != "r" || messages[0].ID != "r:1:1-1" || messages[1].ID != "r:1:1-8" {
		t.Fatalf("messages: %+v", messages)
	}
	said, results := messages[0].Content, messages[1].Content
	if said[0].Text != "Hello" || string(said[1].Args) != `{"a":1}` || string(said[2].Args) != `"{\"to\":"` {
		t.Errorf("said: %+v", said)
	}
	if results[0].ToolCallID != "c1" || results[1].ToolCallID != "c2" {
		t.Errorf("results: %+v", results)
	}
}

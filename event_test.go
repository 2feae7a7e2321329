package spool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func TestNewEvent(t *testing.T) {
	t.Parallel()

	long := func(n int) string { return strings.Repeat("x", n-2) } // with its quotes
	for name, c := range map[string]struct {
		kind    string
		payload any
		durable bool
		want    string // of the payload, or of the error
	}{
		"object":            {"progress", map[string]int{"done": 1}, false, `{"done":1}`},
		"nothing":           {"progress", nil, true, "null"},
		"nothing raw":       {"progress", json.RawMessage{}, true, "null"},
		"raw on many lines": {"progress", json.RawMessage("{\n \"a\": 1e400\n}"), true, `{"a":1e400}`},
		"all characters":    {"shop.order:paid_1-A", "x", false, `"x"`},
		"longest live":      {"t", long(spool.MaxLiveEventBytes), false, strconv.Quote(long(spool.MaxLiveEventBytes))},
		"longest durable":   {"t", long(spool.MaxEventBytes), true, strconv.Quote(long(spool.MaxEventBytes))},

		"no type":    {"", nil, false, "type is required"},
		"space":      {"a b", nil, false, "type may only have letters, digits and the characters . _ : -"},
		"line break": {"a\nb", nil, false, "type may only have letters, digits and the characters . _ : -"},
		"long type":  {strings.Repeat("x", 129), nil, false, "type is longer than 128 characters"},
		"reserved":   {"STATE_CHANGE", nil, false, "type STATE_CHANGE is reserved"},
		"no JSON":    {"t", func() {}, false, "payload has no JSON form"},
		"bad JSON":   {"t", json.RawMessage("{"), false, "payload has no JSON form"},
		"bad text":   {"t", json.RawMessage("\"\xff\""), false, "payload is not valid UTF-8"},
		"deep": {
			"t", json.RawMessage(nested(257)), false, "payload is nested deeper than 256 arrays and objects",
		},
		"too long live": {
			"t", long(spool.MaxLiveEventBytes + 1), false, "payload is longer than 6144 bytes, the most of a live event",
		},
		"too long durable": {"t", long(spool.MaxEventBytes + 1), true, "payload is longer than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e, err := spool.NewEvent(c.kind, c.payload, c.durable)
			got := string(e.Payload)
			if err != nil {
				got = spool.MessageOf(err)
				if spool.CodeOf(err) != spool.Invalid {
					t.Errorf("code %s", spool.CodeOf(err))
				}
			}
			if got != c.want || err == nil && (e.Type != c.kind || e.Durable != c.durable) {
				t.Errorf("got %.90s %+v, want %.90s", got, err, c.want)
			}
		})
	}
}

// The longest live event fits into a notice.
func TestLiveEventFits(t *testing.T) {
	t.Parallel()

	id := strings.Repeat("x", spool.MaxIDLen)
	notice, err := json.Marshal(wire.Entry{
		ThreadID: spool.ThreadID(id), Type: wire.EntryType(id), RunID: spool.RunID(id),
		Payload:     json.RawMessage(strconv.Quote(strings.Repeat("x", spool.MaxLiveEventBytes-2))),
		PublishedBy: strings.Repeat("x", 200),
	})
	if err != nil || len(notice) > store.MaxNoticeBytes {
		t.Errorf("%d bytes, error %v", len(notice), err)
	}
}

func TestToolCallPublish(t *testing.T) {
	t.Parallel()

	ctx := t.Context()
	var none spool.ToolCall
	if err := none.Publish(ctx, "progress", 1); err != nil {
		t.Errorf("a call that nobody listens to: %v", err)
	}
	if err := none.PublishDurable(ctx, "RUN_ENDED", 1); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("a reserved type: %v", err)
	}
	var got []spool.Event
	boom := errors.New("boom")
	call := spool.ToolCall{PublishFunc: func(_ context.Context, e spool.Event) error {
		got = append(got, e)
		return boom
	}}
	if err := call.PublishDurable(ctx, "", 1); spool.CodeOf(err) != spool.Invalid || len(got) > 0 {
		t.Errorf("a wrong event was published: %v, %v", err, got)
	}
	if err := errors.Join(call.Publish(ctx, "a", 1), call.PublishDurable(ctx, "b", 2)); !errors.Is(err, boom) {
		t.Errorf("the error is lost: %v", err)
	}
	if len(got) != 2 || got[0].Type != "a" || got[0].Durable || got[1].Type != "b" || !got[1].Durable ||
		string(got[1].Payload) != "2" {
		t.Errorf("got %+v", got)
	}
}

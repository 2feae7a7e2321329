package spool_test

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

// declaredTypes returns the values of all constants of this package that are of one of the
// types, by name. It reads the source, so that no constant can be forgotten.
func declaredTypes(t *testing.T, types ...string) map[string]string {
	t.Helper()

	found := make(map[string]string)
	names, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			of, ok := spec.Type.(*ast.Ident)
			for i, name := range spec.Names {
				if !ok || i >= len(spec.Values) || !strings.Contains(" "+strings.Join(types, " ")+" ", " "+of.Name+" ") {
					continue
				}
				literal, _ := spec.Values[i].(*ast.BasicLit)
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				found[name.Name] = value
			}
			return true
		})
	}
	return found
}

// TestReservedTypes has every word of ours, and those of the contract. A new constant that
// is not reserved fails here: add it to reservedTypes.
func TestReservedTypes(t *testing.T) {
	t.Parallel()

	ours := declaredTypes(t, "EntryType", "ItemType")
	if len(ours) < 28 || ours["EntryRunStarted"] != "RUN_STARTED" || ours["ItemCustom"] != "CUSTOM" {
		t.Fatalf("the constants were not found: %v", ours)
	}
	for name, value := range ours {
		if err := spool.CheckEventType(spool.EntryType(value)); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: an application may use %s; add the constant to reservedTypes", name, value)
		}
	}
	for _, name := range []spool.EntryType{
		"CHUNK", "STATE_CHANGE", "STEP_COMMITTED", "STEP_FINISHED", "INPUT_REQUIRED", "INPUT_EXPIRED", "HITL_RESPONSE",
		"MESSAGE_APPENDED", "MESSAGES_DROPPED", "CONTEXT_COMPACTED", "SUBAGENT_STARTED", "SUBAGENT_CHUNK",
		"SUBAGENT_COMPLETED", "SUBAGENT_FAILED", "TEXT_RESULT", "THREAD_DELETED", "HEARTBEAT", "RUN_REFUSED",
		"TOKEN_BUDGET_EXHAUSTED", "COST_BUDGET_EXHAUSTED", "RUN_STARTED", "RUN_ENDED", "RECORD_CHANGED", "SNAPSHOT",
	} {
		for _, spelled := range []spool.EntryType{name, spool.EntryType(strings.ToLower(string(name))), name[:1] + spool.EntryType(strings.ToLower(string(name[1:])))} {
			if err := spool.CheckEventType(spelled); spool.MessageOf(err) != "type "+string(spelled)+" is reserved" {
				t.Errorf("%s: got %v", spelled, err)
			}
		}
	}
}

func TestNewEvent(t *testing.T) {
	t.Parallel()

	long := func(n int) string { return strings.Repeat("x", n-2) } // with its quotes
	for name, c := range map[string]struct {
		kind    spool.EntryType
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

		"no type":          {"", nil, false, "type is required"},
		"space":            {"a b", nil, false, "type may only have letters, digits and the characters . _ : -"},
		"line break":       {"a\nb", nil, false, "type may only have letters, digits and the characters . _ : -"},
		"long type":        {spool.EntryType(strings.Repeat("x", 129)), nil, false, "type is longer than 128 characters"},
		"reserved":         {"STATE_CHANGE", nil, false, "type STATE_CHANGE is reserved"},
		"no JSON":          {"t", func() {}, false, "payload has no JSON form"},
		"bad JSON":         {"t", json.RawMessage("{"), false, "payload has no JSON form"},
		"bad text":         {"t", json.RawMessage("\"\xff\""), false, "payload is not valid UTF-8"},
		"deep":             {"t", json.RawMessage(nested(257)), false, "payload is nested deeper than 256 arrays and objects"},
		"too long live":    {"t", long(spool.MaxLiveEventBytes + 1), false, "payload is longer than 6144 bytes, the most of a live event"},
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
	notice, err := json.Marshal(spool.Entry{
		ThreadID: spool.ThreadID(id), Type: spool.EntryType(id), RunID: spool.RunID(id),
		Payload: json.RawMessage(strconv.Quote(strings.Repeat("x", spool.MaxLiveEventBytes-2))), PublishedBy: strings.Repeat("x", 200),
	})
	if err != nil || len(notice) > spool.MaxNoticeBytes {
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
	if len(got) != 2 || got[0].Type != "a" || got[0].Durable || got[1].Type != "b" || !got[1].Durable || string(got[1].Payload) != "2" {
		t.Errorf("got %+v", got)
	}
}

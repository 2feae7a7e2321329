package history

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
)

// looks returns a turn, and steps that call a tool with a result of a length each. The first has signed reasoning.
func looks(lengths ...int) []spool.Message {
	messages := []spool.Message{{ID: "m0", RunID: "r", Role: spool.RoleUser, Content: spool.TextContent("go")}}
	for i, n := range lengths {
		id := string(rune('1' + i))
		call := spool.Part{
			Type: spool.PartToolCall, ToolCallID: spool.ToolCallID("c" + id), ToolName: "look", Args: toolresult.JSON(i),
			Provider: toolresult.JSON("sig"),
		}
		messages = append(messages,
			spool.Message{
				ID: spool.MessageID("a" + id), RunID: "r", Role: spool.RoleAssistant,
				Content: spool.Content{{Type: spool.PartReasoning, Text: "hm", Provider: toolresult.JSON("sig")}, call},
			},
			spool.Message{
				ID: spool.MessageID("t" + id), RunID: "r", Role: spool.RoleTool,
				Content: spool.Content{toolresult.Part(call.ToolCallID, "look", toolresult.JSON(strings.Repeat("look ", n/5)))},
			},
		)
	}
	return messages
}

// Long results are cleared up to a message, in every prompt from then on, and nothing else changes.
func TestClear(t *testing.T) {
	t.Parallel()

	all := looks(5000, 10, 5000, 5000)
	h := New(all[:5], 0, nil)
	h.Add(all[5:]...)
	m := Meter{perByte: 0.25}
	through, freed := h.Clearable(m, 1300, "r")
	if through != "t3" || m.Part(freed) < 1700 || m.Part(freed) > 1800 {
		t.Fatalf("up to %s, %v can be cleared", through, freed)
	}
	before, whole := h.Prompt()
	before = append([]spool.Message(nil), before...)
	h.Clear(through)
	got, left := h.Prompt()
	if left.Bytes+freed.Bytes != whole.Bytes || left.PlainBytes+freed.PlainBytes != whole.PlainBytes {
		t.Errorf("the prompt weighs %v, %v less than %v", left, freed, whole)
	}
	want := toolresult.JSON(cleared("look"))
	before[2].Content[0].Result, before[6].Content[0].Result = want, want
	if diff := cmp.Diff(before, got); diff != "" {
		t.Errorf("the prompt (-want +got):\n%s", diff)
	}
	if string(all[2].Content[0].Result) == string(want) {
		t.Error("the saved message has changed")
	}
	again := of(store.RunRow{RunState: store.RunState{Cleared: through}}, all, 0, nil)
	taken, _ := again.Prompt()
	if diff := cmp.Diff(got, taken); diff != "" {
		t.Errorf("another worker's prompt (-want +got):\n%s", diff)
	}
	if _, more := again.Clearable(m, 1300, "r"); more.Bytes != 0 {
		t.Errorf("%v can be cleared again", more)
	}
	if originals := h.Originals(h.Recall.live); string(originals[2].Content[0].Result) == string(want) {
		t.Error("the originals are cleared")
	}
	h.Clear("gone")
	if restored, _ := h.Prompt(); len(restored[2].Content[0].Result) < 5000 {
		t.Error("a message that is gone clears results")
	}
}

// A step that has the same calls and results as those before it has a note in the prompt. Every worker adds the same.
func TestRepeats(t *testing.T) {
	t.Parallel()

	message := func(role spool.Role, run spool.RunID, parts ...spool.Part) spool.Message {
		return spool.Message{Role: role, RunID: run, Content: parts}
	}
	call := func(id, tool, args string) spool.Part {
		return spool.Part{Type: spool.PartToolCall, ToolCallID: spool.ToolCallID(id), ToolName: tool, Args: []byte(args)}
	}
	result := func(id, text string) spool.Part {
		return toolresult.Part(spool.ToolCallID(id), "", toolresult.JSON(text))
	}
	step := func(run spool.RunID, args, text string) []spool.Message {
		return []spool.Message{
			message(spool.RoleAssistant, run, call("c", "look", args)), message(spool.RoleTool, run, result("c", text)),
		}
	}
	pair := func(first, second string) []spool.Message { // one of two calls had waited
		return []spool.Message{
			message(spool.RoleAssistant, "r", call("c", first, "{}"), call("d", second, "{}")),
			message(spool.RoleTool, "r", result("d", "seen")), message(spool.RoleTool, "r", result("c", "seen")),
		}
	}
	user := []spool.Message{message(spool.RoleUser, "r", spool.Part{Type: spool.PartText, Text: "and?"})}
	same := step("r", `{"a":1,"b":2}`, "seen")
	for name, c := range map[string]struct {
		steps [][]spool.Message
		notes string // of the tool messages
		count int
	}{
		"same":           {[][]spool.Message{same, step("r", `{"b":2,"a":1}`, "seen"), same, same}, "--nn", 4},
		"other result":   {[][]spool.Message{same, same, step("r", `{"a":1,"b":2}`, "more"), same}, "----", 1},
		"other args":     {[][]spool.Message{same, same, step("r", `{"a":2,"b":2}`, "seen")}, "---", 1},
		"user between":   {[][]spool.Message{same, same, user, same}, "---", 1},
		"other run":      {[][]spool.Message{step("q", `{"a":1,"b":2}`, "seen"), same, same}, "---", 2},
		"order of calls": {[][]spool.Message{pair("look", "list"), pair("list", "look"), pair("look", "list")}, "-----n", 3},
		"one call more":  {[][]spool.Message{same, same, pair("look", "list")}, "----", 1},
		"polling":        {[][]spool.Message{pair("look", "wait"), pair("look", "wait"), pair("look", "wait")}, "------", 0},
		"unfinished":     {[][]spool.Message{same, same, same[:1]}, "--", 0},
	} {
		polling := func(tool string) bool { return tool == "wait" }
		h, all := New(nil, 0, polling), []spool.Message(nil)
		for _, messages := range c.steps {
			all = append(all, messages...)
			h.Add(messages...)
		}
		notes := ""
		for _, m := range h.Recall.live {
			switch results := m.ToolResults(); {
			case len(results) == 0:
			case strings.Contains(string(results[0].Result), "in between"):
				notes += "n"
			default:
				notes += "-"
			}
		}
		if notes != c.notes || h.Repeats("r") != c.count || h.Repeats("another") != 0 {
			t.Errorf("%s: the notes are %s, and %d steps repeat", name, notes, h.Repeats("r"))
		}
		if diff := cmp.Diff(New(all, 0, polling).Recall.live, h.Recall.live); diff != "" {
			t.Errorf("%s: another worker has (-it +this):\n%s", name, diff)
		}
	}
}

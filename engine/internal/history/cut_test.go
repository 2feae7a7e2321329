package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// historyOf returns a random history of several runs, and its last run, which is active.
func historyOf(r *rand.Rand) (history []spool.Message, run spool.RunID) {
	n, calls := 0, 0
	add := func(role spool.Role, content spool.Content) {
		n++
		history = append(history, spool.Message{
			ID: spool.MessageID(fmt.Sprintf("m%d", n)), RunID: run, Role: role, Content: content,
		})
	}
	text := func() string { return strings.Repeat("word ", 1+r.IntN(80)) }
	for i := range 1 + r.IntN(6) {
		run = spool.RunID(fmt.Sprintf("r%d", i))
		add(spool.RoleUser, spool.TextContent(text()))
		for range r.IntN(6) {
			content := spool.TextContent(text())
			var results spool.Content
			for range 1 + r.IntN(3) {
				calls++
				id := spool.ToolCallID(fmt.Sprintf("c%d", calls))
				content = append(content, spool.Part{
					Type: spool.PartToolCall, ToolCallID: id, ToolName: "look", Args: toolresult.JSON(map[string]string{"of": text()}),
				})
				results = append(results, toolresult.Part(id, "look", toolresult.JSON(text())))
			}
			add(spool.RoleAssistant, content)
			if r.IntN(2) == 0 { // a call had waited
				add(spool.RoleTool, results[1:])
				add(spool.RoleTool, results[:1])
			} else {
				add(spool.RoleTool, results)
			}
		}
		answer := spool.TextContent(text())
		for range r.IntN(2) * (1 + r.IntN(2)) { // the provider paused the answer
			n++
			next := append(spool.Content{half("continued", n)}, spool.TextContent(text())...)
			add(spool.RoleAssistant, append(answer, half("begun", n)))
			answer = next
		}
		if r.IntN(8) > 0 {
			add(spool.RoleAssistant, answer)
		}
	}
	return history, run
}

// half is a part that a provider refuses without its other half in the next message.
func half(which string, n int) spool.Part {
	return spool.Part{Type: spool.PartProvider, Provider: toolresult.JSON(map[string]int{which: n})}
}

// summarised returns a history with the summary of a compaction after it.
func summarised(history []spool.Message, c Compaction, run spool.RunID) []spool.Message {
	return append(slices.Clip(history), spool.Message{
		ID: spool.MessageID(fmt.Sprintf("s%d", len(history))), RunID: run, Role: spool.RoleSystem,
		Content: c.Content("all that was said"),
	})
}

// TestPlan compacts random histories again and again, and adds messages in between.
func TestPlan(t *testing.T) {
	t.Parallel()

	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		history, run := historyOf(r)
		m := Meter{perByte: 0.25}
		for range 3 {
			before := RecallOf(history)
			tail := int64(r.IntN(400))
			c, some := before.Plan(m, tail, run, run)
			if !some {
				break
			}
			history = summarised(history, c, run)
			after := RecallOf(history)
			checkPlan(t, seed, before, after, c, m, tail, run)
			more, _ := historyOf(r)
			for _, msg := range more { // of later runs
				msg.ID, msg.RunID = "x"+msg.ID+spool.MessageID(strconv.Itoa(len(history))), run+"x"
				history = append(history, msg)
			}
			run += "x"
		}
		if t.Failed() {
			return
		}
	}
}

func checkPlan(t *testing.T, seed uint64, before, after Recall, c Compaction, m Meter, tail int64, run spool.RunID) {
	t.Helper()

	if problem := malformedPrompt(after.Messages()); problem != "" {
		t.Errorf("seed %d: %s", seed, problem)
	}
	if len(after.live)+len(c.Gone) != len(before.live) {
		t.Errorf("seed %d: of %d messages %d stay and %d go", seed, len(before.live), len(after.live), len(c.Gone))
	}
	last := before.live[len(before.live)-1]
	if after.live[len(after.live)-1].ID != last.ID {
		t.Errorf("seed %d: the newest message went", seed)
	}
	if turn := turnOf(before.live, run); turn >= 0 && indexOf(after.live, before.live[turn].ID) < 0 {
		t.Errorf("seed %d: the turn that the run answers went", seed)
	}
	var w Weight
	var stay []spool.Message // in the tail
	for i, msg := range after.live {
		if (i > 0 || !after.pinned) && turnOf(after.live, run) != i {
			stay = append(stay, msg)
			w.Add(weighMessage(msg))
		}
	}
	if units := borders(stay); m.Part(w) > tail && len(units) > 1 {
		t.Errorf("seed %d: %d steps of %d tokens stay, and %d may", seed, len(units), m.Part(w), tail)
	}
}

// malformedPrompt returns what providers would reject in a prompt.
func malformedPrompt(messages []spool.Message) string {
	for i, m := range messages {
		var calls, results []spool.ToolCallID
		for _, p := range m.ToolCalls() {
			calls = append(calls, p.ToolCallID)
		}
		if i+1 < len(messages) && messages[i+1].Role == spool.RoleTool {
			for _, p := range messages[i+1].ToolResults() {
				if strings.Contains(string(p.Result), "no result was recorded") {
					return "a result got lost"
				}
				results = append(results, p.ToolCallID)
			}
		}
		if !slices.Equal(calls, results) {
			return fmt.Sprintf("the calls %v have the results %v", calls, results)
		}
	}
	for i, m := range messages {
		for _, p := range m.Content {
			if rest, ok := strings.CutPrefix(string(p.Provider), `{"continued"`); ok &&
				(i == 0 || !slices.ContainsFunc(messages[i-1].Content, func(p spool.Part) bool {
					return strings.Contains(string(p.Provider), `{"begun"`+rest)
				})) {
				return "the end of a paused answer lacks its beginning"
			}
		}
	}
	if messages[0].Role != spool.RoleUser {
		return "the prompt begins with " + string(messages[0].Role)
	}
	return ""
}

// TestPlanKeepsWaitingCalls has calls without results: those of the run must stay, and those of an
// older run may go.
func TestPlanKeepsWaitingCalls(t *testing.T) {
	t.Parallel()

	call := func(id spool.ToolCallID, run spool.RunID) spool.Message {
		return spool.Message{
			ID: spool.MessageID("of-" + id), RunID: run, Role: spool.RoleAssistant,
			Content: spool.Content{{Type: spool.PartToolCall, ToolCallID: id, ToolName: "ask"}},
		}
	}
	said := func(id spool.MessageID, role spool.Role, run spool.RunID) spool.Message {
		return spool.Message{ID: id, RunID: run, Role: role, Content: spool.TextContent(string(id))}
	}
	history := []spool.Message{
		said("u0", spool.RoleUser, "r0"), call("old", "r0"), said("a0", spool.RoleAssistant, "r0"),
		said("u1", spool.RoleUser, "r1"), said("a1", spool.RoleAssistant, "r1"), call("open", "r1"),
		said("a2", spool.RoleAssistant, "r1"), said("a3", spool.RoleAssistant, "r1"),
	}
	c, some := RecallOf(history).Plan(Meter{perByte: 1}, 0, "r1", "r1")
	if !some || c.through != "a0" || len(c.Gone) != 3 { // a1 and the call after it are one answer
		t.Errorf("%d messages through %q go", len(c.Gone), c.through)
	}
}

// TestSqueeze bounds random prompts. It keeps the answered turn and the last step.
func TestSqueeze(t *testing.T) {
	t.Parallel()

	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 2))
		history, run := historyOf(r)
		m := Meter{perByte: 0.25}
		bound := int64(r.IntN(1500))
		full := RecallOf(history)
		messages := full.Squeeze(m, bound, run)
		if problem := malformedPrompt(messages); problem != "" {
			t.Fatalf("seed %d: %s", seed, problem)
		}
		var w Weight
		for _, msg := range messages {
			w.Add(weighMessage(msg))
		}
		ids := make([]spool.MessageID, 0, len(messages))
		for _, msg := range messages {
			ids = append(ids, msg.ID)
		}
		steps := borders(full.live)
		if turn := full.live[turnOf(full.live, run)].ID; !slices.Contains(ids, turn) ||
			!slices.Contains(ids, full.live[steps[len(steps)-1]].ID) {
			t.Fatalf("seed %d: the turn or the last step went", seed)
		}
		if m.Part(w) > bound && len(borders(messages)) > 2 {
			t.Fatalf("seed %d: %d tokens in %d messages, and there is room for %d", seed, m.Part(w), len(messages), bound)
		}
	}
}

func TestHeadAndTail(t *testing.T) {
	t.Parallel()

	if got := headAndTail("short", 5); got != "short" {
		t.Errorf("got %q", got)
	}
	text := strings.Repeat("€äö", 1000)
	for limit := range 30 {
		got := headAndTail(text, 100+limit)
		head, rest, ok := strings.Cut(got, "\n[... ")
		mark, tail, ok2 := strings.Cut(rest, " bytes were left out here ...]\n")
		if !ok || !ok2 || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) ||
			strconv.Itoa(len(text)-len(head)-len(tail)) != mark {
			t.Errorf("got %q", got)
		}
		if strings.ToValidUTF8(got, "") != got {
			t.Errorf("a character was cut: %q", got)
		}
	}
}

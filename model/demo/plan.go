package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

// maxSlow bounds the words of one slow answer.
const maxSlow = 10_000

// plan is an answer before it is streamed.
type plan struct {
	reasoning string
	// signature stands for the data that a real provider gets back with its reasoning.
	signature json.RawMessage
	text      string
	calls     []plannedCall
	slow      bool
}

type plannedCall struct {
	id         spool.ToolCallID
	name, args string
}

// answer returns the answer to a request.
func answer(r spool.ModelRequest) plan {
	digest := digest(r.Messages)
	if r.Kind == spool.UsageCompaction {
		return plan{text: Label + " " + summary(r.Messages)}
	}
	turn := lastTurn(r.Messages)
	// it asks for the answer
	if last := len(r.Messages) - 1; r.NoCalls && last > 0 && r.Messages[last].Role == spool.RoleUser {
		turn = lastTurn(r.Messages[:last])
	}
	p := plan{signature: json.RawMessage(`{"demo":"` + digest + `"}`)}

	// The calls of a step follow when the previous step has its results.
	steps := parse(turn.prompt, slices.ContainsFunc(r.Tools, func(t spool.ToolSpec) bool { return t.Name == spawnTool }))
	if turn.stepsDone < len(steps) && !r.NoCalls {
		p.call(steps[turn.stepsDone], r.Tools, digest)
		return p
	}
	if r.Output != nil {
		p.reasoning = "I was asked for a JSON value, so I make up one that fits its schema."
		p.text = sample(r.Output.Schema, turn.prompt)
		return p
	}
	if len(turn.results) > 0 {
		p.reasoning = fmt.Sprintf("I have %s and tell what they say.", count(len(turn.results), "tool result"))
		p.setText(describeResults(turn.results))
		return p
	}
	if n, ok := slow(turn.prompt); ok {
		p.slow = true
		p.reasoning = "I was asked to be slow, so that I can be stopped."
		p.setText(numbers(n))
		return p
	}
	p.reasoning = "I was not asked to use a tool, so I repeat the prompt."
	p.setText(echo(turn, r))
	return p
}

func (p *plan) setText(text string) { p.text = Label + " " + text }

// call plans the calls of one step. If a tool is missing, it plans no call.
func (p *plan) call(asked []request, tools []spool.ToolSpec, digest string) {
	have := make(map[string]bool, len(tools))
	names := make([]string, 0, len(tools))
	for _, t := range tools {
		have[t.Name] = true
		names = append(names, t.Name)
	}
	for i, a := range asked {
		if !have[a.tool] {
			p.calls = nil
			p.reasoning = "I was asked to use a tool that I do not have."
			p.setText("I have no tool " + a.tool + ". " + list(names))
			return
		}
		id := spool.ToolCallID(fmt.Sprintf("demo_%s_%d", digest, i+1))
		p.calls = append(p.calls, plannedCall{id: id, name: a.tool, args: a.args})
	}
	p.reasoning = fmt.Sprintf("I was asked for %s.", count(len(asked), "tool call"))
	p.setText("I call " + strings.Join(namesOf(p.calls), " and ") + ".")
}

func namesOf(calls []plannedCall) []string {
	names := make([]string, len(calls))
	for i, c := range calls {
		names[i] = c.name
	}
	return names
}

func list(names []string) string {
	if len(names) == 0 {
		return "I was given no tools."
	}
	return "I have: " + strings.Join(names, ", ") + "."
}

func echo(turn turn, r spool.ModelRequest) string {
	var b strings.Builder
	if turn.images > 0 {
		fmt.Fprintf(&b, "I received %s. ", count(turn.images, "image"))
	}
	if turn.files > 0 {
		fmt.Fprintf(&b, "I received %s. ", count(turn.files, "file"))
	}
	if turn.prompt == "" {
		b.WriteString("I was told nothing.")
	} else {
		fmt.Fprintf(&b, "You said: %s", turn.prompt)
	}
	if len(r.Tools) > 0 {
		fmt.Fprintf(&b, "\n\nTo see a tool at work, write: use %s with {}", r.Tools[0].Name)
	}
	return b.String()
}

// slow reports whether the prompt is "slow <n>", and returns n within its bounds.
func slow(prompt string) (int, bool) {
	words := strings.Fields(strings.ToLower(prompt))
	if len(words) < 2 || words[0] != "slow" {
		return 0, false
	}
	n, err := strconv.Atoi(words[1])
	if err != nil || n < 1 {
		return 0, false
	}
	return min(n, maxSlow), true
}

func numbers(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(words, " ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// digest returns a hash of the contents of a history. It ignores ids and times, so that the same
// conversation gets the same answer everywhere.
func digest(messages []spool.Message) string {
	h := sha256.New()
	for _, m := range messages {
		content, err := json.Marshal(m.Content)
		if err != nil {
			// A part has invalid raw JSON: the text alone identifies the message.
			content = []byte(m.Text())
		}
		fmt.Fprintf(h, "%s\x00%s\x00", m.Role, content)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

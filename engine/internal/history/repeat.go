package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

const (
	// noteRepeats is how many steps in a row have the same calls and results before their model gets a note about it.
	noteRepeats = 3
	// MaxRepeats is how often it has them when the run ends.
	MaxRepeats = 6
)

const repeatText = "This was call number %d of the same tool with the same arguments and the same result, with nothing in between. " +
	"Do something else, or answer with what you know. The run ends at number %d."

// repeats counts the steps at the end of a history that have the same calls with the same results. It knows nothing but
// the messages, so every worker counts the same, and adds the same notes to prompts.
type repeats struct {
	run   spool.RunID
	calls []spool.Part // of the last answer
	done  []spool.Part // the results so far
	last  []string     // the last whole step, sorted
	count int
}

// add takes the next message. It returns the message with a note for the model if the message completes a step that
// comes too often. Polling reports whether the calls of a tool may repeat.
func (r *repeats) add(m spool.Message, polling func(tool string) bool) spool.Message {
	if m.Role != spool.RoleTool {
		calls := m.ToolCalls()
		if len(calls) == 0 || m.RunID != r.run || len(r.done) < len(r.calls) {
			*r = repeats{run: m.RunID}
		}
		r.calls, r.done = calls, nil
		return m
	}
	if len(r.calls) == 0 {
		return m
	}
	if r.done = append(r.done, m.ToolResults()...); len(r.done) < len(r.calls) {
		return m
	}
	step := stepOf(r.calls, r.done)
	switch {
	case slices.ContainsFunc(r.calls, func(p spool.Part) bool { return polling(p.ToolName) }):
		r.last, r.count = nil, 0
	case slices.Equal(step, r.last):
		r.count++
	default:
		r.last, r.count = step, 1
	}
	if r.count < noteRepeats {
		return m
	}
	m.Content = slices.Clone(m.Content)
	for i, p := range slices.Backward(m.Content) {
		if p.Type == spool.PartToolResult {
			m.Content[i].Result = toolresult.Noted(p.Result, fmt.Sprintf(repeatText, r.count, MaxRepeats))
			break
		}
	}
	return m
}

// stepOf returns the calls of a step with their results, in an order that does not depend on that of the calls.
func stepOf(calls, results []spool.Part) []string {
	step := make([]string, 0, len(calls))
	for _, c := range calls {
		at := slices.IndexFunc(results, func(p spool.Part) bool { return p.ToolCallID == c.ToolCallID })
		if at < 0 {
			return nil
		}
		step = append(step, c.ToolName+" "+string(canonical(c.Args))+" "+string(results[at].Result))
	}
	slices.Sort(step)
	return step
}

// canonical returns arguments with their keys in order.
func canonical(args json.RawMessage) json.RawMessage {
	var value any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return args
	}
	return toolresult.JSON(value)
}

package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// Compaction is the part of a history that a summary replaces.
type Compaction struct {
	before string // the previous summary
	Gone   []spool.Message
	// through is the last message that the summary covers.
	through spool.MessageID
	// Weight is the size of Gone.
	Weight Weight
}

// Content returns the content of the summary message.
func (c Compaction) Content(text string) spool.Content {
	return spool.Content{{Type: spool.PartSummary, Text: text, ThroughMessageID: c.through}}
}

// Plan divides the recall into the messages to summarise and the newest messages, which stay verbatim
// and have up to tail tokens. It divides between whole steps: see borders. Three things always stay: the
// last step, the turn that the run answers, and every step of the run that has a call without a result.
// Answers is the run whose turn that is. Plan returns false if no message is left to summarise.
func (r Recall) Plan(m Meter, tail int64, run, answers spool.RunID) (Compaction, bool) {
	cut := r.cut(m, tail, run)
	turn := turnOf(r.live[:cut], answers)
	if turn == cut-1 && cut > 0 { // the turn is the last message before the cut, so the tail can begin with it
		cut, turn = turn, -1
	}
	c := Compaction{before: r.summary.Text, through: r.summary.ThroughMessageID}
	for i, msg := range r.live[:cut] {
		if i == turn {
			continue
		}
		c.Gone = append(c.Gone, msg)
		c.Weight.Add(weighMessage(msg))
	}
	if cut > 1 || cut == 1 && !r.pinned {
		c.through = r.live[cut-1].ID
	}
	return c, len(c.Gone) > 0
}

// cut returns the index in r.live at which the tail begins.
func (r Recall) cut(m Meter, tail int64, run spool.RunID) int {
	borders := borders(r.live)
	if len(borders) == 0 {
		return 0
	}
	last := borders[lastStep(r.live, borders)]
	var w Weight
	at := len(r.live)
	for _, b := range slices.Backward(borders) {
		for _, msg := range r.live[b:at] {
			w.Add(weighMessage(msg))
		}
		if b < last && m.Part(w) > tail {
			break
		}
		at = b
	}
	for i, b := range borders { // a step with a waiting call stays
		if b < at && r.live[b].RunID == run && run != "" && unanswered(r.live[b:end(borders, i, r.live)]) {
			return b
		}
	}
	return at
}

// borders returns the indexes at which the live messages may be divided. A step stays whole: its answer, the
// results of the answer's calls, and the answers that continue a paused one. Its parts may be signed
// together.
func borders(live []spool.Message) (at []int) {
	for i, m := range live {
		if m.Role != spool.RoleTool && (i == 0 || !continues(live[i-1], m)) {
			at = append(at, i)
		}
	}
	return at
}

// lastStep returns the index of the border at which the last step begins. Messages of steers that end the
// history are one step, because no model has read any of them.
func lastStep(live []spool.Message, borders []int) int {
	last := len(borders) - 1
	for last > 0 && ofOneRun(live[borders[last-1]], live[borders[last]]) {
		last--
	}
	return last
}

// ofOneRun reports whether both messages are user turns of the same run.
func ofOneRun(a, b spool.Message) bool {
	return a.Role == spool.RoleUser && b.Role == spool.RoleUser && a.RunID == b.RunID && a.RunID != ""
}

// continues reports whether a message continues an answer: a run answers again without results in between
// only after a pause, or after a limit has cut its answer.
func continues(answer, m spool.Message) bool {
	return m.Role == spool.RoleAssistant && answer.Role == spool.RoleAssistant && m.RunID == answer.RunID &&
		len(answer.ToolCalls()) == 0
}

// end returns the index after the messages of the i-th step.
func end(borders []int, i int, live []spool.Message) int {
	if i+1 < len(borders) {
		return borders[i+1]
	}
	return len(live)
}

// unanswered reports whether a call of a step has no result.
func unanswered(step []spool.Message) bool {
	for i, m := range step {
		results := resultsAfter(step[i+1:])
		if slices.ContainsFunc(m.ToolCalls(), func(p spool.Part) bool {
			_, ok := results[p.ToolCallID]
			return !ok
		}) {
			return true
		}
	}
	return false
}

const (
	// oversize is the fraction of a prompt's room (one quarter) beyond which Squeeze cuts a result
	// first.
	oversize = 4
	// minResult is the number of bytes that cutting leaves of every result.
	minResult = 1_000
)

// Squeeze returns the messages of a recall within a bound. It shortens only the prompt: it cuts
// oversized results, then drops the oldest steps, then cuts all results. If the prompt still exceeds
// the bound, Squeeze returns the smallest prompt that it can make.
func (r Recall) Squeeze(m Meter, bound int64, answers spool.RunID) []spool.Message {
	limit := max(m.bytes(bound/oversize), minResult)
	messages := cutResults(r.Messages(), limit)
	if m.Part(weighMessages(messages)) > bound {
		messages = cutResults(r.withoutOldest(m, bound, limit, answers).Messages(), limit)
	}
	for m.Part(weighMessages(messages)) > bound && limit > minResult {
		limit = max(limit/2, minResult)
		messages = cutResults(messages, limit)
	}
	return messages
}

// withoutOldest drops the oldest steps until the prompt is within the bound, with results cut to limit
// bytes. It keeps the last step and the turn that the run answers.
func (r Recall) withoutOldest(m Meter, bound int64, limit int, answers spool.RunID) Recall {
	turn, borders := turnOf(r.live, answers), borders(r.live)
	last := 0
	if len(borders) > 0 {
		last = lastStep(r.live, borders)
	}
	borders = append(borders, len(r.live))
	steps := make([]Weight, len(borders)-1)
	var total Weight
	for i := range steps {
		steps[i] = weighMessages(cutResults(prompt(r.live[borders[i]:borders[i+1]]), limit))
		total.Add(steps[i])
	}
	kept := r.live[:0:0]
	for i, step := range steps {
		from, to := borders[i], borders[i+1]
		around := total
		around.Add(weighMessage(spool.Message{Content: r.preface()}))
		if m.Part(around) <= bound || from == turn || i >= last {
			kept = append(kept, r.live[from:to]...)
			continue
		}
		r.omitted += to - from
		total = without(total, step)
	}
	r.live = kept
	return r
}

// cutResults returns the messages with each result cut to limit bytes.
func cutResults(messages []spool.Message, limit int) []spool.Message {
	out := slices.Clone(messages)
	for i, m := range out {
		if m.Role != spool.RoleTool {
			continue
		}
		out[i].Content = slices.Clone(m.Content)
		for j, p := range m.Content {
			if text, long := cutResult(p.Result, limit); long {
				out[i].Content[j].Result = toolresult.JSON(text)
			}
		}
	}
	return out
}

func cutResult(result json.RawMessage, limit int) (string, bool) {
	if len(result) <= limit {
		return "", false
	}
	text := string(result)
	if result[0] == '"' {
		if err := json.Unmarshal(result, &text); err != nil {
			return "", false
		}
	}
	return headAndTail(text, limit), len(text) > limit
}

// headAndTail cuts a text to about limit bytes: two thirds for its beginning, a mark, and one third for
// its end.
func headAndTail(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := limit*2/3, len(text)-limit/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[... %d bytes were left out here ...]\n%s", text[:head], tail-head, text[tail:])
}

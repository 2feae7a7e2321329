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
// and have up to tail tokens. It divides before a user or agent message, never between a call and its
// result. Three things always stay: the last step, the turn that the run answers, and every step of the
// run that has a call without a result. Plan returns false if no message is left to summarise.
func (r Recall) Plan(m Meter, tail int64, run spool.RunID) (Compaction, bool) {
	cut := r.cut(m, tail, run)
	turn := turnOf(r.live[:cut], run)
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
	last := borders[len(borders)-1]
	var w Weight
	at := len(r.live)
	for _, b := range slices.Backward(borders) {
		for _, msg := range r.live[b:at] {
			w.Add(weighMessage(msg))
		}
		if b != last && m.Part(w) > tail {
			break
		}
		at = b
	}
	for _, b := range borders { // a step with a waiting call stays
		if b < at && r.live[b].RunID == run && run != "" && unanswered(r.live[b:]) {
			return b
		}
	}
	return at
}

// borders returns the indexes at which the live messages may be divided.
func borders(live []spool.Message) (at []int) {
	for i, m := range live {
		if m.Role != spool.RoleTool {
			at = append(at, i)
		}
	}
	return at
}

// unanswered reports whether a call of the first message has no result.
func unanswered(live []spool.Message) bool {
	calls := live[0].ToolCalls()
	if len(calls) == 0 {
		return false
	}
	results := resultsAfter(live[1:])
	return slices.ContainsFunc(calls, func(p spool.Part) bool {
		_, ok := results[p.ToolCallID]
		return !ok
	})
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
func (r Recall) Squeeze(m Meter, bound int64, run spool.RunID) []spool.Message {
	limit := max(m.bytes(bound/oversize), minResult)
	messages := cutResults(r.Messages(), limit)
	if m.Part(weighMessages(messages)) > bound {
		messages = cutResults(r.withoutOldest(m, bound, limit, run).Messages(), limit)
	}
	for m.Part(weighMessages(messages)) > bound && limit > minResult {
		limit = max(limit/2, minResult)
		messages = cutResults(messages, limit)
	}
	return messages
}

// withoutOldest drops the oldest steps until the prompt is within the bound, with results cut to limit
// bytes. It keeps the last step and the turn that the run answers.
func (r Recall) withoutOldest(m Meter, bound int64, limit int, run spool.RunID) Recall {
	turn, borders := turnOf(r.live, run), append(borders(r.live), len(r.live))
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
		if m.Part(around) <= bound || from == turn || i == len(steps)-1 {
			kept = append(kept, r.live[from:to]...)
			continue
		}
		r.omitted += to - from
		total.Bytes, total.Images = total.Bytes-step.Bytes, total.Images-step.Images
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

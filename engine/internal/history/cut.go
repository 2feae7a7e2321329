package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// Compaction is what a summary is to stand for.
type Compaction struct {
	before string // the summary so far
	Gone   []spool.Message
	// through is the last message that the summary speaks of.
	through spool.MessageID
	// Weight is that of gone.
	Weight Weight
}

// Content returns the content of the message that has the summary.
func (c Compaction) Content(text string) spool.Content {
	return spool.Content{{Type: spool.PartSummary, Text: text, ThroughMessageID: c.through}}
}

// Plan divides the recall into what is summarised, and the newest messages, which stay as
// they are and have up to tail tokens. The division is before a message of the user or of
// the agent, never between a call and its result. What stays in any case is the last step,
// the turn that the run answers, and every step of the run that has a call without a result.
// It returns false where nothing is left to summarise.
func (r Recall) Plan(m Meter, tail int64, run spool.RunID) (Compaction, bool) {
	cut := r.cut(m, tail, run)
	turn := turnOf(r.live[:cut], run)
	if turn == cut-1 && cut > 0 { // it begins what stays
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

// cut returns where in the live messages the tail begins.
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
	for _, b := range borders { // a call of the run that waits is not summarised away
		if b < at && r.live[b].RunID == run && run != "" && unanswered(r.live[b:]) {
			return b
		}
	}
	return at
}

// borders returns where the live messages may be divided.
func borders(live []spool.Message) (at []int) {
	for i, m := range live {
		if m.Role != spool.RoleTool {
			at = append(at, i)
		}
	}
	return at
}

// unanswered reports whether a call of the first message has no result behind it.
func unanswered(live []spool.Message) bool {
	calls := live[0].ToolCalls()
	if len(calls) == 0 {
		return false
	}
	results := resultsBehind(live[1:])
	return slices.ContainsFunc(calls, func(p spool.Part) bool {
		_, ok := results[p.ToolCallID]
		return !ok
	})
}

const (
	// oversize is the part of a prompt's room from which a result is cut before anything
	// else is left out.
	oversize = 4
	// minResult is how long a result may be in any case, in bytes.
	minResult = 1_000
)

// Squeeze returns the messages of a recall within a bound, in the prompt alone: it cuts
// results that are much too long, then leaves out the oldest steps, then cuts all results.
// Where that is not enough it returns the least that there is.
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

// withoutOldest leaves out the oldest steps until the prompt, with results of up to limit
// bytes, is within the bound. It keeps the last step and the turn that the run answers.
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

// cutResults returns messages whose results have up to limit bytes.
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

// headAndTail returns a text of about limit bytes: its beginning and, half as long, its end,
// around a mark.
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

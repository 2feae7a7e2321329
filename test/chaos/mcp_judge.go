//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// judgeMCP judges the calls of a thread by what the MCP server and the model have seen.
func (t *conversation) judgeMCP(d spooltest.ThreadDump, saved []spool.Message) {
	results := make(map[spool.ToolCallID]string)
	for _, m := range saved {
		for _, p := range m.ToolResults() {
			results[p.ToolCallID] = string(p.Result)
		}
	}
	calls := t.mcp.server.ledger.of(string(t.key.ID) + "-r")
	for _, r := range d.Runs {
		t.judgeTools(r, calls)
	}
	for _, c := range calls {
		t.add("calls that the server got", 1)
		t.add("effects of calls", len(c.effects))
		t.add("tasks", len(c.tasks))
		t.judgeResult(c, results[spool.ToolCallID(c.call)])
		t.judgeAnswers(c)
	}
	t.judgeUnknown(d.Entries)
	t.judgeSecrets(d)
}

// judgeTools checks that a run saw one list of tools, which the server had when the run began, and called none besides.
func (t *conversation) judgeTools(r store.RunRow, calls []called) {
	seen := t.mcp.model.seen(string(r.ID))
	if len(seen) == 0 {
		for _, c := range calls {
			if c.run == string(r.ID) {
				t.violated("tools", c.call, "the server got a call for which no model has asked")
			}
		}
		return
	}
	first := seen[0]
	for _, s := range seen[1:] {
		if !slices.Equal(s.tools, first.tools) {
			t.violated("tools", string(r.ID), fmt.Sprintf("the run had %q, and then %q", first.tools, s.tools))
		}
	}
	g, until, ok := t.mcp.server.tools.at(first.generation)
	switch {
	case !ok || !slices.Equal(first.bareNames(), g.names):
		t.violated("tools", string(r.ID), fmt.Sprintf("no list of the server is %q", first.tools))
	case !until.IsZero() && until.Before(r.CreatedAt):
		t.violated("tools", string(r.ID), fmt.Sprintf("the run was started %s after its list had gone",
			r.CreatedAt.Sub(until)))
	case len(seen) > 1 && !until.IsZero() && until.Before(seen[len(seen)-1].at):
		t.count("runs whose tools changed meanwhile")
	}
	for _, c := range calls {
		if c.run == string(r.ID) && !slices.Contains(g.names, c.tool) {
			t.violated("tools", c.call, fmt.Sprintf("the run has called %s, and its tools are those of generation %d: %q",
				c.tool, first.generation, g.names))
		}
	}
}

var effectIn = regexp.MustCompile(`effect-(\d+)-`)

// judgeResult checks the result of a call, and that the model has asked for the call.
func (t *conversation) judgeResult(c called, result string) {
	again := len(t.saidTo(outcomeOf(spool.ToolCallID(c.call)))) > 0 // it may have had its effects before it was run again
	if wrong := c.wrongResult(result, again || c.tool == idempotentTool); wrong != "" {
		t.violated("result", c.call, wrong)
	}
	step, i := placeOf(c.call)
	plan, known := t.plans[spool.RunID(c.run)]
	if known && (step >= len(plan.Steps) || i >= len(plan.Steps[step].Calls) ||
		plan.Steps[step].Calls[i] != mcpPrefix+c.tool) {
		t.violated("call", c.call, "the server got a call of "+c.tool+", for which the model has not asked")
	}
}

// wrongResult returns what is wrong with a result. It must be that of an effect of the call. A call that has not
// reached the server had none, unless it was sent before.
func (c called) wrongResult(result string, repeated bool) string {
	for _, found := range effectIn.FindAllStringSubmatch(result, -1) {
		if n, _ := strconv.Atoi(found[1]); !slices.ContainsFunc(c.effects, func(e effect) bool { return e.number == n }) {
			return fmt.Sprintf("its result is %s, and the server has %s", result, c)
		}
	}
	if strings.Contains(result, "cannot be reached") && len(c.effects) > 0 && !repeated {
		return fmt.Sprintf("its result is %s, and the server has %s", result, c)
	}
	return ""
}

// placeOf returns the step and the place of a call: see [plan.callID].
func placeOf(call string) (step, i int) {
	parts := strings.Split(call, ".")
	if len(parts) != 3 {
		return -1, -1
	}
	step, _ = strconv.Atoi(parts[1])
	i, _ = strconv.Atoi(parts[2])
	return step, i
}

// judgeAnswers checks that the server got only answers that count, and no effect of a call that was denied.
func (t *conversation) judgeAnswers(c called) {
	for _, heard := range c.heard {
		counts := false
		for _, s := range t.said {
			switch {
			case s.question != heard.question:
			case s.approved == heard.approved && s.payload == heard.payload:
				counts = counts || s.delivered || s.unknown
			case s.delivered:
				t.violated("answer", c.call, fmt.Sprintf("the answer %+v counts, and the server got %+v", s, heard))
			}
		}
		if !counts {
			t.violated("answer", c.call, fmt.Sprintf("the server got %+v, which does not count; said was %+v", heard,
				t.saidTo(heard.question)))
		}
		t.count("answers that the server got")
	}
	for _, s := range t.saidTo(approvalOf(spool.ToolCallID(c.call))) {
		if s.delivered && !s.approved {
			t.violated("answer", c.call, "the call was denied, and the server got it")
		}
	}
}

func (t *conversation) saidTo(question string) (all []said) {
	for _, s := range t.said {
		if s.question == question {
			all = append(all, s)
		}
	}
	return all
}

// judgeUnknown checks that a person was asked about the outcome of a call only if the server has seen that the call was
// cut, or has not ended its task, or if the worker was lost in the call.
func (t *conversation) judgeUnknown(entries []wire.Entry) {
	segment := make(map[spool.RunID]int)
	lost := make(map[spool.RunID]map[int]bool)
	unknown := make(map[spool.ToolCallID]bool) // is asked
	cuts, again := make(map[spool.ToolCallID]int), make(map[spool.ToolCallID]int)
	for _, e := range entries {
		var p struct {
			ToolCallID spool.ToolCallID
			About      string
			Approved   bool
			Segment    int
			Status     wire.SegmentStatus
		}
		_ = json.Unmarshal(e.Payload, &p)
		switch e.Type { //nolint:exhaustive // the others are about something else
		case wire.EntryRunStarted:
			segment[e.RunID] = p.Segment
		case wire.EntryRunEnded:
			if lost[e.RunID] == nil {
				lost[e.RunID] = make(map[int]bool)
			}
			lost[e.RunID][p.Segment] = p.Status == wire.SegmentLost || p.Status == wire.SegmentError
		case wire.EntryHITLResponse:
			if unknown[p.ToolCallID] && p.Approved {
				again[p.ToolCallID]++
			}
			delete(unknown, p.ToolCallID)
		case wire.EntryInputRequired:
			if p.About != wire.ParkOutcomeUnknown {
				continue
			}
			unknown[p.ToolCallID] = true
			c := t.mcp.server.ledger.find(string(e.RunID), string(p.ToolCallID))
			why := t.mcp.excuse(c, lost[e.RunID][segment[e.RunID]-1], cuts[p.ToolCallID], again[p.ToolCallID], e.CreatedAt)
			if why == wasCut {
				cuts[p.ToolCallID]++
			}
			if why == "" || c.tool == idempotentTool {
				t.violated("unknown", string(p.ToolCallID),
					fmt.Sprintf("seq %d asks for the outcome of a call that nobody has cut: %s", e.Seq, c))
			}
			t.count("questions for an outcome: " + why)
		}
	}
}

// What excuses a question for the outcome of a call.
const (
	wasLost      = "the worker was lost in the call"
	wasCut       = "the call was cut"
	wasGone      = "the task was not there any more"
	wasSlow      = "no answer came in time"
	wasRestarted = "the server was restarted"
)

// excuse returns why the outcome of a call is unknown, empty for no reason. Cuts counts the cuts of the call that have
// excused other questions, and again how often a person has let the call run again. Lost says that the segment before
// has lost its worker.
func (w *mcpWorld) excuse(c called, lost bool, cuts, again int, at time.Time) string {
	troubles, slow, looked := 0, false, false
	for _, a := range c.attempts {
		if a.began.After(at) {
			continue
		}
		if a.trouble != "" {
			troubles++
		}
		slow = slow || a.ended.IsZero() || a.ended.Sub(a.began) > mcpTimeout/2
	}
	ended := false
	for _, k := range c.tasks {
		ended = ended || k.gone || k.tool == "short"
	}
	if len(c.tasks) > again { // the last begin has made a task
		looked = slices.ContainsFunc(c.tasks[len(c.tasks)-1].looks, func(look time.Time) bool { return look.Before(at) })
	}
	switch {
	case lost && !looked:
		return wasLost
	case troubles > cuts:
		return wasCut
	case ended:
		return wasGone
	case slow:
		return wasSlow
	case w.mcpAt.wasAway(at.Add(-2*mcpTimeout), at):
		return wasRestarted
	default:
		return ""
	}
}

// String describes the call for a report.
func (c called) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d effects, %d tasks", c.tool, len(c.effects), len(c.tasks))
	for _, a := range c.attempts {
		fmt.Fprintf(&b, "; %s at %s for %s (%q, gone %t)", a.process, a.began.Format(time.TimeOnly), a.ended.Sub(a.began),
			a.trouble, a.gone)
	}
	for _, k := range c.tasks {
		fmt.Fprintf(&b, "; task %s with %d looks (forgotten %t)", k.tool, len(k.looks), k.gone)
	}
	return b.String()
}

// judgeSecrets checks that no client and no record has the client's secret or the state of the server.
func (t *conversation) judgeSecrets(d spooltest.ThreadDump) {
	d.Parks = nil // they keep the state, and no client sees it
	public, err := json.Marshal(d)
	if err != nil {
		t.violated("judge", t.key.String(), err.Error())
	}
	texts := []string{string(public)}
	for _, c := range t.history.Clients {
		for _, f := range c.Frames {
			raw, _ := json.Marshal(f) //nolint:errchkjson // what is missing is not looked for
			texts = append(texts, string(raw))
		}
	}
	for _, text := range texts {
		for _, hidden := range []string{t.mcp.secret, hiddenState} {
			if at := strings.Index(text, hidden); at >= 0 {
				t.violated("secret", t.key.String(), "a client or a record has "+text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
}

// judgeEffects judges the calls of runs that go on: each effect after the first one needs a person who has let the call
// run again.
func (c *campaign) judgeEffects() {
	c.mu.Lock()
	threads := slices.Collect(maps.Values(c.threads))
	c.mu.Unlock()
	for _, t := range threads {
		for _, call := range c.mcp.server.ledger.of(string(t.key.ID) + "-r") {
			again := 0
			t.mu.Lock()
			for _, s := range t.saidTo(outcomeOf(spool.ToolCallID(call.call))) {
				if s.approved && (s.delivered || s.unknown) {
					again++
				}
			}
			t.mu.Unlock()
			if len(call.effects) > 1+again && call.tool != idempotentTool {
				t.violated("effect-once", call.call,
					fmt.Sprintf("it took effect %d times, and was let run again at most %d times: %s", len(call.effects), again, call))
			}
		}
	}
}

// manyDeaths reports whether a run failed because too many workers had died in one of its steps.
func manyDeaths(why string) bool { return strings.HasSuffix(why, "workers died in the same step") }

// finishMCP judges what all threads have in common: the protocol, and the logs.
func (c *campaign) finishMCP() {
	s := c.mcp.server
	for _, wrong := range s.fake.Wrong() {
		c.violated("protocol", mcpName, wrong)
	}
	s.ledger.mu.Lock()
	wrong := slices.Clone(s.ledger.wrong)
	s.ledger.mu.Unlock()
	for _, w := range wrong {
		c.violated("protocol", mcpName, w)
	}
	for _, n := range c.cluster.nodes {
		text, err := os.ReadFile(filepath.Join(c.cluster.dir, fmt.Sprintf("n%d.log", n.index)))
		if err != nil {
			c.violated("judge", "the log", err.Error())
		}
		for _, hidden := range []string{c.mcp.secret, hiddenState, "key-of-the-model"} {
			if strings.Contains(string(text), hidden) {
				c.violated("secret", n.address(), "its log has "+hidden)
			}
		}
	}
	for what, n := range s.troubles.all() {
		c.add("requests to the MCP server: "+what, n)
	}
}

// counters count things.
type counters struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counters) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = make(map[string]int)
	}
	c.n[what] += n
}

func (c *counters) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.n)
}

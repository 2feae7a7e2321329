//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	fake "github.com/spoolhq/spool/internal/testing/fake/mcp"
)

// idempotentTool is the tool that may be repeated.
const idempotentTool = "same"

// baseTools are the tools of the MCP server that come back if they go:
//
//   - plain has its effect, same may be repeated, and send needs an approval.
//   - ask asks a question or two before its effect.
//   - work works in a task for a while. survey also asks a question in it, fails fails, and short does not end within
//     the time for which the server keeps the task.
var baseTools = []string{"ask", "fails", "plain", idempotentTool, "send", "short", "survey", "work"}

// toolList is the list of the server's tools, which changes. Each change is a generation, and the description of each
// tool has its number.
type toolList struct {
	mu          sync.Mutex
	generations []generation
	first, last int // of the extra tools
	hidden      string
}

type generation struct {
	from  time.Time
	names []string
}

func newToolList() *toolList {
	l := &toolList{first: 1, last: 2}
	l.add()
	return l
}

func extraTool(n int) string { return fmt.Sprintf("extra_%d", n) }

// add adds the present list as a generation. The caller holds mu.
func (l *toolList) add() {
	names := slices.DeleteFunc(slices.Clone(baseTools), func(name string) bool { return name == l.hidden })
	for i := l.first; i <= l.last; i++ {
		names = append(names, extraTool(i))
	}
	slices.Sort(names)
	l.generations = append(l.generations, generation{time.Now(), names})
}

// change adds or takes away a tool, unless the last change is not long ago. All descriptions change.
func (l *toolList) change(n func(int) int, apart time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.generations[len(l.generations)-1].from) < apart {
		return false
	}
	switch n(4) {
	case 0:
		l.last++
	case 1:
		l.last++
		l.first++
	case 2:
		l.hidden = ""
	default:
		l.hidden = baseTools[n(len(baseTools))]
	}
	if l.last-l.first > 3 {
		l.first++
	}
	l.add()
	return true
}

// extras returns the numbers of the first and the last extra tool.
func (l *toolList) extras() (first, last int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first, l.last
}

// list returns the tools as tools/list has them.
func (l *toolList) list() (tools []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := len(l.generations) - 1
	for _, name := range l.generations[g].names {
		tools = append(tools, fake.Listed(name, fmt.Sprintf("The tool %s of generation %d.", name, g), "n"))
	}
	return tools
}

// at returns a generation, and when it ended, which is the zero time for the present one.
func (l *toolList) at(n int) (g generation, until time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < 0 || n >= len(l.generations) {
		return g, until, false
	}
	if n+1 < len(l.generations) {
		until = l.generations[n+1].from
	}
	return l.generations[n], until, true
}

// questionOf finds the name of a question in what a person sees.
var questionOf = regexp.MustCompile(`question-[a-z0-9-]+`)

// hiddenState begins each state that the server sends with a question. No client may see it.
const hiddenState = "state-of-the-server-"

// answer executes a call.
func (s *mcpServer) answer(c fake.Call) any {
	tool, key := c.Name, c.Key
	if strings.HasPrefix(tool, "extra_") {
		tool = "plain"
	}
	switch tool {
	case "plain", idempotentTool, "send":
		return s.did(key)
	case "ask":
		return s.ask(c)
	case "work", "survey", "fails", "short":
		t := s.fake.NewTask(key, c.Args)
		number := s.ledger.take(key)
		ttl := int64(3_600_000)
		if tool == "short" {
			ttl = 2500
		}
		t.Last(ttl, 1000)
		t.Works("begun as " + number)
		s.ledger.keep(key, t.ID, tool)
		return t
	default:
		s.ledger.complainf("a call of the tool %q, which never was", c.Name)
		return fake.Said("there is no such tool")
	}
}

// did has the effect of a call and returns its result, which sometimes repeats the secret of the client.
func (s *mcpServer) did(key string) any {
	text := "done: " + s.ledger.take(key)
	if s.random(text).IntN(5) == 0 {
		text += ", and your key is " + s.secret
	}
	return fake.Said(text)
}

// heardAnswer is an answer to a question as a client sends it.
type heardAnswer struct {
	Action  string `json:"action"`
	Content struct {
		Reason string `json:"reason"`
	} `json:"content"`
}

// asQuestion returns the answer as one to a question.
func (a heardAnswer) asQuestion(question string) said {
	return said{question: question, payload: a.Content.Reason, approved: a.Action == "accept"}
}

// ask executes a call of the tool ask.
func (s *mcpServer) ask(c fake.Call) any {
	question, known := s.ledger.question(c.Key, c.State)
	var a heardAnswer
	switch err := json.Unmarshal(c.Responses["why"], &a); {
	case c.State == "" && len(c.Responses) == 0:
		return s.question(c.Key)
	case !known || err != nil:
		s.ledger.complainf("the state %q and the answers %s to the call %s", c.State, c.Responses, c.Key)
		return fake.Said("there is no such question")
	}
	s.ledger.hear(c.Key, a.asQuestion(question))
	switch {
	case a.Action != "accept":
		return fake.Said("not done")
	case s.random(question).IntN(5) == 0:
		return s.question(c.Key)
	default:
		return s.did(c.Key)
	}
}

// question returns a new question of a call, with a state.
func (s *mcpServer) question(key string) any {
	question, state := s.ledger.ask(key)
	return map[string]any{
		"resultType": "input_required", "requestState": state,
		"inputRequests": map[string]any{"why": fake.Question("Why? This is "+question+".", "reason")},
	}
}

// question returns the question with which a state was sent.
func (l *ledger) question(key, state string) (question string, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	question, known = l.calls[key].states[state]
	return question, known
}

// ask notes a new question of a call.
func (l *ledger) ask(key string) (question, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	question, state = fmt.Sprintf("question-%d", l.last), fmt.Sprintf("%s%d", hiddenState, l.last)
	l.calls[key].states[state] = question
	return question, state
}

//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ledger is what the MCP server knows of the calls that it got. It counts each effect by the idempotency key of its
// call.
type ledger struct {
	mu    sync.Mutex
	calls map[string]*called
	order []*called
	// wrong are requests that a client must not send.
	wrong []string
	last  int
}

// called is a call, by its idempotency key.
type called struct {
	key, run, call, tool string
	step                 int
	args                 json.RawMessage
	attempts             []*attempt
	effects              []effect
	// states are what the server has sent with its questions, and the questions.
	states map[string]string
	// heard are the answers that the server has got.
	heard []said
	tasks []*kept
}

// attempt is one request of a call.
type attempt struct {
	process      string
	began, ended time.Time
	// trouble is what the server did to it. Empty: the server has answered.
	trouble string
	// gone says that the client went away before the answer.
	gone bool
}

// effect is an effect of a call. For a call that becomes a task, it is the begin of the task.
type effect struct {
	number int
	at     time.Time
}

// kept is a task as the ledger knows it.
type kept struct {
	id, tool string
	creator  string
	began    time.Time
	looks    []time.Time
	question string
	asked    bool
	// gone says that the server has forgotten it.
	gone bool
}

// said is an answer of a person, or one that the server has got.
type said struct {
	// question names the question: see [questionOf].
	question, payload string
	approved          bool
	// delivered says that the answer counts, and unknown that nobody knows whether it does.
	delivered, unknown bool
}

// arrived notes a request of a call.
func (l *ledger) arrived(process, key, tool string, args json.RawMessage) *attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.calls[key]
	if c == nil {
		c = &called{key: key, tool: tool, args: args, states: make(map[string]string)}
		parts := strings.Split(key, "/")
		if len(parts) != 4 {
			l.wrong = append(l.wrong, fmt.Sprintf("the idempotency key %q", key))
			parts = make([]string, 4)
		}
		c.run, c.call = parts[0], parts[2]
		c.step, _ = strconv.Atoi(parts[1])
		l.calls[key] = c
		l.order = append(l.order, c)
	}
	if c.tool != tool || string(c.args) != string(args) {
		l.wrong = append(l.wrong, fmt.Sprintf("the key %s is that of %s with %s, and of %s with %s", key, c.tool, c.args,
			tool, args))
	}
	a := &attempt{process: process, began: time.Now()}
	c.attempts = append(c.attempts, a)
	return a
}

// ended notes the end of a request of a call.
func (l *ledger) ended(a *attempt, trouble string, gone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.ended, a.trouble, a.gone = time.Now(), trouble, gone
}

// tries returns how often a call was sent.
func (l *ledger) tries(key string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls[key].attempts)
}

// take notes an effect of a call and returns its name, which is in the call's result.
func (l *ledger) take(key string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	c := l.calls[key]
	c.effects = append(c.effects, effect{l.last, time.Now()})
	return effectName(l.last)
}

func effectName(n int) string { return fmt.Sprintf("effect-%d-", n) }

// hear notes an answer to a question of the server.
func (l *ledger) hear(key string, s said) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[key].heard = append(l.calls[key].heard, s)
}

// of returns the calls of runs whose ids begin with a prefix. The caller must not change them.
func (l *ledger) of(prefix string) (found []called) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.order {
		if strings.HasPrefix(c.run, prefix) {
			found = append(found, *c)
		}
	}
	return found
}

// find returns a call of a run, the zero value if the server has not got it.
func (l *ledger) find(run, call string) called {
	for _, c := range l.of(run) {
		if c.run == run && c.call == call {
			return c
		}
	}
	return called{}
}

// complainf notes a request that a client must not send.
func (l *ledger) complainf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

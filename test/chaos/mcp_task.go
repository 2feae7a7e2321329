//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	fake "github.com/spoolhq/spool/internal/testing/fake/mcp"
)

// keep notes a new task of a call.
func (l *ledger) keep(key, id, tool string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.calls[key]
	k := &kept{id: id, tool: tool, began: time.Now(), creator: c.attempts[len(c.attempts)-1].process}
	if tool == "survey" {
		l.last++
		k.question = fmt.Sprintf("question-%d", l.last)
	}
	c.tasks = append(c.tasks, k)
}

// task returns a task and its call, nil if there is none. The caller must not change them, and holds mu.
func (l *ledger) task(id string) (*kept, *called) {
	for _, c := range slices.Backward(l.order) {
		for _, k := range c.tasks {
			if k.id == id {
				return k, c
			}
		}
	}
	return nil, nil
}

// taskWork is how long a task works before it ends, and before it asks.
const (
	taskWork = 1200 * time.Millisecond
	taskAsks = 400 * time.Millisecond
)

// goOn notes a look at a task, and lets the task go on: it asks, it has got its answer, or it ends.
func (s *mcpServer) goOn(id string) {
	at := slices.IndexFunc(s.fake.Tasks(), func(t *fake.Task) bool { return t.ID == id })
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	k, c := l.task(id)
	if k == nil {
		l.wrong = append(l.wrong, "a look at the task "+id+", which never was")
		return
	}
	k.looks = append(k.looks, time.Now())
	if at < 0 || k.gone {
		return
	}
	t := s.fake.Tasks()[at]
	age := time.Since(k.began)
	number := effectName(c.effects[len(c.effects)-1].number)
	answer, answered := t.Answers()["why"]
	switch {
	case t.Cancels() > 0:
	case k.tool == "survey" && !k.asked && age > taskAsks:
		k.asked = true
		t.AskRaw("why", 1, fake.Question("Why? This is "+k.question+".", "reason"))
	case k.tool == "survey" && !answered, t.Asking(), k.tool == "short", age < taskWork:
	case k.tool == "fails":
		t.Fail(-32603, "no paper after "+number)
	default:
		text := "done: " + number
		if answered {
			var a heardAnswer
			_ = json.Unmarshal(answer, &a)
			if c.heard = append(c.heard, a.asQuestion(k.question)); a.Action != "accept" {
				text = "not done"
			}
		}
		t.Complete(fake.Said(text))
	}
}

// forget forgets one of the tasks that go on. It reports whether there was one.
func (s *mcpServer) forget(n func(int) int) bool {
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	var young []*kept
	for _, c := range l.order {
		for _, k := range c.tasks {
			if !k.gone && time.Since(k.began) < 2*taskWork {
				young = append(young, k)
			}
		}
	}
	if len(young) == 0 {
		return false
	}
	k := young[n(len(young))]
	k.gone = true
	s.fake.Forget(k.id)
	return true
}

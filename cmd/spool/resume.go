package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
)

// resumed says of the runs in a database that do not go on as they began what becomes of them, a
// line for each kind. It returns none where all go on with the model that they were started with.
func (s *setup) resumed(all []sqlite.Unfinished) []string {
	var kinds []change
	for _, u := range all {
		k := s.changed(u, madeOn(all, u))
		if k.what == "" {
			continue
		}
		at := slices.IndexFunc(kinds, k.same)
		if at < 0 {
			at, kinds = len(kinds), append(kinds, k)
		}
		kinds[at].count(u)
	}
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.String()
	}
	return out
}

// madeOn returns what the model of a run was. Where no model has answered it yet, other runs with a
// model of the same name say so.
func madeOn(all []sqlite.Unfinished, u sqlite.Unfinished) string {
	if u.MadeOn != "" {
		return u.MadeOn
	}
	for _, other := range all {
		if other.Model == u.Model && other.MadeOn != "" {
			return other.MadeOn
		}
	}
	return ""
}

// change is what becomes of runs that do not go on as they began.
type change struct {
	what string
	// waits says that they wait, for what is in until, and otherwise they go on with that.
	waits bool
	until string

	runs   int64
	states []stateCount
}

type stateCount struct {
	word string
	runs int64
}

// stateWords say in what state a run was left.
var stateWords = map[spool.State]string{spool.Queued: "queued", spool.Running: "under way", spool.WaitingForInput: "waiting for an answer"}

func (c *change) same(other change) bool {
	return c.what == other.what && c.waits == other.waits && c.until == other.until
}

func (c *change) count(u sqlite.Unfinished) {
	word := stateWords[u.State]
	at := slices.IndexFunc(c.states, func(s stateCount) bool { return s.word == word })
	if at < 0 {
		at, c.states = len(c.states), append(c.states, stateCount{word: word})
	}
	c.states[at].runs += u.Runs
	c.runs += u.Runs
}

// String returns a line for a person.
func (c *change) String() string {
	verb, plural := "goes on with ", ""
	if c.waits {
		verb = "waits until "
	}
	var states []string
	for _, s := range c.states {
		states = append(states, fmt.Sprintf("%d %s", s.runs, s.word))
	}
	if c.runs == 1 {
		states = []string{c.states[0].word}
	} else {
		plural = "s"
		verb = strings.Replace(strings.Replace(verb, "goes", "go", 1), "waits", "wait", 1)
	}
	return fmt.Sprintf("%d run%s (%s) %s, %s%s", c.runs, plural, strings.Join(states, ", "), c.what, verb, c.until)
}

// changed says what differs for a run from when it began, with a model that was what made says.
func (s *setup) changed(u sqlite.Unfinished, made string) change {
	at := slices.IndexFunc(s.engine.Agents, func(a engine.Agent) bool { return a.Name == u.Agent })
	if u.Agent == "" {
		at = 0
	}
	if at < 0 {
		return change{what: "of the agent " + u.Agent + ", which is not configured", waits: true, until: "it is"}
	}
	now, ok := s.modelNamed(u.Model)
	if !ok {
		now, _ = s.modelNamed(s.engine.Agents[at].Model)
		return change{what: "started with the model " + u.Model + ", which is not configured", until: describe([]description{now})}
	}
	if was := made == demo.ModelID; made == "" || was == s.isDemo(u.Model) {
		return change{}
	} else if was {
		made = "the demo model"
	}
	return change{what: "started with the model " + u.Model + " when that was " + made, until: describe([]description{now})}
}

func (s *setup) modelNamed(name string) (description, bool) {
	for _, m := range s.models {
		if m.name == name {
			return m, true
		}
	}
	return description{}, false
}

// isDemo reports whether the model of the name is no language model.
func (s *setup) isDemo(name string) bool {
	_, ok := s.engine.Models[name].(*demo.Model)
	return ok
}

// resumedText is what the banner says of such runs, and what can be done about it.
func resumedText(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "\nIn this database is work that does not go on as it began:\n\n  " + strings.Join(lines, "\n  ") + `

To leave it as it is, end this process and start one with another --data. "spool admin runs" lists
runs, "spool admin stop RUN" ends one, and "spool check" says what is here before a start.
`
}

package main

import (
	"cmp"
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
		k := s.changed(u.Agent, madeOn(all, u))
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

// made is what the model of a run was: its name in the configuration, the provider's name of the one
// that answered, and of the one that was asked. The provider's are empty where they are not known.
type made struct{ name, on, requested string }

// madeOn returns what the model of a run was. Where no model was asked for it yet, other runs with a
// model of the same name say so.
func madeOn(all []sqlite.Unfinished, u sqlite.Unfinished) made {
	known := func(other sqlite.Unfinished) bool {
		return other.Model == u.Model && cmp.Or(other.MadeOn, other.Requested) != ""
	}
	if at := slices.IndexFunc(all, known); at >= 0 && !known(u) {
		u = all[at]
	}
	return made{u.Model, u.MadeOn, u.Requested}
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

// changed says what differs for a run of an agent from when it began, with a model that was what
// was says.
func (s *setup) changed(agent string, was made) change {
	at := slices.IndexFunc(s.engine.Agents, func(a engine.Agent) bool { return a.Name == agent })
	if agent == "" {
		at = 0
	}
	if at < 0 {
		return change{what: "of the agent " + agent + ", which is not configured", waits: true, until: "it is"}
	}
	now, ok := s.modelNamed(was.name)
	if !ok {
		now, _ = s.modelNamed(s.engine.Agents[at].Model)
		return change{what: "started with the model " + was.name + ", which is not configured", until: describe([]description{now})}
	}
	before := s.before(was)
	if before == "" {
		return change{}
	}
	return change{what: "started with the model " + was.name + " when that was " + before, until: describe([]description{now})}
}

// before returns what a configured model was when it was another one. Empty: it is the same, or
// nobody knows. What answers may have another name than what is asked, and a new one each week, so
// that only what was asked is compared.
func (s *setup) before(was made) string {
	name := cmp.Or(was.on, was.requested)
	wasDemo := name == demo.ModelID
	switch {
	case name == "":
		return ""
	case wasDemo != s.isDemo(was.name):
		if wasDemo {
			return "the demo model"
		}
		return cmp.Or(was.requested, was.on)
	case wasDemo || was.requested == "":
		return ""
	}
	if says, ok := s.engine.Models[was.name].(spool.Described); ok {
		if _, asks := says.Describe(); asks != "" && asks != was.requested {
			return was.requested
		}
	}
	return ""
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

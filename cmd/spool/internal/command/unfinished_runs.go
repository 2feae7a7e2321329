package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/wire"
)

// changedRuns describes the unfinished runs in a database that do not continue as they began, with one line
// for each kind of change. It returns nothing if all runs continue with their model.
func (s *setup) changedRuns(all []sqlite.Unfinished) []string {
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

// modelNames identifies the model of a run: its name in the configuration, and the provider's names of the
// model that answered and of the model that was requested. The provider's names are empty if unknown.
type modelNames struct{ name, on, requested string }

// madeOn returns the model of a run. If the run has not called its model yet, another run with a model
// of the same name decides.
func madeOn(all []sqlite.Unfinished, u sqlite.Unfinished) modelNames {
	known := func(other sqlite.Unfinished) bool {
		return other.Model == u.Model && cmp.Or(other.MadeOn, other.Requested) != ""
	}
	if at := slices.IndexFunc(all, known); at >= 0 && !known(u) {
		u = all[at]
	}
	return modelNames{u.Model, u.MadeOn, u.Requested}
}

// change describes runs that do not continue as they began.
type change struct {
	what string
	// waits is true if the runs wait for what until names. Otherwise they continue with what.
	waits bool
	until string

	runs   int64
	states []stateCount
}

type stateCount struct {
	word string
	runs int64
}

// stateText says in what state a run was left, and what it waits for.
func stateText(u sqlite.Unfinished) string {
	switch {
	case u.State == wire.Queued:
		return "queued"
	case u.State == wire.Running:
		return "under way"
	case u.Asks:
		return "waiting for an answer"
	case u.Pending > 1:
		return fmt.Sprintf("waiting for %s's work and %d more", u.Work, u.Pending-1)
	case u.Pending > 0:
		return "waiting for " + u.Work + "'s work"
	default:
		return "waiting for a worker" // all its questions are answered
	}
}

func (c *change) same(other change) bool {
	return c.what == other.what && c.waits == other.waits && c.until == other.until
}

func (c *change) count(u sqlite.Unfinished) {
	word := stateText(u)
	at := slices.IndexFunc(c.states, func(s stateCount) bool { return s.word == word })
	if at < 0 {
		at, c.states = len(c.states), append(c.states, stateCount{word: word})
	}
	c.states[at].runs += u.Runs
	c.runs += u.Runs
}

// String returns a line for a person.
func (c *change) String() string {
	verb, plural := "continues with ", ""
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
		verb = strings.Replace(strings.Replace(verb, "continues", "continue", 1), "waits", "wait", 1)
	}
	return fmt.Sprintf("%d run%s (%s) %s, %s%s", c.runs, plural, strings.Join(states, ", "), c.what, verb, c.until)
}

// changed returns how a run of an agent continues differently from how it began with the model was.
func (s *setup) changed(agent string, was modelNames) change {
	at := slices.IndexFunc(s.engine.Agents, func(a spool.Agent) bool { return a.Name == agent })
	if agent == "" {
		at = 0
	}
	if at < 0 {
		return change{what: "of the agent " + agent + ", which is not configured", waits: true, until: "it is"}
	}
	now, ok := s.modelNamed(was.name)
	if !ok {
		now, _ = s.modelNamed(s.engine.Agents[at].Model)
		return change{
			what: "started with the model " + was.name + ", which is not configured", until: describe([]description{now}),
		}
	}
	before := s.before(was)
	if before == "" {
		return change{}
	}
	return change{
		what: "started with the model " + was.name + " when that was " + before, until: describe([]description{now}),
	}
}

// before returns the model that a configured name stood for, or "" if it is the same model or unknown.
// A provider may answer with another name than the requested one, and with a new name each week, so
// before compares only the requested names.
func (s *setup) before(was modelNames) string {
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
	if asks := spool.InfoOf(s.engine.Models[was.name]).Model; asks != "" && asks != was.requested {
		return was.requested
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

// isDemo reports whether the name stands for the demo model.
func (s *setup) isDemo(name string) bool {
	_, ok := s.engine.Models[name].(*demo.Model)
	return ok
}

// changedRunsText is the part of the banner about such runs.
func changedRunsText(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "\nSome runs in this database do not continue as they began:\n\n  " + strings.Join(lines, "\n  ") + `

To leave them as they are, stop this process and start one with another --data. "spool admin runs"
lists runs, "spool admin stop RUN" stops one, and "spool check" reports this before a start.
`
}

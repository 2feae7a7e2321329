package config

import (
	"slices"

	"github.com/spoolhq/spool"
)

// Agent is an entry of the section agents.
type Agent struct {
	Source

	// Access says who may start runs of the agent.
	Access spool.Access

	Name         string
	Model        string
	Instructions string
	// Fallbacks are the models that a run goes on with, FallbackOn the failures for which it does (nil: all), and
	// FallbackAfter the attempts that a model has (zero: the engine's default).
	Fallbacks     []string
	FallbackOn    []spool.FallbackCause
	FallbackAfter int
	// MaxSteps limits the steps of a run. Zero: the engine's default.
	MaxSteps int
	// NoFinalAnswer ends a run at its last step without an answer.
	NoFinalAnswer bool
	// WhenBusy is what happens to a start on a thread with an active run. Empty: the engine's default.
	WhenBusy spool.WhenBusy
	// Revisions says with which revision of the agent a run continues. Empty: the engine's default.
	Revisions spool.Revisions
	// DistinctApprover forbids the starter of a run to answer for its calls.
	DistinctApprover bool
	Tools            []string
	// MCP are the MCP servers whose tools the agent has.
	MCP []AgentMCP
	// Budget and OnBudget are zero if the file has none.
	Budget   spool.Budget
	OnBudget spool.BudgetAction
	// ProviderOptions are the fields of a request to the provider that a start may set.
	ProviderOptions []string
	// ClientTools and ClientContext limit the client input of a start. Negative: nothing is accepted.
	// Zero: the engine's default.
	ClientTools, ClientContext int
	// Output is the JSON value that the agent answers with. Nil: any text.
	Output *spool.OutputSchema
	// FixedOutput refuses starts that ask for another value.
	FixedOutput bool
	// Subagents are the agents that the agent can delegate to.
	Subagents []Subagent
	// Transfers are the agents that the agent can hand a thread to, by name. Nil: none.
	Transfers map[string]spool.Transfer
}

func agentOptions(a *Agent) table {
	budget := append(boundsOptions(&a.Budget), row("on_exhausted", onExhausted(&a.OnBudget),
		"What happens when the budget is used up: end, or park to ask for more."))
	return table{
		row("model", required(modelName(&a.Model)), "A name of models."),
		row("only_for", onlyFor(&a.Access), "Who may start runs of the agent. Default: everybody."),
		row("instructions", text(&a.Instructions), "The system prompt. Default: none."),
		row("max_steps", integer(&a.MaxSteps), "The most steps of a run. Default: 25."),
		row("final_answer", off(&a.NoFinalAnswer),
			"false: a run ends at its last step without an answer. Default: true."),
		row("tools", of(textList, &a.Tools, toolNames), "Names of tools. Default: none."),
		row("when_busy", oneOf(&a.WhenBusy, string(spool.BusyReject), string(spool.BusyEnqueue), string(spool.BusyLatest),
			string(spool.BusyInterrupt), string(spool.BusyRollback), string(spool.BusySteer)),
			"What happens to a prompt while the thread has a run. Default: reject."),
		row("distinct_approver", distinctApprover(&a.DistinctApprover),
			"true: the starter of a run may not answer for its calls, nor raise its budget. Default: false."),
		row("budget", fields(budget), "What a run of this agent may use. Default: the section budget."),
		row("subagents", entries(subagentOptions(new(Subagent)), func(e entry) {
			a.Subagents = append(a.Subagents, subagent(e))
		}), "Agents to delegate to, by name. Default: none."),
		row("provider_options", words(&a.ProviderOptions).then(a.checkProviderOptions),
			"Fields of a request to the model's server that a start may set, such as reasoning_effort. Default: "+
				"none."),
		row("client_tools", most(&a.ClientTools),
			"The most tools that a client may bring with a start. 0: none. Default: 32."),
		row("client_context", most(&a.ClientContext),
			"The most bytes of context that a client may bring with a start. 0: none. Default: 65536."),
		row("revisions", oneOf(&a.Revisions, string(spool.RevisionsFollow), string(spool.RevisionsPin)),
			"With which agent a run continues: follow, the one of today, or pin, the one that it began with. "+
				"Default: follow."),
		row("mcp", agentMCP(&a.MCP, "The server's names of the tools that the agent gets. Default: all."),
			"MCP servers whose tools the agent has, by their names in mcp. Default: none."),
		row("output", output(&a.Output), "The JSON value that a run answers with. Default: any text."),
		row("fixed_output", boolean(&a.FixedOutput), "true: a start may not ask for another value. Default: false."),
		row("fallbacks", fallbacks(&a.Fallbacks, &a.Model),
			"Names of models that a run goes on with when its model fails, in order. Default: none."),
		row("fallback_on", fallbackOn(&a.FallbackOn),
			"The failures that move a run on: down, rate_limit, refused. Default: all."),
		row("fallback_after", integer(&a.FallbackAfter),
			"How many attempts a model has before the run moves on. Default: 1."),
		row("transfers", transfers(&a.Transfers, a.Name), "Agents that take a thread over, by name. Default: none."),
	}
}

// agent reads an entry of the section agents.
func agent(e entry) Agent {
	a := Agent{Source: e.source(), Name: e.name}
	e.id()
	e.read(agentOptions(&a))
	uniqueSearch(e.at("tools"), a.Tools, a.MCP)
	if len(a.Transfers) > 0 && slices.Contains(a.Tools, spool.TransferTool) {
		e.at("tools").problemf("has a tool of the name %q, which transfers bring", spool.TransferTool)
	}
	return a
}

func (a *Agent) checkProviderOptions(v value) {
	items := v.items()
	for i, name := range a.ProviderOptions {
		if slices.Contains(ownFields, name) {
			items[i].problemf("is a field that the engine sets")
		}
	}
}

// Subagent is an entry of an agent's subagents.
type Subagent struct {
	Source

	Name         string
	Description  string
	Instructions string
	// Model is empty for the model of the spawning run.
	Model string
	// Fallbacks are the models that a run goes on with. Empty without a Model: those of the agent.
	Fallbacks []string
	Tools     []string
	// MCP are the MCP servers whose tools the subagent has.
	MCP []AgentMCP
	// MaxSteps limits the steps of a run. Zero: the engine's default.
	MaxSteps int
	// Spawns lets the subagent delegate too.
	Spawns bool
	// Output is the JSON value that the subagent answers with. Nil: any text.
	Output *spool.OutputSchema
}

func subagentOptions(s *Subagent) table {
	return table{
		row("description", text(&s.Description), "What the model reads of it."),
		row("instructions", text(&s.Instructions), "The system prompt. Default: none."),
		row("model", modelName(&s.Model), "A name of models. Default: the model of the delegating run."),
		row("fallbacks", fallbacks(&s.Fallbacks, &s.Model),
			"Names of models that it goes on with. Default: those of the agent, if it has no model of its own."),
		row("max_steps", integer(&s.MaxSteps), "The most steps of a run."),
		row("tools", of(textList, &s.Tools, toolNames), "Names of tools. Default: none."),
		row("mcp", agentMCP(&s.MCP, "The server's names of the tools that it gets. Default: all."),
			"MCP servers whose tools it has, by their names in mcp. Default: none."),
		row("spawns", boolean(&s.Spawns), "true: it may delegate too. Default: false."),
		row("output", output(&s.Output), "The JSON value that it answers with. Default: any text."),
	}
}

// subagent reads an entry of an agent's subagents.
func subagent(e entry) Subagent {
	s := Subagent{Source: e.source(), Name: e.name}
	if !toolName.MatchString(e.name) {
		e.problemf("the name of a subagent may only have up to 64 letters, digits and the characters _ -")
	}
	e.read(subagentOptions(&s))
	uniqueSearch(e.at("tools"), s.Tools, s.MCP)
	return s
}

// uniqueSearch refuses a tool of an agent that has the name of one of those that find its other tools.
func uniqueSearch(list value, names []string, servers []AgentMCP) {
	c := list.d.config
	searches := slices.ContainsFunc(c.Tools, func(t Tool) bool {
		return t.Search && slices.ContainsFunc(names, func(name string) bool { return t.Name == name || t.supplies(name) })
	}) || slices.ContainsFunc(c.MCP, func(s MCP) bool {
		return s.Search && slices.ContainsFunc(servers, func(a AgentMCP) bool { return a.Server == s.Name })
	})
	for _, name := range []string{spool.SearchTool, spool.DescribeTool} {
		if searches && slices.Contains(names, name) {
			list.problemf("has a tool of the name %q, which search: true brings", name)
		}
	}
}

// modelName is the name of one of the models.
func modelName(to *string) kind { return of(shape{kind: kindText}, to, value.modelName) }

func (v value) modelName() string {
	name := v.word()
	if name != "" && !v.d.hasModel(name) {
		v.problemf("there is no model %q", name)
	}
	return name
}

// hasModel reports whether a model has the name.
func (d *decoder) hasModel(name string) bool {
	return slices.ContainsFunc(d.config.Models, func(m Model) bool { return m.Name == name })
}

// fallbacks are the models that a run goes on with. Own is the model of the agent, or "".
func fallbacks(to *[]string, own *string) kind {
	return of(textList, to, func(list value) (names []string) {
		for _, v := range list.items() {
			name := v.modelName()
			switch {
			case name == "":
				continue
			case name == *own:
				v.problemf("the model %q is the agent's own", name)
			case slices.Contains(names, name):
				v.problemf("the model %q is there twice", name)
			}
			names = append(names, name)
		}
		return names
	})
}

// fallbackOn are the failures that move a run on to another model.
func fallbackOn(to *[]spool.FallbackCause) kind {
	var known []string
	for _, cause := range spool.FallbackCauses() {
		known = append(known, string(cause))
	}
	each := shape{kind: kindText, words: known}
	return listOf(to, each, func(v value) spool.FallbackCause {
		word := v.word()
		v.among(word, known...)
		return spool.FallbackCause(word)
	}).then(func(v value) {
		if len(*to) == 0 && !v.complained() {
			v.problemf("is empty: leave it out for all failures")
		}
	})
}

// toolNames returns a list of names of the tools.
func toolNames(list value) (names []string) {
	for _, v := range list.items() {
		name := v.text()
		switch {
		case name == "":
			continue
		case slices.Contains(names, name):
			v.problemf("the tool %q is there twice", name)
		case !slices.ContainsFunc(v.d.config.Tools, func(t Tool) bool { return t.Name == name || t.supplies(name) }):
			v.problemf("there is no tool %q", name)
		}
		names = append(names, name)
	}
	return names
}

// distinctApprover is a rule that needs tokens: without known subjects nobody could answer.
func distinctApprover(to *bool) kind {
	return boolean(to).then(func(v value) {
		if *to && v.d.anonymous {
			v.problemf("needs auth.tokens, as nobody could answer whose subject is not known")
		}
	})
}

// output is the JSON value that an agent answers with.
func output(to **spool.OutputSchema) kind {
	var within map[string]Source
	return optional(to, func(s *spool.OutputSchema) table {
		return table{
			row("name", required(word(&s.Name).then(func(v value) {
				if !toolName.MatchString(s.Name) {
					v.problemf("may only have up to 64 letters, digits and the characters _ -")
				}
			})), "The name of the value, which the model may see."),
			row("description", text(&s.Description), "What the value is for. Default: nothing is said."),
			row("schema", required(object(&s.Schema, &within)), "The JSON Schema of the value, an object."),
		}
	})
}

// transfers are the agents that the agent with the name own can hand a thread to.
func transfers(to *map[string]spool.Transfer, own string) kind {
	return entries(transferOptions(new(spool.Transfer)), func(e entry) {
		switch {
		case e.name == own:
			e.problemf("is the agent itself")
		case !slices.Contains(e.d.root.at("agents").names(), e.name):
			e.problemf("there is no agent %q", e.name)
		}
		var t spool.Transfer
		e.read(transferOptions(&t))
		put(to, e.name, t)
	})
}

func transferOptions(t *spool.Transfer) table {
	return table{
		row("description", text(&t.Description), "What the model reads of the agent."),
		row("history", oneOf(&t.History, string(spool.TransferAll), string(spool.TransferBrief)),
			"What that agent sees of the thread: all, or brief, the user's turn and what the model says. Default: "+
				"all."),
	}
}

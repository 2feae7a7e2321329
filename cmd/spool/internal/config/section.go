package config

import (
	"slices"

	"github.com/spoolhq/spool"
)

func (d *decoder) config(root value) *Config {
	f := root.fields("models", "agents", "tools", "mcp", "auth", "server", "egress", "cors", "queue", "limits", "context", "budget", "prices", "artifacts", "sign_in")
	c := &Config{Queue: queue(f["queue"]), Limits: limits(f["limits"]), Artifacts: artifacts(f["artifacts"]), SignIn: signIn(f["sign_in"])}
	d.anonymous = !f["auth"].present()
	c.Prices = prices(f["prices"])
	c.Budget = budgets(f["budget"], c)
	for _, e := range f["models"].entries() {
		c.Models = append(c.Models, model(e))
	}
	for _, e := range f["tools"].entries() {
		c.Tools = append(c.Tools, tool(e))
	}
	for _, e := range f["mcp"].entries() {
		c.MCP = append(c.MCP, mcpServer(e))
	}
	for _, s := range c.MCP {
		if s.SignsIn() && len(c.SignIn.Keys) == 0 {
			d.problems = append(d.problems, s.Auth.Errorf("needs sign_in.keys, which encrypt the tokens of people"))
		}
	}
	agents := f["agents"].entries()
	for _, e := range agents {
		c.Agents = append(c.Agents, agent(e, c, agents))
	}
	// A file may have neither: the demo, with limits or tokens.
	switch {
	case len(c.Agents) == 0 && (len(c.Models) > 0 || len(c.Tools) > 0 || len(c.MCP) > 0):
		f["agents"].problemf("is required: an agent says which model is used")
	case len(c.Models) == 0 && len(c.Agents) > 0:
		f["models"].problemf("is required: the agents have no model to use")
	}
	c.auth(f["auth"])
	at := f["server"].fields("base_path", "public_url", "provider_options")
	c.BasePath = basePath(at["base_path"])
	c.PublicURL = publicURL(at["public_url"], c.BasePath)
	options := at["provider_options"].optionalWord()
	at["provider_options"].among(options, "ignore", "strict")
	c.StrictOptions = options == "strict"
	c.Context = contextOf(f["context"], c)
	for _, v := range f["egress"].fields("allow")["allow"].items() {
		c.Egress = append(c.Egress, v.egress())
	}
	c.CORS = cors(f["cors"])
	return c
}

// whenBusy are the words of agents.<name>.when_busy.
var whenBusy = []string{
	string(spool.BusyReject), string(spool.BusyEnqueue), string(spool.BusyLatest), string(spool.BusyInterrupt), string(spool.BusyRollback),
	string(spool.BusySteer),
}

func agent(e entry, c *Config, agents []entry) Agent {
	f := e.fields("model", "only_for", "instructions", "max_steps", "final_answer", "tools", "when_busy", "distinct_approver", "budget", "subagents", "provider_options",
		"client_tools", "client_context", "revisions", "mcp", "output", "fixed_output", "fallbacks", "fallback_on", "fallback_after", "transfers")
	e.id()
	a := Agent{
		Source: e.source(), Name: e.name, Access: onlyFor(f["only_for"]),
		Instructions: f["instructions"].text(),
		MaxSteps:     f["max_steps"].integer(),
		WhenBusy:     spool.WhenBusy(f["when_busy"].text()),
		Revisions:    spool.Revisions(f["revisions"].text()),

		DistinctApprover: distinctApprover(f["distinct_approver"]),
	}
	f["when_busy"].among(string(a.WhenBusy), whenBusy...)
	f["revisions"].among(string(a.Revisions), string(spool.RevisionsFollow), string(spool.RevisionsPin))
	budget := f["budget"].fields(append(slices.Clone(bounds), "on_exhausted")...)
	a.Budget, a.OnBudget = boundsOf(budget, c), onExhausted(budget["on_exhausted"])
	if f["model"].required() {
		a.Model = modelName(f["model"], c)
	}
	a.Fallbacks = fallbacks(f["fallbacks"], a.Model, c)
	a.FallbackOn, a.FallbackAfter = fallbackOn(f["fallback_on"]), f["fallback_after"].atLeast(1)
	a.Tools, a.MCP = toolNames(f["tools"], c), agentMCP(f["mcp"], c)
	uniqueSearch(f["tools"], a.Tools, a.MCP, c)
	a.ProviderOptions = f["provider_options"].optionalWords()
	for i, name := range a.ProviderOptions {
		if item := f["provider_options"].items()[i]; slices.Contains(ownFields, name) {
			item.problemf("is a field that the engine sets")
		}
	}
	a.Output, a.FixedOutput = output(f["output"]), f["fixed_output"].boolean()
	if wanted := f["final_answer"].optionalBoolean(); wanted != nil {
		a.NoFinalAnswer = !*wanted
	}
	a.ClientTools, a.ClientContext = most(f["client_tools"]), most(f["client_context"])
	for _, e := range f["subagents"].entries() {
		a.Subagents = append(a.Subagents, subagent(e, c))
	}
	if a.Transfers = transfers(f["transfers"], a.Name, agents); len(a.Transfers) > 0 && slices.Contains(a.Tools, spool.TransferTool) {
		f["tools"].problemf("has a tool of the name %q, which transfers bring", spool.TransferTool)
	}
	return a
}

// most reads a limit for which 0 means that nothing is allowed. It returns a negative number for 0, and
// zero if the file has no limit.
func most(v value) int {
	n := v.atLeast(0)
	if v.present() && n == 0 {
		return -1
	}
	return n
}

// subagent reads an entry of an agent's subagents.
func subagent(e entry, c *Config) Subagent {
	f := e.fields("description", "instructions", "model", "fallbacks", "max_steps", "tools", "mcp", "spawns", "output")
	if !toolName.MatchString(e.name) {
		e.problemf("the name of a subagent may only have up to 64 letters, digits and the characters _ -")
	}
	s := Subagent{
		Source: e.source(), Name: e.name,
		Description:  f["description"].text(),
		Instructions: f["instructions"].text(),
		Tools:        toolNames(f["tools"], c),
		MCP:          agentMCP(f["mcp"], c),
		MaxSteps:     f["max_steps"].integer(),
		Spawns:       f["spawns"].boolean(),
		Output:       output(f["output"]),
	}
	if f["model"].present() {
		s.Model = modelName(f["model"], c)
	}
	s.Fallbacks = fallbacks(f["fallbacks"], s.Model, c)
	uniqueSearch(f["tools"], s.Tools, s.MCP, c)
	return s
}

// uniqueSearch refuses a tool of an agent that has the name of one of those that find its other tools.
func uniqueSearch(list value, names []string, servers []AgentMCP, c *Config) {
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

// modelName reads the name of one of the models.
func modelName(v value, c *Config) string {
	name := v.word()
	if name != "" && !slices.ContainsFunc(c.Models, func(m Model) bool { return m.Name == name }) {
		v.problemf("there is no model %q", name)
	}
	return name
}

// toolNames reads a list of names of the tools.
func toolNames(list value, c *Config) (names []string) {
	for _, v := range list.items() {
		name := v.text()
		switch {
		case name == "":
			continue
		case slices.Contains(names, name):
			v.problemf("the tool %q is there twice", name)
		case !slices.ContainsFunc(c.Tools, func(t Tool) bool { return t.Name == name || t.supplies(name) }):
			v.problemf("there is no tool %q", name)
		}
		names = append(names, name)
	}
	return names
}

// distinctApprover reads a rule that needs tokens: without known subjects nobody could answer.
func distinctApprover(v value) bool {
	on := v.boolean()
	if on && v.d.anonymous {
		v.problemf("needs auth.tokens, as nobody could answer whose subject is not known")
	}
	return on
}

// expiry returns how the parks of a tool expire.
func expiry(v value) spool.Expiry {
	f := v.fields("then", "ttl", "warn", "extensions")
	x := spool.Expiry{
		Then: spool.ExpiryAction(f["then"].text()), TTL: f["ttl"].duration(),
		Warn: f["warn"].duration(), Extensions: f["extensions"].integer(),
	}
	f["then"].among(string(x.Then), string(spool.ExpireDeny), string(spool.ExpireFail), string(spool.ExpireExtend))
	if f["extensions"].present() && x.Then != spool.ExpireExtend {
		f["extensions"].problemf("is only for then: extend")
	}
	return x
}

func limits(v value) Limits {
	f := v.fields(append([]string{
		"max_prompt_bytes", "max_answer_bytes", "max_step_bytes", "max_file_bytes", "max_thread_file_bytes", "max_thread_files", "max_waiting", "max_queue_depth", "open_streams", "max_wait", "disconnect_grace",
		"starts_per_minute", "events_per_minute", "failed_logins", "run_max_attempts", "stop_poll", "hitl_ttl", "client_tool_ttl", "stream_grace", "stream_flush",
		"lease", "retention", "audit_retention", "retry_backoff", "retry_after_max",
	}, slices.Concat(sharesFields, memoryFields)...)...)
	if answer, step := f["max_answer_bytes"].integer(), f["max_step_bytes"].integer(); step > 0 && step < answer {
		f["max_step_bytes"].problemf("is less than max_answer_bytes")
	}
	return Limits{
		Shares:             shares(f),
		Memory:             memory(f),
		MaxPromptBytes:     f["max_prompt_bytes"].integer(),
		MaxAnswerBytes:     f["max_answer_bytes"].integer(),
		MaxStepBytes:       f["max_step_bytes"].integer(),
		MaxFileBytes:       fileBytes(f["max_file_bytes"]),
		MaxThreadFileBytes: f["max_thread_file_bytes"].integer(),
		MaxThreadFiles:     f["max_thread_files"].integer(),
		MaxWaiting:         f["max_waiting"].integer(),
		MaxQueueDepth:      f["max_queue_depth"].integer(),
		OpenStreams:        f["open_streams"].integer(),
		MaxWait:            f["max_wait"].duration(),
		DisconnectGrace:    durationOrNone(f["disconnect_grace"], "to let runs go on", "10s"),
		StartsPerMinute:    f["starts_per_minute"].integer(),
		EventsPerMinute:    f["events_per_minute"].integer(),
		FailedLogins:       f["failed_logins"].integer(),
		RunMaxAttempts:     f["run_max_attempts"].integer(),
		StopPoll:           f["stop_poll"].duration(),
		HITLTTL:            f["hitl_ttl"].duration(),
		ClientToolTTL:      f["client_tool_ttl"].duration(),
		StreamGrace:        f["stream_grace"].duration(),
		StreamFlush:        f["stream_flush"].duration(),
		Lease:              f["lease"].duration(),
		Retention:          f["retention"].duration(),
		AuditRetention:     durationOrNone(f["audit_retention"], "for ever", "9600h"),
		RetryBackoff:       f["retry_backoff"].duration(),
		RetryAfterMax:      f["retry_after_max"].duration(),
	}
}

// fileBytes returns the size of the largest file without a configured store, or -1 for none.
func fileBytes(v value) int {
	if n := v.atLeast(0); n > 0 || !v.present() {
		return n
	}
	return -1
}

func contextOf(v value, c *Config) Context {
	f := v.fields("ceiling", "output_reserve", "compaction_model")
	out := Context{
		Ceiling: f["ceiling"].integer(), OutputReserve: f["output_reserve"].integer(), CompactionModel: f["compaction_model"].text(),
	}
	if out.CompactionModel != "" && !slices.ContainsFunc(c.Models, func(m Model) bool { return m.Name == out.CompactionModel }) {
		f["compaction_model"].problemf("there is no model %q", out.CompactionModel)
	}
	return out
}

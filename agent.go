package spool

// Agent says how runs of that name are carried out.
type Agent struct {
	// Name is what starts and jobs call it.
	Name string
	// Model is the name of the model that is used when a start asks for none.
	Model string
	// Access says who may start runs of the agent. For anybody else there is no agent of that
	// name. Defaults to everybody.
	Access Access
	// Instructions is the system prompt. Empty: none.
	Instructions string
	// Tools are what the model may call.
	Tools []Tool
	// Spawn lets the model hand parts of its work to nested runs. Nil: it may not.
	Spawn *Spawn
	// MaxSteps bounds the steps of a run. Defaults to 25.
	MaxSteps int
	// MaxOutputTokens bounds each answer of the model. Zero: the provider's default.
	MaxOutputTokens int
	// DistinctApprover says that a call which waits for an approval, or for a word on its
	// unknown outcome, is answered by somebody else than who started the run, as is a run that
	// waits for a larger budget: see
	// [Run.DistinctFrom]. It holds for the runs that the agent spawns, too, and a tool may
	// ask for the same by itself. Defaults to anybody who may answer.
	DistinctApprover bool
	// Extra is merged into each request to the provider.
	Extra map[string]any
	// ProviderOptions names the fields of a request to the provider that a start may set, such
	// as "reasoning_effort". A name that only the engine sets is refused, such as "messages" or
	// "max_tokens". Defaults to none.
	ProviderOptions []string
	// ClientTools is how many tools of its own the client of a start may bring: see
	// [ClientTool]. Defaults to 32; negative: none, and what is brought is left out.
	ClientTools int
	// ClientContext bounds what the client of a start says of itself, in bytes: see
	// [ClientContext]. Defaults to 64 KiB; negative: none, and what it says is left out.
	ClientContext int
	// Budget bounds each run of the agent, with all runs under it, where its start does not.
	// A field that is zero is that of the configuration.
	Budget Budget
	// OnBudget is what becomes of a run whose budget is used up. Defaults to that of the
	// configuration.
	OnBudget BudgetAction
	// WhenBusy is what starts with this agent do on a thread that has an active run, where
	// they do not say. Defaults to the configuration's.
	WhenBusy WhenBusy
}

// Spawn lets an agent hand parts of its work to nested runs: it gets the tool [SpawnTool],
// whose call runs another agent on a brief and returns what that one answered. A nested run
// has a record, messages and a bill of its own, and may wait for a person at any depth. The
// result of the call is {"agentId", "result"}, or {"agentId", "error"} where the nested run
// failed, which does not fail the one above.
type Spawn struct {
	// Profiles are the agents that can be asked, by the names under which the model asks for
	// them: letters, digits, hyphens and underscores, up to 64.
	Profiles map[string]Profile
	// Open lets the model make up an agent: for a name without a profile, a nested run with
	// the tools of the agent that asks. Required where there are no profiles.
	Open bool
	// MaxDepth is how deep runs may be nested. Defaults to 2.
	MaxDepth int
	// MaxConcurrent is how many nested runs of one dispatched run are at work at each depth
	// at once. Others wait for their turn. Defaults to 3.
	MaxConcurrent int
	// MaxSteps bounds the steps of a nested run whose profile does not, up to what its
	// agent's own may have. Defaults to 10.
	MaxSteps int
	// ResultCap is how many characters of its answer a nested run gives to the one above.
	// Defaults to 8,000.
	ResultCap int
}

// Profile is an agent that others can spawn. Its fields mean what those of [Agent] do. An
// [Agent.DistinctApprover] holds for its profiles too.
type Profile struct {
	// Description tells the model that spawns what the agent is good for.
	Description string
	// Instructions is the system prompt. Empty: none.
	Instructions string
	// Model is the name of the model. Defaults to that of the run which spawns it.
	Model string
	// Tools are what the model may call. They may ask for approvals.
	Tools []Tool
	// MaxSteps bounds the steps. Defaults to those of the [Spawn].
	MaxSteps int
	// MaxOutputTokens bounds each answer of the model. Zero: the provider's default.
	MaxOutputTokens int
	// Extra is merged into each request to the provider.
	Extra map[string]any
	// Spawns gives the agent the profiles of the one that spawned it, down to
	// [Spawn.MaxDepth].
	Spawns bool
}

package spool

import (
	"context"
	"encoding/json"
)

// Agent is a named configuration of runs: model, instructions, tools and bounds.
type Agent struct {
	// Name is the name by which starts and jobs refer to the agent.
	Name string
	// Model is the name of the model that is used when a start asks for none.
	Model string
	// Fallbacks are the names of the models that a run goes on with when its model fails, in order. A run that
	// began with one of them goes on with those behind it. The run stays with the model that answers, and the
	// next run begins with its own model again. If all have failed, the run fails or is retried later, as a run
	// with one model. Defaults to none.
	Fallbacks []string
	// FallbackOn are the failures that move a run on. Defaults to all of [FallbackCauses].
	FallbackOn []FallbackCause
	// FallbackAfter is how many attempts a model has before the run moves on. It does not apply to a model that
	// refuses. An answer in the background that can be asked for again has at least two. Defaults to 1.
	FallbackAfter int
	// Access limits which callers may start runs of the agent. For other callers, the agent does not exist.
	// Defaults to every caller.
	Access Access
	// Instructions is the system prompt. Empty: none.
	Instructions string
	// Tools are the tools that the model may call.
	Tools []Tool
	// ToolSources supply further tools, which may change between runs. Defaults to none.
	ToolSources []ToolSource
	// RepairArguments returns other arguments for a call whose own ones its tool does not take, or nil. The engine has
	// found no reading of them by itself, and uses what it gets only if the tool takes it: see [Part.SentArgs]. The
	// call has no ID, and Args as the model wrote them. Problem is what the model reads otherwise. The answer waits for
	// the function, which is safe for concurrent use. The runs that the agent spawns have it too. Nil: there are none.
	RepairArguments func(ctx context.Context, call ToolCall, problem error) (json.RawMessage, error)
	// Spawn lets the model hand parts of its work to nested runs. Nil: it may not.
	Spawn *Spawn
	// Transfers are the agents that a run can hand its thread to, by name. The agent then has the tool
	// [TransferTool]. After a call of it, the same run goes on with the other agent: its instructions, model, tools
	// and bounds. Starts on the thread that name no agent get that agent too. What the start of the run asked for
	// stays, except for its model. A nested run hands nothing over. Defaults to none.
	Transfers map[string]Transfer
	// MaxSteps bounds the steps of a run. Defaults to 25.
	MaxSteps int
	// NoFinalAnswer ends a run that has had all its steps at once. Otherwise its model is asked once more, for an
	// answer without calls, which is no step. Either way the stop reason is [wire.StopMaxSteps]. It also applies to the
	// runs that the agent spawns. Defaults to false.
	NoFinalAnswer bool
	// MaxOutputTokens bounds each answer of the model. Zero: the provider's default.
	MaxOutputTokens int
	// DistinctApprover forbids the subject that started a run to answer its questions: approvals, unknown
	// outcomes and requests for a larger budget. See [wire.Run.DistinctFrom]. It also applies to the runs that the
	// agent spawns. A tool may require the same by itself. Defaults to false.
	DistinctApprover bool
	// Extra is merged into each request to the provider.
	Extra map[string]any
	// ProviderOptions names the fields of a request to the provider that a start may set, such as
	// "reasoning_effort". Names that only the engine may set, such as "messages" or "max_tokens", are
	// refused. Defaults to none.
	ProviderOptions []string
	// ClientTools is how many tools of its own the client of a start may send: see [wire.ClientTool]. Defaults to
	// 32. Negative: the client's tools are ignored.
	ClientTools int
	// ClientContext bounds the context that the client of a start sends, in bytes: see [wire.ClientContext].
	// Defaults to 64 KiB. Negative: the context is ignored.
	ClientContext int
	// Output asks for a JSON value as the final answer of each run. The engine checks the value, and asks the
	// model once more if it does not fit. A run whose second answer does not fit either fails with
	// [wire.StopOutput]. The value is in [wire.RunOutcome.Output]. Nil: the answer is any text.
	Output *OutputSchema
	// FixedOutput refuses starts that bring an [OutputSchema] of their own. Defaults to false: the schema of a
	// start replaces Output.
	FixedOutput bool
	// Budget bounds each run of the agent together with its nested runs, unless the start sets a bound. A
	// zero field is taken from the configuration.
	Budget Budget
	// OnBudget is what happens to a run whose budget is used up. Defaults to the configuration's.
	OnBudget BudgetAction
	// Queue is the named queue that the jobs of the agent's runs go to. Workers claim from the queues of
	// [engine.WorkOptions.Queues]. The name may not begin with "spool.". Defaults to the default queue.
	Queue string
	// Revisions says with which revision of the agent a run continues after a wait, a crash or a deployment.
	// Defaults to [RevisionsFollow].
	Revisions Revisions
	// WhenBusy is what a start of this agent does on a thread with an active run, if the start does not say
	// it. Defaults to the configuration's.
	WhenBusy WhenBusy
}

// Spawn lets an agent give parts of its work to nested runs. The agent gets the tool [SpawnTool]. A call of
// it runs another agent on a prompt, and returns that agent's answer. A nested run has its own id, messages
// and usage, and may wait for a person at any depth. The result of the call is {"agentId", "result"}, or
// {"agentId", "error"} if the nested run failed, which does not fail its parent.
type Spawn struct {
	// Profiles are the agents that the model can call, by name. A name has up to 64 letters, digits, hyphens
	// and underscores.
	Profiles map[string]Profile
	// Open lets the model invent an agent: a name without a profile starts a nested run with the tools of the
	// calling agent. Required if there are no profiles.
	Open bool
	// MaxDepth is how deep runs may be nested. Defaults to 2.
	MaxDepth int
	// MaxConcurrent bounds how many nested runs of one dispatched run work at once, at each
	// depth. The others wait. Defaults to 3.
	MaxConcurrent int
	// MaxSteps bounds the steps of a nested run whose profile sets no bound, up to the bound of
	// its agent. Defaults to 10.
	MaxSteps int
	// ResultCap bounds the answer that a nested run returns to its parent, in characters.
	// Defaults to 8,000.
	ResultCap int
}

// Profile is an agent that others can spawn. Its fields mean what those of [Agent] do. An
// [Agent.DistinctApprover] holds for its profiles too.
type Profile struct {
	// Description tells the spawning model what the agent is good for.
	Description string
	// Instructions is the system prompt. Empty: none.
	Instructions string
	// Model is the name of the model. Defaults to the parent run's.
	Model string
	// Fallbacks are as [Agent.Fallbacks]. Defaults to the agent's in a profile without a Model, and else to none.
	Fallbacks []string
	// Tools are the tools that the model may call. They may ask for approvals.
	Tools []Tool
	// ToolSources supply further tools. Defaults to none.
	ToolSources []ToolSource
	// MaxSteps bounds the steps. Defaults to those of the [Spawn].
	MaxSteps int
	// MaxOutputTokens bounds each answer of the model. Zero: the provider's default.
	MaxOutputTokens int
	// Extra is merged into each request to the provider.
	Extra map[string]any
	// Output asks for a JSON value as the answer. The spawning model gets the value as it is, or the error
	// of an answer that does not fit. Values above [Spawn.ResultCap] are cut like other answers. Nil: the
	// answer is any text.
	Output *OutputSchema
	// Spawns gives the agent the profiles of its parent, down to [Spawn.MaxDepth].
	Spawns bool
}

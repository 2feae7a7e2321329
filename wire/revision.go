package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// RevisionID names the content of an agent: "rev_" and a SHA-256 hash in hex. Equal contents have the same id
// in every process.
type RevisionID string

// Revision is an agent as workers have executed runs with it.
type Revision struct {
	ID RevisionID `example:"rev_6f1d0c" json:"id"` // The id: a hash of the agent.
	// FirstUsedAt is when a worker first used it.
	FirstUsedAt time.Time    `json:"firstUsedAt"`
	Agent       AgentContent `json:"agent"` // The agent.
}

// RevisionSummary is a [Revision] in a list.
type RevisionSummary struct {
	ID          RevisionID `example:"rev_6f1d0c" json:"id"` // The id: a hash of the agent.
	Agent       string     `json:"agent"`                   // The name of the agent.
	FirstUsedAt time.Time  `json:"firstUsedAt"`             // When a worker first used it.
	Model       string     `json:"model"`                   // The name of the model.
	Tools       int        `json:"tools"`                   // How many tools the agent has.
	// Mark continues a list after this element: see [RevisionQuery].
	Mark string `json:"-"`
}

// RevisionQuery selects revisions.
type RevisionQuery struct {
	// Agent leaves out other agents. Empty: all.
	Agent string
	// After is the Mark of the last element of the page before. Empty: the first page.
	After string
	// Limit bounds how many are returned. Zero: all.
	Limit int
}

// AgentContent is the part of an [spool.Agent] that decides how its runs behave, without functions and secrets. Its
// JSON is what a [RevisionID] hashes and a store keeps. Fields of a later version must be left out of the JSON
// when they are zero.
type AgentContent struct {
	Name string `json:"name"` // The name.
	// Instructions are the system prompt. Left out: none.
	Instructions string `json:"instructions,omitempty"`
	// Model is the model that is used unless a start asks for another one.
	Model ModelContent `json:"model"`
	// Fallback is what happens when the model fails. Left out: the run has no other model.
	Fallback *FallbackContent `json:"fallback,omitempty" nullable:"false"`
	Tools    []ToolContent    `json:"tools"` // The tools, by name.
	// ToolSources are the sources of further tools, such as MCP servers.
	//
	// Their tools are not part of the content: see [spool.ToolSource].
	ToolSources []string `json:"toolSources,omitempty" nullable:"false"`
	// Spawn is how the agent spawns nested runs. Left out: it does not.
	Spawn *SpawnContent `json:"spawn,omitempty" nullable:"false"`
	// Transfers are the agents that the thread can be handed to, by name. Left out: none.
	Transfers []TransferContent `json:"transfers,omitempty" nullable:"false"`
	MaxSteps  int               `json:"maxSteps"` // The bound of the steps of a run.
	// NoFinalAnswer is whether a run ends at its last step without an answer.
	NoFinalAnswer bool `json:"noFinalAnswer,omitempty"`
	// MaxOutputTokens are the bound of each answer of the model. Left out: the provider's.
	MaxOutputTokens int `json:"maxOutputTokens,omitempty"`
	// Budget is the budget of a run, if the agent has one. Times are in nanoseconds.
	//
	// The agent's own, without that of the configuration.
	Budget spool.Budget `json:"budget,omitzero"`
	// OnBudget is what happens to a run whose budget is used up.
	OnBudget spool.BudgetAction `json:"onBudget,omitempty"`
	// Access is who may start runs. Left out: everybody.
	Access spool.Access `json:"access,omitzero"`
	// DistinctApprover is whether the person who started a run may not answer.
	DistinctApprover bool `json:"distinctApprover,omitempty"`
	// Fields of a request to the provider, as an object. A value that may be a secret is hidden.
	Extra json.RawMessage `json:"extra,omitempty"`
	// ProviderOptions are the fields of a request to the provider that a start may set.
	ProviderOptions []string `json:"providerOptions,omitempty" nullable:"false"`
	// Output is the JSON value that the agent answers with. Left out: any text.
	Output *spool.OutputSchema `json:"output,omitempty" nullable:"false"`
	// FixedOutput is whether starts may not ask for another value.
	FixedOutput bool `json:"fixedOutput,omitempty"`
	// ClientTools is how many tools a client may send. Negative: they are ignored.
	ClientTools int `json:"clientTools,omitempty"`
	// ClientContext is how many bytes of context a client may send. Negative: it is ignored.
	ClientContext int `json:"clientContext,omitempty"`
}

// HiddenValue replaces a value of [AgentContent.Extra] that may be a secret. A change of the value is then no
// new revision.
const HiddenValue = "(hidden)"

// ModelContent is a model in an [AgentContent].
type ModelContent struct {
	// Name is the name in the configuration. Left out: the model of the run that spawns.
	Name string `json:"name,omitempty"`
	// Provider is the provider, if the model names it.
	//
	// Provider and ID are what the model itself says: see [spool.ModelInfo].
	Provider string `example:"openai"    json:"provider,omitempty"`
	ID       string `json:"id,omitempty"` // The provider's name of the model, if the model names it.
}

// FallbackContent is what an agent does when its model fails: see [spool.Agent.Fallbacks].
type FallbackContent struct {
	Models []ModelContent        `json:"models"` // The models that the run goes on with, in order.
	On     []spool.FallbackCause `json:"on"`     // The failures that move a run on.
	After  int                   `json:"after"`  // How many attempts a model has.
}

// TransferContent is a [spool.Transfer] in an [AgentContent].
type TransferContent struct {
	Agent       string                `json:"agent"`                                // The name of the agent.
	Description string                `json:"description,omitempty"`                // What the model reads of it.
	History     spool.TransferHistory `enum:"all,brief"             json:"history"` // What that agent sees of the thread.
}

// ToolContent is a tool in an [AgentContent].
type ToolContent struct {
	Name        string `json:"name"`                  // The name.
	Description string `json:"description,omitempty"` // What the model reads of it.
	// Parameters are the JSON Schema of the arguments. Left out: there are none.
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Which calls wait for a person. Left out: none.
	Approval ApprovalKind `enum:"always,sometimes" json:"approval,omitempty"`
	// Idempotent is whether a call may be repeated after a crash.
	Idempotent bool `json:"idempotent,omitempty"`
	// Polling is whether the same call may have the same result many times.
	Polling bool `json:"polling,omitempty"`
	// Search is whether the model has to find the tool first.
	Search bool `json:"search,omitempty"`
	// Whose runs have the tool. Left out: everybody's.
	Access spool.Access `json:"access,omitzero"`
	// DistinctApprover is whether the person who started a run may not answer for the tool's calls.
	DistinctApprover bool `json:"distinctApprover,omitempty"`
}

// ApprovalKind says which calls of a tool wait for a person. Empty: none.
type ApprovalKind string

// The kinds of approval.
const (
	// ApprovalAlways is a tool with [spool.AlwaysApprove].
	ApprovalAlways ApprovalKind = "always"
	// ApprovalSometimes is a tool with another [spool.Tool.Approval], which decides for each call.
	ApprovalSometimes ApprovalKind = "sometimes"
)

// SpawnContent is a [spool.Spawn] in an [AgentContent].
type SpawnContent struct {
	Profiles      []ProfileContent `json:"profiles"`       // The agents that the model can call, by name.
	Open          bool             `json:"open,omitempty"` // Whether the model may make up agents.
	MaxDepth      int              `json:"maxDepth"`       // How deep runs may be nested.
	MaxConcurrent int              `json:"maxConcurrent"`  // How many nested runs work at once, at each depth.
	// MaxSteps are the bound of the steps of a nested run without a bound of its own.
	MaxSteps  int `json:"maxSteps"`
	ResultCap int `json:"resultCap"` // The bound of a nested run's answer, in characters.
}

// ProfileContent is a [spool.Profile] in an [AgentContent].
type ProfileContent struct {
	Name string `json:"name"` // The name.
	// Description is what the spawning model reads of it.
	Description string `json:"description,omitempty"`
	// Instructions are the system prompt. Left out: none.
	Instructions string        `json:"instructions,omitempty"`
	Model        ModelContent  `json:"model"` // The model.
	Tools        []ToolContent `json:"tools"` // The tools, by name.
	// ToolSources are the sources of further tools.
	ToolSources []string `json:"toolSources,omitempty" nullable:"false"`
	MaxSteps    int      `json:"maxSteps"` // The bound of the steps.
	// MaxOutputTokens are the bound of each answer of the model. Left out: the provider's.
	MaxOutputTokens int `json:"maxOutputTokens,omitempty"`
	// Fields of a request to the provider, as an object. A value that may be a secret is hidden.
	Extra json.RawMessage `json:"extra,omitempty"`
	// Output is the JSON value that it answers with. Left out: any text.
	Output *spool.OutputSchema `json:"output,omitempty" nullable:"false"`
	// Fallbacks are the models that it goes on with when its model fails, in order.
	Fallbacks []ModelContent `json:"fallbacks,omitempty" nullable:"false"`
	// Spawns is whether it may spawn too.
	Spawns bool `json:"spawns,omitempty"`
}

package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// RevisionID names the content of an agent: "rev_" and a SHA-256 hash in hex. Equal contents have the same id
// in every process.
type RevisionID string

// Revision is an agent as workers have executed runs with it.
type Revision struct {
	ID RevisionID `doc:"The id: a hash of the agent." example:"rev_6f1d0c" json:"id"`
	// FirstUsedAt is when a worker first executed a segment with it.
	FirstUsedAt time.Time    `doc:"When a worker first used it." json:"firstUsedAt"`
	Agent       AgentContent `doc:"The agent."                   json:"agent"`
}

// RevisionSummary is a [Revision] in a list.
type RevisionSummary struct {
	ID          RevisionID `doc:"The id: a hash of the agent."  example:"rev_6f1d0c" json:"id"`
	Agent       string     `doc:"The name of the agent."        json:"agent"`
	FirstUsedAt time.Time  `doc:"When a worker first used it."  json:"firstUsedAt"`
	Model       string     `doc:"The name of the model."        json:"model"`
	Tools       int        `doc:"How many tools the agent has." json:"tools"`
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
	Name         string           `doc:"The name."                                                                json:"name"`
	Instructions string           `doc:"The system prompt. Left out: none."                                       json:"instructions,omitempty"`
	Model        ModelContent     `doc:"The model that is used unless a start asks for another one."              json:"model"`
	Fallback     *FallbackContent `doc:"What happens when the model fails. Left out: the run has no other model." json:"fallback,omitempty"     nullable:"false"`
	Tools        []ToolContent    `doc:"The tools, by name."                                                      json:"tools"`
	// ToolSources are the names of the sources of further tools. Their tools are not part of the content: see
	// [spool.ToolSource].
	ToolSources []string `doc:"The sources of further tools, such as MCP servers." json:"toolSources,omitempty" nullable:"false"`
	// Spawn is how the agent spawns nested runs. Nil: it does not.
	Spawn *SpawnContent `doc:"How the agent spawns nested runs. Left out: it does not." json:"spawn,omitempty" nullable:"false"`
	// Transfers are the agents that the thread can be handed to. Nil: none.
	Transfers       []TransferContent `doc:"The agents that the thread can be handed to, by name. Left out: none." json:"transfers,omitempty"       nullable:"false"`
	MaxSteps        int               `doc:"The bound of the steps of a run."                                      json:"maxSteps"`
	NoFinalAnswer   bool              `doc:"Whether a run ends at its last step without an answer."                json:"noFinalAnswer,omitempty"`
	MaxOutputTokens int               `doc:"The bound of each answer of the model. Left out: the provider's."      json:"maxOutputTokens,omitempty"`
	// Budget is the agent's own, without that of the configuration.
	Budget           spool.Budget       `doc:"The budget of a run, if the agent has one. Times are in nanoseconds." json:"budget,omitzero"`
	OnBudget         spool.BudgetAction `doc:"What happens to a run whose budget is used up."                       json:"onBudget,omitempty"`
	Access           spool.Access       `doc:"Who may start runs. Left out: everybody."                             json:"access,omitzero"`
	DistinctApprover bool               `doc:"Whether the person who started a run may not answer."                 json:"distinctApprover,omitempty"`
	// Extra are the fields of a request to the provider, as a JSON object. A value that may be a secret is
	// [HiddenValue].
	Extra           json.RawMessage `doc:"Fields of a request to the provider, as an object. A value that may be a secret is hidden." json:"extra,omitempty"`
	ProviderOptions []string        `doc:"The fields of a request to the provider that a start may set."                              json:"providerOptions,omitempty" nullable:"false"`
	// Output is the value that the agent answers with. Nil: any text.
	Output        *spool.OutputSchema `doc:"The JSON value that the agent answers with. Left out: any text."       json:"output,omitempty"        nullable:"false"`
	FixedOutput   bool                `doc:"Whether starts may not ask for another value."                         json:"fixedOutput,omitempty"`
	ClientTools   int                 `doc:"How many tools a client may send. Negative: they are ignored."         json:"clientTools,omitempty"`
	ClientContext int                 `doc:"How many bytes of context a client may send. Negative: it is ignored." json:"clientContext,omitempty"`
}

// HiddenValue replaces a value of [AgentContent.Extra] that may be a secret. A change of the value is then no
// new revision.
const HiddenValue = "(hidden)"

// ModelContent is a model in an [AgentContent].
type ModelContent struct {
	// Name is the name in the configuration. Empty, for a profile: the parent run's model.
	Name string `doc:"The name in the configuration. Left out: the model of the run that spawns." json:"name,omitempty"`
	// Provider and ID are what the model itself says: see [spool.ModelInfo].
	Provider string `doc:"The provider, if the model names it."                     example:"openai"    json:"provider,omitempty"`
	ID       string `doc:"The provider's name of the model, if the model names it." json:"id,omitempty"`
}

// FallbackContent is what an agent does when its model fails: see [spool.Agent.Fallbacks].
type FallbackContent struct {
	Models []ModelContent        `doc:"The models that the run goes on with, in order." json:"models"`
	On     []spool.FallbackCause `doc:"The failures that move a run on."                json:"on"`
	After  int                   `doc:"How many attempts a model has."                  json:"after"`
}

// TransferContent is a [spool.Transfer] in an [AgentContent].
type TransferContent struct {
	Agent       string                `doc:"The name of the agent."              json:"agent"`
	Description string                `doc:"What the model reads of it."         json:"description,omitempty"`
	History     spool.TransferHistory `doc:"What that agent sees of the thread." enum:"all,brief"             json:"history"`
}

// ToolContent is a tool in an [AgentContent].
type ToolContent struct {
	Name        string `doc:"The name."                   json:"name"`
	Description string `doc:"What the model reads of it." json:"description,omitempty"`
	// Parameters is the JSON Schema of the arguments. Nil: none.
	Parameters       json.RawMessage `doc:"The JSON Schema of the arguments. Left out: there are none."               json:"parameters,omitempty"`
	Approval         ApprovalKind    `doc:"Which calls wait for a person. Left out: none."                            enum:"always,sometimes"           json:"approval,omitempty"`
	Idempotent       bool            `doc:"Whether a call may be repeated after a crash."                             json:"idempotent,omitempty"`
	Polling          bool            `doc:"Whether the same call may have the same result many times."                json:"polling,omitempty"`
	Search           bool            `doc:"Whether the model has to find the tool first."                             json:"search,omitempty"`
	Access           spool.Access    `doc:"Whose runs have the tool. Left out: everybody's."                          json:"access,omitzero"`
	DistinctApprover bool            `doc:"Whether the person who started a run may not answer for the tool's calls." json:"distinctApprover,omitempty"`
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
	Profiles      []ProfileContent `doc:"The agents that the model can call, by name."                       json:"profiles"`
	Open          bool             `doc:"Whether the model may make up agents."                              json:"open,omitempty"`
	MaxDepth      int              `doc:"How deep runs may be nested."                                       json:"maxDepth"`
	MaxConcurrent int              `doc:"How many nested runs work at once, at each depth."                  json:"maxConcurrent"`
	MaxSteps      int              `doc:"The bound of the steps of a nested run without a bound of its own." json:"maxSteps"`
	ResultCap     int              `doc:"The bound of a nested run's answer, in characters."                 json:"resultCap"`
}

// ProfileContent is a [spool.Profile] in an [AgentContent].
type ProfileContent struct {
	Name            string              `doc:"The name."                                                                                  json:"name"`
	Description     string              `doc:"What the spawning model reads of it."                                                       json:"description,omitempty"`
	Instructions    string              `doc:"The system prompt. Left out: none."                                                         json:"instructions,omitempty"`
	Model           ModelContent        `doc:"The model."                                                                                 json:"model"`
	Tools           []ToolContent       `doc:"The tools, by name."                                                                        json:"tools"`
	ToolSources     []string            `doc:"The sources of further tools."                                                              json:"toolSources,omitempty"     nullable:"false"`
	MaxSteps        int                 `doc:"The bound of the steps."                                                                    json:"maxSteps"`
	MaxOutputTokens int                 `doc:"The bound of each answer of the model. Left out: the provider's."                           json:"maxOutputTokens,omitempty"`
	Extra           json.RawMessage     `doc:"Fields of a request to the provider, as an object. A value that may be a secret is hidden." json:"extra,omitempty"`
	Output          *spool.OutputSchema `doc:"The JSON value that it answers with. Left out: any text."                                   json:"output,omitempty"          nullable:"false"`
	Fallbacks       []ModelContent      `doc:"The models that it goes on with when its model fails, in order."                            json:"fallbacks,omitempty"       nullable:"false"`
	Spawns          bool                `doc:"Whether it may spawn too."                                                                  json:"spawns,omitempty"`
}

// Revision returns the id of the content. It depends on neither the order of keys in JSON texts nor white
// space. The lists must be in a fixed order.
func (c AgentContent) Revision() RevisionID {
	sum := sha256.Sum256(CanonicalJSON(mustJSON(c)))
	return RevisionID("rev_" + hex.EncodeToString(sum[:]))
}

// Package config reads the configuration file of the spool command.
//
// It is strict: an unknown key is an error, and so is a reference to something that does not exist. It
// reports all problems of a file together, each with its line and field, so that nobody has to fix them
// one start at a time. It replaces "${NAME}" and "${NAME:-default}" by values of the environment, and
// no problem quotes such a value, because it may be a secret.
package config

import (
	"net/netip"
	"os"
	"time"

	"github.com/spoolhq/spool"
)

// Config has the values of a file. Models, agents and tools are in the order of the file.
type Config struct {
	Models []Model
	// Agents has the default agent first.
	Agents []Agent
	Tools  []Tool
	// MCP are the servers of the section mcp.
	MCP []MCP
	// Tokens are the bearer tokens. Empty: requests need no token.
	Tokens []Token
	// OwnThreads hides from a subject the threads of others.
	OwnThreads bool
	// TrustedProxies are the addresses of proxies whose X-Forwarded-For counts.
	TrustedProxies []netip.Prefix
	// StreamTokenKeys verify the tokens of streams, and the first one signs them. Empty: the process
	// makes a random key.
	StreamTokenKeys []string
	// LinkApprovers are the possible approvers of links to questions. Nil: anybody.
	LinkApprovers []string
	// StreamTokenTTL is zero if the file has none.
	StreamTokenTTL time.Duration
	// Egress are the private hosts, addresses and ranges that tools may reach.
	Egress []string
	CORS   CORS
	// StrictOptions refuses starts with provider options that their agent does not allow.
	StrictOptions bool
	// BasePath is the prefix of all paths. Empty: no prefix.
	BasePath string
	// PublicURL is the scheme and host under which clients reach the server. Empty: unknown.
	PublicURL string
	Queue     Queue
	Limits    Limits
	Context   Context
	Budget    Budgets
	Prices    Prices
	Artifacts Artifacts
	SignIn    SignIn
}

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

// Token is an entry of auth.tokens.
type Token struct {
	Source

	// Token is empty if SHA256, its hash in hexadecimal, replaces it.
	Token, SHA256 string

	Tenant  spool.Tenant
	Subject string
	Scopes  []string
	// AllThreads excepts the token from OwnThreads.
	AllThreads bool
	// Expires is zero for a token that does not expire.
	Expires time.Time
	// Operator says that the token, with the scope admin, may name other tenants.
	Operator bool
}

// Budgets is the section budget. A zero field is not in the file.
type Budgets struct {
	// Each is the budget of runs whose start and agent have none.
	Each spool.Budget
	// Most is the section most: the largest budget that a start or an answer can set.
	Most     spool.Budget
	OnBudget spool.BudgetAction
	// AllowUnpriced allows models without a price in runs with a budget of money.
	AllowUnpriced bool
}

// Context is the section context. A zero field is not in the file.
type Context struct {
	// Ceiling and OutputReserve are in tokens.
	Ceiling, OutputReserve int
	// CompactionModel is the name of the model that summarises.
	CompactionModel string
}

// Limits is the section limits. A zero field is not in the file.
type Limits struct {
	Shares
	Memory
	MaxPromptBytes int
	MaxAnswerBytes int
	MaxStepBytes   int
	// The three bounds are those of files without the section artifacts. MaxFileBytes is negative if none are kept.
	MaxFileBytes, MaxThreadFileBytes, MaxThreadFiles int
	MaxWaiting                                       int
	MaxQueueDepth                                    int
	OpenStreams                                      int
	MaxWait                                          time.Duration
	// DisconnectGrace is negative if runs go on without their clients.
	DisconnectGrace time.Duration
	StartsPerMinute int
	EventsPerMinute int
	FailedLogins    int
	RunMaxAttempts  int
	StopPoll        time.Duration
	HITLTTL         time.Duration
	ClientToolTTL   time.Duration
	StreamGrace     time.Duration
	StreamFlush     time.Duration
	Lease           time.Duration
	Retention       time.Duration
	// AuditRetention is negative if the log is kept for ever.
	AuditRetention time.Duration
	RetryBackoff   time.Duration
	RetryAfterMax  time.Duration
}

// Load reads the file at path. lookup returns a variable of the environment, as
// [os.LookupEnv] does. An error about the content of the file is [FieldErrors].
func Load(path string, lookup func(name string) (string, bool)) (*Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, b, lookup)
}

// Parse reads the text of a file. Problems have its name.
func Parse(name string, text []byte, lookup func(name string) (string, bool)) (*Config, error) {
	root, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	d := &decoder{file: name, lookup: lookup}
	c := d.config(value{d: d}.child("", root))
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	return c, nil
}

// Package config reads the configuration file of the spool command.
//
// It is strict: what it does not know is an error, and so is what refers to nothing. All
// problems of a file are reported together, each with its line and field, so that nobody
// has to fix them one start at a time. Values of the environment stand in for
// "${NAME}" and "${NAME:-default}"; no problem quotes one, as it may be a secret.
package config

import (
	"encoding/json"
	"net/netip"
	"os"
	"time"

	"github.com/spoolhq/spool"
)

// Config is what a file says. Models, agents and tools are in the order of the file.
type Config struct {
	Models []Model
	// Agents has the default agent first.
	Agents []Agent
	Tools  []Tool
	// Tokens are the bearer tokens. Empty: nobody is asked who they are.
	Tokens []Token
	// OwnThreads hides from a subject the threads of others.
	OwnThreads bool
	// TrustedProxies are the addresses of proxies whose X-Forwarded-For counts.
	TrustedProxies []netip.Prefix
	// StreamTokenKeys sign the tokens of streams, the first one all new ones. Empty: a key of
	// the process's own does.
	StreamTokenKeys []string
	// StreamTokenTTL is zero when the file has none.
	StreamTokenTTL time.Duration
	// Egress are the hosts, addresses and ranges that tools may reach though they are
	// private.
	Egress []string
	CORS   CORS
	// BasePath stands before the path of every endpoint. Empty: nothing does.
	BasePath string
	// PublicURL is the scheme and host under which clients reach the server. Empty: not known.
	PublicURL string
	Queue     Queue
	Limits    Limits
	Context   Context
	Budget    Budgets
	Prices    Prices
}

// Agent is an entry of the section agents.
type Agent struct {
	Source

	// Access says who may start runs of the agent.
	Access spool.Access

	Name         string
	Model        string
	Instructions string
	// MaxSteps bounds the steps of a run. Zero: the engine's default.
	MaxSteps int
	// WhenBusy is what starts do on a thread that has an active run. Empty: the engine's
	// default.
	WhenBusy spool.WhenBusy
	// DistinctApprover keeps who started a run from answering for its calls.
	DistinctApprover bool
	Tools            []string
	// Budget and OnBudget are zero where the file does not say.
	Budget   spool.Budget
	OnBudget spool.BudgetAction
	// ProviderOptions are the fields of a request to the provider that a start may set.
	ProviderOptions []string
	// ClientTools and ClientContext bound what the client of a start brings. Negative: nothing. Zero:
	// the engine's default.
	ClientTools, ClientContext int
	// Subagents are those that the agent can hand work to. Empty: it has to do it itself.
	Subagents []Subagent
}

// Subagent is an entry of an agent's subagents.
type Subagent struct {
	Source

	Name         string
	Description  string
	Instructions string
	// Model is empty where it is that of the run which spawns.
	Model string
	Tools []string
	// MaxSteps bounds the steps of a run. Zero: the engine's default.
	MaxSteps int
	// Spawns lets it hand work on.
	Spawns bool
}

// Tool is an entry of the section tools.
type Tool struct {
	Source

	// Access says in whose runs the tool is there.
	Access spool.Access

	Name        string
	Type        string
	URL         string
	Description string
	Idempotent  bool
	Approval    bool
	// Body is what the body of a request has, arguments or envelope. Empty: the file does not say.
	Body string
	// DistinctApprover keeps who started a run from answering for a call of the tool.
	DistinctApprover bool
	// Expiry is zero where the file does not say how long a call waits for its approval.
	Expiry spool.Expiry
	// Parameters is a JSON Schema. Nil: the file has none.
	Parameters json.RawMessage

	// within is where each value of Parameters is said, by its path.
	within map[string]Source
}

// Token is an entry of auth.tokens.
type Token struct {
	Source

	// Token is empty where SHA256, the hash in hexadecimal, stands for it.
	Token, SHA256 string

	Tenant  spool.Tenant
	Subject string
	Scopes  []string
	// AllThreads excepts the token from OwnThreads.
	AllThreads bool
	// Expires is zero for a token that does not.
	Expires time.Time
	// Operator is true for a token that may name other tenants, where it is an admin's.
	Operator bool
}

// Budgets is the section budget. A zero field is not in the file.
type Budgets struct {
	// Each is the budget of runs whose start and agent have none.
	Each spool.Budget
	// Most is the section most: what no start can ask for more than.
	Most     spool.Budget
	OnBudget spool.BudgetAction
}

// Prices is the field prices.
type Prices struct {
	Source

	// File is the table's, "builtin" for the one of the binary. Empty: there are no prices.
	File string
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
	MaxPromptBytes  int
	MaxAnswerBytes  int
	MaxStepBytes    int
	MaxWaiting      int
	MaxQueueDepth   int
	OpenStreams     int
	MaxWait         time.Duration
	StartsPerMinute int
	FailedLogins    int
	RunMaxAttempts  int
	StopPoll        time.Duration
	HITLTTL         time.Duration
	StreamGrace     time.Duration
	StreamFlush     time.Duration
	Lease           time.Duration
	Retention       time.Duration
	// AuditRetention is negative where the file says for ever.
	AuditRetention time.Duration
	RetryBackoff   time.Duration
	RetryAfterMax  time.Duration
}

// Load reads the file at path. lookup returns a variable of the environment, as
// [os.LookupEnv] does. An error that is about what the file says is [FieldErrors].
func Load(path string, lookup func(name string) (string, bool)) (*Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, b, lookup)
}

// Parse reads the text of a file. The name is what problems call it.
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

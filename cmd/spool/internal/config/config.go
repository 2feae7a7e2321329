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
	Webhooks  Webhooks
	Schedules Schedules
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
	c := &Config{}
	if err := c.parse(name, text, lookup, c.sections()); err != nil {
		return nil, err
	}
	return c, nil
}

// parse reads the text of a file with the sections of a table.
func (c *Config) parse(name string, text []byte, lookup func(name string) (string, bool), sections table) error {
	node, err := parse(name, text)
	if err != nil {
		return err
	}
	d := &decoder{config: c, file: name, lookup: lookup, wrong: make(map[Source]bool)}
	d.root = value{d: d}.child("", node)
	c.read(d.root, sections)
	if len(d.problems) > 0 {
		return d.problems.sorted()
	}
	return nil
}

// Package mcp gives agents the tools of servers that speak the Model Context Protocol, over streamable HTTP or
// as child processes. It speaks revision 2026-07-28 and falls back to older ones.
//
// A server is an untrusted party. Its descriptions and results are text for the model and bounded in size. Its
// annotations can only add approvals. A call whose connection breaks has an unknown outcome and is not
// repeated, unless the configuration of this program says that the tool is idempotent. A question of the
// server (an elicitation) parks the run, and any process goes on with the answer. A call that a server answers by a
// task is pending: the run waits without a process, and any process asks the server for the result.
//
// A server of an older revision asks in the middle of a call. The run parks too, and the call stays open in the process
// that has made it. An answer that another process takes reaches the call within seconds. If the connection or that
// process is gone by then, the call has an unknown outcome.
package mcp

import (
	"cmp"
	"log/slog"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
)

const (
	defaultTimeout        = 60 * time.Second
	defaultConnectTimeout = 60 * time.Second // npx and uvx install a server first
	defaultMaxResult      = 256 << 10
	defaultMaxStored      = 10 << 20 // if the engine stores artifacts
	defaultMaxTools       = 128

	// maxDescription bounds the description of a tool, and maxSchema its schema, in bytes.
	maxDescription = 4 << 10
	maxSchema      = 64 << 10
	// maxMessage bounds an HTTP answer and an event of a stream, in bytes.
	maxMessage = 8 << 20
)

// Config describes a server. It has either a URL or a Command.
type Config struct {
	// Name names the server in errors, logs and stored lists. It has up to 32 letters, digits, hyphens and
	// underscores, does not end in an underscore and has no two of them in a row. Required.
	Name string

	// URL is the address of a server over streamable HTTP.
	URL string

	// Command is the program, with its arguments, of a server that is a child process. The process starts when
	// it is first needed, and again after its end. It gets only the variables PATH, HOME, LANG and TMPDIR, and
	// those of Env.
	Command []string

	// Auth gets access tokens for the requests to a URL.
	//
	// Defaults to requests without tokens.
	Auth *Auth

	// ConnectTimeout bounds a connection, with the start of a Command, and a list of the server's tools.
	//
	// Defaults to 60 seconds.
	ConnectTimeout time.Duration

	// Dir is the working directory of the Command.
	//
	// Defaults to the directory of this process.
	Dir string

	// Egress says which addresses a request and its redirects may reach.
	//
	// Defaults to public addresses.
	Egress egress.Policy

	// Env has further variables of the Command.
	//
	// Defaults to none.
	Env map[string]string

	// Headers are added to each request. If an answer repeats the value of a header, which may be a key, the
	// model does not get that value.
	//
	// Defaults to none.
	Headers map[string]string

	// Log gets warnings.
	//
	// Defaults to a logger that discards.
	Log *slog.Logger

	// MaxResultBytes bounds a result. A longer text is cut, and another longer result is an error.
	//
	// Defaults to 256 KiB, or to 10 MiB if the engine stores artifacts.
	MaxResultBytes int

	// MaxTools bounds how many tools the server may offer. Further ones, in the order of their names, are left
	// out with a warning.
	//
	// Defaults to 128.
	MaxTools int

	// NoTasks does not tell a server that its calls may become tasks, so it answers in the call. Otherwise a server
	// over HTTP of the present revision may answer a call by a task, and the run waits for it without a process.
	//
	// Defaults to false.
	NoTasks bool

	// Optional lets runs begin without the server's tools if the server cannot be reached. Such a run stays
	// without them. Otherwise the run has further attempts, and fails after the last one.
	//
	// Defaults to false.
	Optional bool

	// Prompts gives agents the tools list_prompts and get_prompt, if the server offers prompts.
	//
	// Defaults to false.
	Prompts bool

	// Resources gives agents the tools list_resources, list_resource_templates and read_resource, if the server
	// offers resources.
	//
	// Defaults to false.
	Resources bool

	// Revision is the revision of the protocol that this client asks the server for. A server that asks questions in
	// the middle of a call does so in "2025-11-25" and before: see the package.
	//
	// Defaults to 2026-07-28, or the newest older one that the server speaks.
	Revision string

	// TaskTimeout is how long a task may take before its call fails and the task is cancelled. It counts anew after
	// a question of the task.
	//
	// Defaults to [spool.DefaultPendingTimeout].
	TaskTimeout time.Duration

	// Timeout bounds a call.
	//
	// Defaults to 60 seconds.
	Timeout time.Duration
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// New returns a server, without a connection to it, or an [spool.Invalid] error that names the wrong field of
// config. Close it after use.
func New(config Config) (*Server, error) {
	if !serverName.MatchString(config.Name) || strings.Contains(config.Name, "__") || strings.HasSuffix(config.Name, "_") {
		return nil, spool.Errorf(spool.Invalid,
			"Name of an MCP server must be 1 to 32 letters, digits, hyphens and single underscores, and must not end in an underscore: %q", config.Name)
	}
	wrong := func(format string, args ...any) (*Server, error) {
		return nil, spool.Errorf(spool.Invalid, "MCP server "+config.Name+": "+format, args...)
	}
	switch {
	case (config.URL == "") == (len(config.Command) == 0):
		return wrong("either URL or Command is required")
	case len(config.Command) > 0 && (len(config.Headers) > 0 || config.Auth != nil || config.Command[0] == ""):
		return wrong("Headers and Auth are for a URL, and the Command must not be empty")
	case len(config.Command) == 0 && (len(config.Env) > 0 || config.Dir != ""):
		return wrong("Env and Dir are for a Command")
	case len(config.Command) > 0 && (config.NoTasks || config.TaskTimeout != 0):
		return wrong("NoTasks and TaskTimeout are for a URL")
	case config.Revision != "" && !slices.Contains(sdk.SupportedProtocolVersions(), config.Revision):
		return wrong("Revision must be one of %s", strings.Join(sdk.SupportedProtocolVersions(), ", "))
	case config.Timeout < 0 || config.ConnectTimeout < 0 || config.TaskTimeout < 0 || config.MaxResultBytes < 0 ||
		config.MaxTools < 0:
		return wrong("Timeout, ConnectTimeout, TaskTimeout, MaxResultBytes and MaxTools must not be negative")
	}
	config.Timeout = cmp.Or(config.Timeout, defaultTimeout)
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, defaultConnectTimeout)
	config.MaxTools = cmp.Or(config.MaxTools, defaultMaxTools)
	config.Headers, config.Env, config.Command = maps.Clone(config.Headers), maps.Clone(config.Env),
		slices.Clone(config.Command)
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		config: config, secrets: config.secrets(), dialing: make(chan struct{}, 1), listing: make(chan struct{}, 1),
	}
	if config.URL == "" {
		return s, nil
	}
	target, err := url.Parse(config.URL)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return wrong("URL is not an http or https URL")
	}
	transport, err := egress.New(config.Egress)
	if err != nil {
		return wrong("Egress: %s", spool.MessageOf(err))
	}
	if config.Auth != nil {
		client, err := config.newClient(transport)
		if err != nil {
			return wrong("Auth: %s", spool.MessageOf(err))
		}
		if s.tokens = client; config.Auth.Type == AuthAuthorizationCode {
			config.Auth.SignIns.book.Add(config.Name, client)
			s.tokens, s.people.transport = nobody{}, transport
		}
	}
	s.http = newHTTPClient(transport, config.Headers, s.tokens)
	return s, nil
}

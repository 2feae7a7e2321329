package command

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/console"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool/mcp"
)

// setup is the result of the flags and the configuration.
type setup struct {
	engine engine.Config
	server server.Config
	// models are the names of the engine's models in the order of the configuration,
	// each with a description.
	models []description
	// profiles describes the profiles of those models whose server or configuration has one.
	profiles []description
	tools    []description
	leftOut  []description // of the tools' documents
	// mcp are the MCP servers in the order of the configuration.
	mcp []*mcp.Server
	// queue has the schemes that verify deliveries. Empty: nobody may deliver.
	queue []description
	// work says whether the process executes jobs or pushes them to a host.
	work   engine.WorkOptions
	pushed string
	// token was generated for this start and is printed. Empty: none was generated.
	token string
	// artifacts says where artifacts are. Its Type is empty if none are stored.
	artifacts config.Artifacts
	// signIns has the tokens of people in the store of the process, once that is open. Nil: nobody signs in.
	signIns *mcp.SignIns
	store   *lateStore
	// signInAt says where browsers sign in. Empty: nobody signs in.
	signInAt string
	// people are the MCP servers to which people sign in.
	people []string
	// missing has an error for each MCP server without a program. Serve starts anyway.
	missing error
	// tokens reads the tokens again. It is nil if no file has tokens.
	tokens *tokenFile
}

// description is a name with a remark for the person who starts the process.
type description struct{ name, remark string }

// loadSetup builds everything that needs no file except the configuration and those that it names, and no
// network except for the documents of tools, so that mistakes are found before anything is written.
func loadSetup(o options, lookup func(string) (string, bool), log *slog.Logger) (*setup, error) {
	c := &config.Config{}
	if o.config != "" {
		var err error
		if c, err = config.Load(o.config, lookup); err != nil {
			return nil, &usageError{err}
		}
	}
	tokens := ""
	if len(c.Tokens) > 0 {
		tokens = o.config
	}
	printed, err := withOwnToken(c, o, lookup)
	if err != nil {
		return nil, err
	}
	if err := withOrigins(c, o.origins); err != nil {
		return nil, err
	}
	s := &setup{
		engine: limited(c.Limits), token: printed,
		work: engine.WorkOptions{Concurrency: c.Limits.Concurrency, PerTenant: c.Limits.RunningPerTenant},
	}
	if s.artifacts, err = artifactsOf(c.Artifacts, o.artifacts); err != nil {
		return nil, err
	}
	s.engine.Context.Ceiling, s.engine.Context.OutputReserve = c.Context.Ceiling, c.Context.OutputReserve
	s.engine.Context.CompactionModel = c.Context.CompactionModel
	s.engine.Budget.Default, s.engine.Budget.Max, s.engine.Budget.OnBudget = c.Budget.Each, c.Budget.Most,
		c.Budget.OnBudget
	s.engine.Budget.AllowUnpriced = c.Budget.AllowUnpriced
	if s.engine.Pricer, err = newPricer(c.Prices, o.config, log); err != nil {
		return nil, &usageError{err}
	}
	wrong := s.openSignIns(c, o)
	switch {
	case wrong != nil: // the servers need them
	case len(c.Agents) == 0:
		s.demo()
	default:
		err = s.configure(c, o.config, egressOf(o, c), log)
	}
	if err := errors.Join(wrong, err, s.expose(c, tokens, lookup), s.push(c.Queue.Push)); err != nil {
		return nil, &usageError{err}
	}
	if err := s.tell(c, o.config, egressOf(o, c)); err != nil {
		return nil, &usageError{err}
	}
	s.plan(c)
	s.engine.Log, s.server.Log = log, log
	s.missing = missingPrograms(c.MCP, o.role)
	s.server.BasePath = cmp.Or(o.base, c.BasePath)
	s.server.PublicURL = c.PublicURL
	s.engine.StrictProviderOptions = c.StrictOptions
	s.server.Console = console.Handler()
	if s.signIns != nil {
		s.server.SignIns = s.signIns
	}
	for _, line := range append([]description{{"data", o.place()}}, s.lines()...) {
		if line.remark != "" {
			s.server.Facts = append(s.server.Facts, server.Fact{Name: line.name, Text: line.remark})
		}
	}
	if err := s.check(); err != nil {
		return nil, &usageError{err}
	}
	return s, nil
}

// unused is a store that is never called.
type unused struct{ store.Store }

// check finds the mistakes that only the engine and the server know, before anything is written.
func (s *setup) check() error {
	e, err := engine.New(store.Backend{Store: unused{}}, s.engine)
	if err != nil {
		return err
	}
	e.Close()
	return s.server.Check()
}

// withOrigins adds the origins of the flags to those of the configuration.
func withOrigins(c *config.Config, origins []string) error {
	for _, origin := range origins {
		switch {
		case origin == "*" && len(c.Tokens) == 0:
			return usagef(`--cors-origin: "*" needs a token (SPOOL_TOKEN, or auth.tokens), as every web page could use the server`)
		case origin == "*" && c.CORS.AllowCredentials:
			return usagef(`--cors-origin: "*" cannot go with cors.allow_credentials, as every web page could use what its reader is logged in to`)
		case !slices.Contains(c.CORS.Origins, origin):
			c.CORS.Origins = append(c.CORS.Origins, origin)
		}
	}
	return nil
}

// egress says which private addresses tools may reach: those of the configuration. If only this machine
// can reach the server and requests need no token, tools may reach all of them. A server with tokens
// may be behind a proxy.
func egressOf(o options, c *config.Config) egress.Policy {
	return egress.Policy{Allow: c.Egress, AllowPrivate: o.loopback() && len(c.Tokens) == 0}
}

// The limits of a process whose configuration has none. Normal use does not reach them.
const (
	maxQueueDepth   = 100_000
	maxTenantDepth  = 50_000
	openStreams     = 10_000
	startsPerMinute = 6_000
	eventsPerMinute = 600
	failedLogins    = 10
)

func limited(l config.Limits) engine.Config {
	return engine.Config{
		Stream: option.Stream{FlushEvery: l.StreamFlush, SnapshotMemory: l.SnapshotMemory, Grace: l.StreamGrace},
		Worker: option.Worker{Lease: l.Lease, StopPoll: l.StopPoll},
		Retry:  option.Retry{Attempts: l.RunMaxAttempts, Backoff: l.RetryBackoff, AfterMax: l.RetryAfterMax},
		Limits: option.Limits{
			PromptBytes: l.MaxPromptBytes, AnswerBytes: l.MaxAnswerBytes, StepBytes: l.MaxStepBytes,
			FileBytes: int64(l.MaxFileBytes), ThreadFileBytes: int64(l.MaxThreadFileBytes), ThreadFiles: l.MaxThreadFiles,
			Waiting: l.MaxWaiting, QueueDepth: cmp.Or(l.MaxQueueDepth, maxQueueDepth), WallTime: l.MaxWallTime,
			TenantBytes: int64(l.MaxTenantBytes), TenantDepth: cmp.Or(l.MaxTenantDepth, maxTenantDepth),
		},
		ParkTTL:   l.HITLTTL,
		Retention: option.Retention{Threads: l.Retention, Audit: l.AuditRetention},

		ClientToolTTL: l.ClientToolTTL,
	}
}

// configure makes the models, tools and agents of the configuration, whose file is at path.
func (s *setup) configure(c *config.Config, path string, egress egress.Policy, log *slog.Logger) error {
	var problems []error
	s.engine.Models = make(map[string]spool.Model, len(c.Models))
	for _, m := range c.Models {
		model, remark, err := newModel(m, log)
		if err != nil {
			problems = append(problems, m.Errorf("%s", spool.MessageOf(err)))
		}
		s.engine.Models[m.Name] = model
		if m.Access.Limited() {
			if s.engine.ModelAccess == nil {
				s.engine.ModelAccess = make(map[string]spool.Access)
			}
			s.engine.ModelAccess[m.Name] = m.Access
		}
		s.models = append(s.models, description{m.Name, remark})
		if profile := profileOf(m, model); profile != "" {
			s.profiles = append(s.profiles, description{m.Name, profile})
		}
	}
	var wrong []error
	s.engine.ProviderLimits, wrong = providerLimits(c.Models)
	problems = append(problems, wrong...)
	tools, err := newTools(c, path, egress)
	if err != nil {
		return errors.Join(append(problems, err)...) // the lists of agents cannot be read without the tools
	}
	s.tools, s.leftOut = tools.lines, tools.leftOut
	servers, wrong := s.openMCP(c.MCP, egress, log)
	problems = append(problems, wrong...)
	for _, a := range c.Agents {
		agent := spool.Agent{
			Name: a.Name, Access: a.Access, Model: a.Model, Instructions: a.Instructions, MaxSteps: a.MaxSteps,
			NoFinalAnswer: a.NoFinalAnswer, WhenBusy: a.WhenBusy, Revisions: a.Revisions, DistinctApprover: a.DistinctApprover,
			Budget: a.Budget, OnBudget: a.OnBudget, ProviderOptions: a.ProviderOptions, ClientTools: a.ClientTools,
			ClientContext: a.ClientContext, Output: a.Output, FixedOutput: a.FixedOutput, Fallbacks: a.Fallbacks,
			FallbackOn: a.FallbackOn, FallbackAfter: a.FallbackAfter, Transfers: a.Transfers,
		}
		problems = append(problems, outputProblem(a.Source, a.Output))
		for _, sub := range a.Subagents {
			problems = append(problems, outputProblem(sub.Source, sub.Output))
		}
		var wrong error
		agent.Tools, wrong = tools.named(a.Source, a.Tools)
		problems = append(problems, wrong)
		agent.ToolSources, wrong = servers.sources(a.MCP)
		problems = append(problems, wrong)
		agent.Spawn, wrong = spawn(a.Subagents, tools, servers)
		problems = append(problems, wrong)
		s.engine.Agents = append(s.engine.Agents, agent)
	}
	return errors.Join(problems...)
}

// spawn returns how an agent delegates, or nil for an agent without subagents.
func spawn(subagents []config.Subagent, tools *toolset, servers mcpServers) (*spool.Spawn, error) {
	if len(subagents) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to delegate to
	}
	var problems []error
	s := &spool.Spawn{Profiles: make(map[string]spool.Profile, len(subagents))}
	for _, sub := range subagents {
		p := spool.Profile{
			Description: sub.Description, Instructions: sub.Instructions, Model: sub.Model, MaxSteps: sub.MaxSteps,
			Spawns: sub.Spawns, Output: sub.Output, Fallbacks: sub.Fallbacks,
		}
		var wrong error
		p.Tools, wrong = tools.named(sub.Source, sub.Tools)
		problems = append(problems, wrong)
		p.ToolSources, wrong = servers.sources(sub.MCP)
		problems = append(problems, wrong)
		s.Profiles[sub.Name] = p
	}
	return s, errors.Join(problems...)
}

// expose configures who may call the server and who may deliver jobs to it. The server reads the tokens
// again from the file at path, unless path is empty.
func (s *setup) expose(c *config.Config, path string, lookup func(string) (string, bool)) error {
	s.server = server.Config{BodyMemory: int64(c.Limits.BodyMemory), Limits: server.Limits{
		OpenStreams:     cmp.Or(c.Limits.OpenStreams, openStreams),
		StartsPerMinute: cmp.Or(c.Limits.StartsPerMinute, startsPerMinute),
		EventsPerMinute: cmp.Or(c.Limits.EventsPerMinute, eventsPerMinute),
		FailedLogins:    cmp.Or(c.Limits.FailedLogins, failedLogins),
	}}
	s.server.CORSOrigins, s.server.CORSAllowCredentials = c.CORS.Origins, c.CORS.AllowCredentials
	s.server.CORSAllowHeaders, s.server.CORSExposeHeaders = c.CORS.AllowHeaders, c.CORS.ExposeHeaders
	s.server.StreamTokenTTL = c.StreamTokenTTL
	s.server.LinkApprovers = c.LinkApprovers
	s.server.MaxWait, s.server.DisconnectGrace = c.Limits.MaxWait, c.Limits.DisconnectGrace
	for _, key := range c.StreamTokenKeys {
		s.server.StreamTokenKeys = append(s.server.StreamTokenKeys, []byte(key))
	}
	var err error
	if s.server.QueueVerifier, s.queue, err = newVerifier(c.Queue); err != nil {
		return err
	}
	if len(c.Tokens) == 0 {
		s.server.Authenticator = access.Anonymous(spool.DefaultTenant)
		s.server.Loopback = true
		return nil
	}
	s.server.TrustedProxies, s.server.OwnThreads = c.TrustedProxies, c.OwnThreads
	s.server.Authenticator, s.tokens, err = newTokens(c, path, lookup)
	return err
}

// sharesTokens reports whether clients may get a token for a stream here and bring it to another process, which
// cannot check it, because each process signs with a random key of its own. Without authentication nobody needs a
// token.
func (o *options) sharesTokens(s *setup) bool {
	return o.database.url != "" && o.role != roleWorker && len(s.server.StreamTokenKeys) == 0 && !s.server.Loopback
}

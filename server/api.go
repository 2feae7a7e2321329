package server

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
)

// newAPI registers the controllers.
func (s *Server) newAPI() *rest.API {
	api := rest.New(append(s.bodyRules(),
		rest.Title("Spool"), rest.Version("1"), rest.About(aboutAPI), rest.BasePath(s.config.BasePath),
		rest.Servers(cmp.Or(s.config.PublicURL, "/")),
		rest.Errors(errorBodies{}), rest.MapError(mapError), rest.StrictSlashes(), rest.Logger(s.restLog()), rest.Use(s.front),
	)...)
	writtenAs(api)
	api.Register(&runs{s}, rest.Prefix("/api/agent"), rest.Tags("Runs"))
	api.Register(&agents{s}, rest.Prefix("/api/agent"), rest.Tags("Runs"))
	api.Register(&follow{s}, rest.Prefix("/api/agent"), rest.Tags("Threads"))
	api.Register(&branches{s}, rest.Prefix("/api/agent/branches"), rest.Tags("Threads"))
	api.Register(&threads{s}, rest.Prefix("/api/threads"), rest.Tags("Threads"))
	api.Register(&admin{s}, rest.Prefix("/api/admin"), rest.Tags("Operations"))
	api.Register(&queue{s}, rest.Prefix("/api/queue"), rest.Tags("Operations"), rest.NoAuth())
	api.Register(health{s}, rest.Tags("Operations"), rest.NoAuth())
	s.describe(api)
	describeAgents(api, s.config.BasePath)
	return api
}

// CheckPublicURL returns a [spool.Invalid] error for what cannot be [Config.PublicURL] of a server
// with the base path. Empty: there is none.
func CheckPublicURL(address, base string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || strings.ContainsAny(address, "?#") ||
		rest.CheckBasePath(u.EscapedPath()) != nil {
		return spool.Errorf(spool.Invalid, `Config.PublicURL must be a scheme and a host, with a path behind them that a proxy cuts off, such as "https://agents.example"`)
	}
	if base != "" && strings.HasSuffix(u.Path, base) {
		return spool.Errorf(spool.Invalid, "Config.PublicURL must not end with BasePath, which comes behind it")
	}
	return nil
}

// checkBasePath returns an error for a path below which no route could be reached.
func checkBasePath(at string) error {
	if err := rest.CheckBasePath(at); err != nil {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		return spool.Errorf(spool.Invalid, "Config.BasePath: %s", reason)
	}
	return nil
}

// OpenAPI returns the document of the server's endpoints, OpenAPI 3.1 as JSON. It is the
// same for the same configuration.
func (s *Server) OpenAPI() ([]byte, error) { return s.api.OpenAPI() }

// ServeHTTP answers a request.
//
// It sets the request's Pattern to the path of the route, as a [http.ServeMux] does, for
// those who measure requests.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) }

// runs are the endpoints that start, stop and unblock the work on a thread.
type runs struct{ *Server }

// Routes implements [rest.Controller].
func (c *runs) Routes(r *rest.Routes) {
	rest.Post(r, "/run", c.start, c.guarded(ScopeWrite,
		rest.OperationID("startRun"), rest.Summary("Start a run"), rest.Description(aboutStart),
		rest.MaxBody(c.config.MaxBodyBytes), rest.Tolerate(rest.AnyContentType, rest.LooseValues, rest.LooseParameters, rest.BrokenQuery),
		rest.Status(http.StatusAccepted), startEnded, startRefused, startLater, rest.Fails(http.StatusTooManyRequests, storageFull))...)
	rest.Get(r, "/runs/{runId}", c.outcome, c.guarded(ScopeRead,
		rest.OperationID("getRunOutcome"), rest.Summary("See what a run has come to"), rest.Description(aboutOutcome),
		rest.Fails(http.StatusNotFound, http.StatusTooManyRequests, unavailable))...)
	rest.Post(r, "/control", c.stop, c.guarded(ScopeStop,
		rest.OperationID("stopRun"), rest.Summary("Stop a run"), rest.Description(aboutStop),
		rest.Returns[engine.StopResult](http.StatusConflict), rest.Fails(unavailable))...)
	rest.Post(r, "/compact", c.compact, c.guarded(ScopeWrite,
		rest.OperationID("compactThread"), rest.Summary("Summarise the older messages of a thread"), rest.Description(aboutCompact),
		rest.Returns[engine.CompactResult](http.StatusConflict), rest.Fails(http.StatusTooManyRequests, unavailable, storageFull))...)
	rest.Post(r, "/events", c.publish, c.guarded(ScopeWrite,
		rest.OperationID("publishEvent"), rest.Summary("Publish an event of your own"), rest.Description(aboutPublish), rest.MaxBody(c.maxBody(longBody)),
		rest.Status(http.StatusAccepted), rest.Returns[publishResult](http.StatusOK), rest.Fails(http.StatusNotFound, unavailable, storageFull))...)
	rest.Post(r, "/respond", c.respond, c.guarded(ScopeApprove,
		rest.OperationID("respond"), rest.Summary("Answer what a run waits for"), rest.Description(aboutRespond), rest.MaxBody(c.maxBody(longBody)),
		rest.Returns[engine.RespondResult](http.StatusConflict), rest.Fails(unavailable))...)
}

// follow are the endpoints that show one thread.
type follow struct{ *Server }

// Routes implements [rest.Controller].
func (c *follow) Routes(r *rest.Routes) {
	rest.Get(r, "/history", c.history, c.guarded(ScopeRead,
		rest.OperationID("getHistory"), rest.Summary("Take a snapshot of a thread"), rest.Description(aboutHistory),
		rest.Fails(http.StatusNotFound, unavailable))...)
	rest.Post(r, "/stream-token", c.token, c.guarded(ScopeRead,
		rest.OperationID("createStreamToken"), rest.Summary("Get a token for a stream"), rest.Description(aboutStreamToken),
		rest.Fails(http.StatusNotFound, unavailable))...)
	rest.Get(r, "/stream", c.stream, c.guardedStream(
		rest.OperationID("streamThread"), rest.Summary("Follow a thread live"), rest.Description(aboutStream),
		rest.Fails(http.StatusNotFound, http.StatusTooManyRequests, unavailable))...)
	rest.Get(r, "/events", c.events, c.guarded(ScopeRead,
		rest.OperationID("listEvents"), rest.Summary("List the events of your own"), rest.Description(aboutEvents),
		rest.Fails(http.StatusNotFound, unavailable))...)
	rest.Get(r, "/usage", c.usage, c.guarded(ScopeRead,
		rest.OperationID("getUsage"), rest.Summary("Count the tokens of a thread"), rest.Description(aboutUsage),
		rest.Fails(http.StatusNotFound, unavailable))...)
}

// threads are the endpoints for the list of threads.
type threads struct{ *Server }

// Routes implements [rest.Controller].
func (c *threads) Routes(r *rest.Routes) {
	rest.Get(r, "/", c.list, c.guarded(ScopeRead,
		rest.OperationID("listThreads"), rest.Summary("List threads"), rest.Description(aboutThreads),
		rest.Fails(unavailable))...)
	rest.Patch(r, "/", c.change, c.guarded(ScopeWrite,
		rest.OperationID("updateThread"), rest.Summary("Write on a thread"), rest.Description(aboutThreadChange),
		rest.Fails(forbidden, http.StatusNotFound, unavailable))...)
	rest.Delete(r, "/", c.remove, c.guarded(ScopeWrite,
		rest.OperationID("deleteThread"), rest.Summary("Delete a thread"), rest.Description(aboutDelete),
		rest.Returns[deleteRefusal](http.StatusBadRequest), rest.Returns[engine.DeleteResult](http.StatusNotFound),
		rest.Returns[engine.DeleteResult](http.StatusConflict), rest.Fails(unavailable))...)
}

// queue is the endpoint that takes deliveries of a queue outside.
type queue struct{ *Server }

// Routes implements [rest.Controller].
func (c *queue) Routes(r *rest.Routes) {
	rest.Post(r, "/agent-run", c.deliver,
		rest.MaxBody(c.maxBody(deliveries{c.Server}.maxBody())), rest.VerifyBody(deliveries{c.Server}),
		rest.OperationID("deliverJob"), rest.Summary("Take a job from a queue"), rest.Description(aboutQueue),
		rest.Fails(http.StatusUnauthorized, unavailable))
}

// health are the endpoints that say whether the process answers, and whether it should be
// asked.
type health struct{ *Server }

// Routes implements [rest.Controller].
func (c health) Routes(r *rest.Routes) {
	rest.Get(r, "/", c.root, rest.Hidden())
	rest.Get(r, pathHealth, c.check, rest.OperationID("getHealth"), rest.Summary("Is it up?"), rest.Description(aboutHealth))
	rest.Get(r, pathReady, c.ready, rest.OperationID("getReadiness"), rest.Summary("May requests come?"),
		rest.Description(aboutReady), rest.Returns[readiness](unavailable))
}

const (
	unavailable = http.StatusServiceUnavailable
	storageFull = http.StatusInsufficientStorage
)

// guarded adds to the options of a route that its caller needs a scope.
func (s *Server) guarded(need Scope, options ...rest.RouteOption) []rest.RouteOption {
	if s.config.Loopback {
		options = append(options, rest.Fails(http.StatusForbidden))
	}
	if s.everybody != nil {
		return append(options, rest.NoAuth())
	}
	if s.config.Limits.FailedLogins > 0 {
		options = append(options, rest.Fails(http.StatusTooManyRequests))
	}
	g := gate{s, need}
	return append(options, rest.Auth(g), rest.Permit(g), challenges)
}

// guardedStream is guarded for the stream of a thread, which a token opens too.
func (s *Server) guardedStream(options ...rest.RouteOption) []rest.RouteOption {
	if s.config.Loopback {
		options = append(options, rest.Fails(http.StatusForbidden))
	}
	if s.everybody != nil {
		return append(options, rest.NoAuth())
	}
	if s.config.Limits.FailedLogins > 0 {
		options = append(options, rest.Fails(http.StatusTooManyRequests))
	}
	g := gate{s, ScopeRead}
	return append(options, rest.Auth(tokenGate{s}, g), rest.Permit(g), challenges)
}

// challenges documents what a gate says of the credentials that it wants.
var challenges = rest.SendsHeader("WWW-Authenticate", "How to authenticate.", http.StatusUnauthorized)

// asking returns who makes the request.
func (s *Server) asking(ctx context.Context) Principal {
	if s.everybody != nil {
		return *s.everybody
	}
	c, _ := rest.PrincipalAs[*caller](ctx) // a guarded route has one
	return c.Principal
}

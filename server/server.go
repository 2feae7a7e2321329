package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/aguiapi"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/bodies"
	"github.com/spoolhq/spool/server/internal/browser"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/internal/describe"
	"github.com/spoolhq/spool/server/queue"
	"github.com/spoolhq/spool/server/stream"
	"github.com/spoolhq/spool/server/threads"
)

// Server is the HTTP surface of an engine. It is safe for concurrent use.
type Server struct {
	api   *rest.API
	queue *queue.Queue
	// absences may be about to stop runs.
	absences *aguiapi.Absences
	// streams have connections that an HTTP server does not know any more.
	streams *stream.Streams
	log     *slog.Logger
	// startDrain implements [Server.Drain]. stopJobs ends the work of all deliveries.
	startDrain, stopJobs context.CancelFunc
}

// New returns a server over e. It returns an [spool.Invalid] error that names the field for an invalid
// configuration, and for one without an Authenticator and without Insecure.
func New(e *engine.Engine, c Config) (*Server, error) {
	if e == nil {
		return nil, spool.Errorf(spool.Invalid, "engine is required")
	}
	drain, startDrain := context.WithCancel(context.Background())
	jobs, stopJobs := context.WithCancel(context.Background())
	checked, err := c.parts(jobs, e)
	if err != nil {
		startDrain()
		stopJobs()
		return nil, err
	}
	c, pages, callers := checked.config, checked.pages, checked.callers
	streams := stream.New(stream.Config{
		Engine: e, Log: c.Log, Timeout: c.WriteTimeout, Limit: c.Limits.OpenStreams, NoTakeover: c.NoStreamTakeover,
		Draining: drain, Artifact: threads.Controller{Base: c.PublicURL + c.BasePath}.ArtifactAddress,
	})
	deliveries := queue.New(queue.Config{
		Engine: e, Verifier: c.QueueVerifier, Concurrency: c.QueueConcurrency, Log: c.Log, Working: jobs,
		Refused: func(r *http.Request, err error) error { return callers.Failed(r, auth.FailedDelivery, err) },
	})
	absences := aguiapi.NewAbsences(drain, e, c.Log, c.DisconnectGrace)
	before := &front{config: c, auth: callers, pages: pages, streams: streams}
	before.api = rest.New(append(c.bodyRules(jobs),
		rest.Title("Spool"), rest.Version("1"), rest.About(describe.API), rest.AboutTags(describe.Groups),
		rest.BasePath(c.BasePath), rest.Servers(cmp.Or(c.PublicURL, "/")),
		rest.Errors(call.ErrorBodies{}), rest.MapError(call.MapError), rest.StrictSlashes(), rest.Logger(call.Log(c.Log)),
		rest.Use(before.middleware), rest.SchemaNames(bodies.Names()), describe.Comments(),
	)...)
	bodies.Document(before.api)
	before.api.Register(table{c, e, callers, deliveries, streams, absences, drain}, rest.Namespace(""))
	describe.Document(before.api, c.Loopback)
	describe.Agents(before.api, c.BasePath)
	describe.Chats(before.api, c.BasePath)
	return &Server{before.api, deliveries, absences, streams, c.Log, startDrain, stopJobs}, nil
}

// Check returns the error of [New] for the configuration, and makes no server: all routes would take longer.
func (c Config) Check() error {
	_, err := c.parts(context.Background(), nil)
	return err
}

// parts are the checked configuration with its defaults, and the parts that check the rest of it.
type parts struct {
	config  Config
	pages   *browser.Guard
	callers *auth.Auth
}

// parts returns the parts. The end of closing ends the work of the callers.
func (c Config) parts(closing context.Context, e *engine.Engine) (parts, error) {
	c.BasePath, c.PublicURL = strings.TrimRight(c.BasePath, "/"), strings.TrimRight(c.PublicURL, "/")
	if err := c.check(); err != nil {
		return parts{}, err
	}
	c = c.withDefaults()
	pages, err := browser.New(browser.Config{
		CORSAllowCredentials: c.CORSAllowCredentials, CORSAllowHeaders: c.CORSAllowHeaders,
		CORSExposeHeaders: c.CORSExposeHeaders, CORSOrigins: c.CORSOrigins, CookieAuth: c.CookieAuth, Loopback: c.Loopback,
		Open: c.Authenticator == nil, Log: c.Log,
	})
	if err != nil {
		return parts{}, err
	}
	callers, err := auth.New(auth.Config{
		Engine: e, Authenticator: c.Authenticator, CookieAuth: c.CookieAuth, FailedLogins: c.Limits.FailedLogins,
		TrustedProxies: c.TrustedProxies, TokenKeys: c.StreamTokenKeys, TokenTTL: c.StreamTokenTTL, Log: c.Log,
		Closing: closing,
	})
	return parts{c, pages, callers}, err
}

// Drain makes GET /readyz fail from now on. Requests are still answered until [Server.Shutdown], but none
// waits for the end of a run any more: waiting requests are answered at once.
func (s *Server) Drain() { s.startDrain() }

// Shutdown ends the work of queue deliveries, which hand back their jobs, and the event streams outside a
// handler (see [Config.NoStreamTakeover]), and waits for both. Later deliveries get a 503. If ctx ends first, it
// cuts the streams that are left, and returns ctx's error if a delivery is left. [engine.Engine.Close] ends
// all event streams.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	s.queue.Close()
	s.stopJobs()

	done := make(chan struct{})
	go func() {
		s.queue.Wait()
		s.absences.Wait()
		close(done)
	}()
	var failure error
	select {
	case <-done:
	case <-ctx.Done():
		failure = errors.Join(errors.New("wait for queue deliveries and stops"), ctx.Err())
	}
	if cut := s.streams.Close(ctx); cut > 0 {
		s.log.WarnContext(ctx, "event streams did not end in time and are cut off", "streams", cut)
	}
	return failure
}

// Close is [Server.Shutdown] without a time limit.
func (s *Server) Close() error { return s.Shutdown(context.Background()) }

// OpenAPI returns the document of the server's endpoints, OpenAPI 3.1 as JSON. It is the
// same for the same configuration.
func (s *Server) OpenAPI() ([]byte, error) { return s.api.OpenAPI() }

// ServeHTTP answers a request.
//
// It sets the request's Pattern to the path of the route, as a [http.ServeMux] does, for programs that
// measure requests.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) }

package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/browser"
	"github.com/spoolhq/spool/server/queue"
	"github.com/spoolhq/spool/server/stream"
)

// Server is the HTTP surface of an engine. It is safe for concurrent use.
type Server struct {
	engine  *engine.Engine
	config  Config
	auth    *auth.Auth
	pages   *browser.Guard
	api     *rest.API
	queue   *queue.Queue
	streams *stream.Streams

	// drain is ended by [Server.Drain], and jobs by Shutdown, with the work of all deliveries.
	drain, jobs          context.Context //nolint:containedctx // the lifetime of the server itself
	startDrain, stopJobs context.CancelFunc
}

// New returns a server over e. It returns an [spool.Invalid] error that names the field
// for a configuration that cannot work, and for one without an Authenticator that is not
// said to be Insecure.
func New(e *engine.Engine, c Config) (*Server, error) {
	if e == nil {
		return nil, spool.Errorf(spool.Invalid, "engine is required")
	}
	c.BasePath, c.PublicURL = strings.TrimRight(c.BasePath, "/"), strings.TrimRight(c.PublicURL, "/")
	if err := c.check(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	s := &Server{engine: e, config: c}
	s.drain, s.startDrain = context.WithCancel(context.Background())
	s.jobs, s.stopJobs = context.WithCancel(context.Background())
	var err error
	if s.pages, err = browser.New(browser.Config{
		CORSAllowCredentials: c.CORSAllowCredentials, CORSAllowHeaders: c.CORSAllowHeaders, CORSExposeHeaders: c.CORSExposeHeaders,
		CORSOrigins: c.CORSOrigins, CookieAuth: c.CookieAuth, Loopback: c.Loopback, Open: c.Authenticator == nil, Log: c.Log,
	}); err != nil {
		return nil, err
	}
	if s.auth, err = auth.New(auth.Config{
		Engine: e, Authenticator: c.Authenticator, CookieAuth: c.CookieAuth, FailedLogins: c.Limits.FailedLogins,
		TrustedProxies: c.TrustedProxies, TokenKeys: c.StreamTokenKeys, TokenTTL: c.StreamTokenTTL, Log: c.Log, Closing: s.jobs,
	}); err != nil {
		return nil, err
	}
	s.streams = stream.New(stream.Config{
		Engine: e, Log: c.Log, Timeout: c.WriteTimeout, Limit: c.Limits.OpenStreams, Draining: s.drain,
	})
	s.queue = queue.New(queue.Config{
		Engine: e, Verifier: c.QueueVerifier, Concurrency: c.QueueConcurrency, Log: c.Log, Working: s.jobs,
		Refused: func(r *http.Request, err error) error { return s.auth.Failed(r, auth.FailedDelivery, err) },
	})
	s.api = s.newAPI()
	return s, nil
}

// Drain has GET /readyz say from now on that requests should go elsewhere. Those that come
// all the same are answered as before, until [Server.Shutdown], but none waits any more for the
// end of a run: those that do are answered at once.
func (s *Server) Drain() { s.startDrain() }

// Shutdown ends the work of queue deliveries and waits for it: their runs hand back
// their jobs. Deliveries that come later are refused with 503. It returns the error of
// ctx when that ends first. Event streams are ended by [engine.Engine.Close].
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	s.queue.Close()
	s.stopJobs()

	done := make(chan struct{})
	go func() {
		s.queue.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.Join(errors.New("wait for queue deliveries"), ctx.Err())
	}
}

// Close is [Server.Shutdown] without a bound.
func (s *Server) Close() error { return s.Shutdown(context.Background()) }

// OpenAPI returns the document of the server's endpoints, OpenAPI 3.1 as JSON. It is the
// same for the same configuration.
func (s *Server) OpenAPI() ([]byte, error) { return s.api.OpenAPI() }

// ServeHTTP answers a request.
//
// It sets the request's Pattern to the path of the route, as a [http.ServeMux] does, for
// those who measure requests.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) }

package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/signin"
)

// What this client calls itself.
const (
	clientName    = "spool"
	clientVersion = "1"
)

// The revision that asks questions by results, and the last one that asks in the middle of a call.
const (
	revision       = "2026-07-28"
	legacyRevision = "2025-11-25"
)

// Server is an MCP server, with one connection that all agents share. It is safe for concurrent use.
type Server struct {
	config Config
	http   *http.Client // nil for a Command
	// secrets are the texts that clean removes, besides the access tokens.
	secrets []string
	tokens  tokens // nil: requests have no access tokens
	people  people

	dialing chan struct{} // held while a connection is made
	mu      sync.Mutex
	session *sdk.ClientSession // nil: there is no connection
	legacy  bool               // the server has not understood the present revision
	closed  bool
	uses    map[*sdk.ClientSession]*use
	open    []*openCall   // in the order in which they began
	changed chan struct{} // closed at a change of open or of its calls. Nil: nobody waits
	// unclaimed counts the questions of a connection whose calls are not known yet.
	unclaimed map[*sdk.ClientSession]int

	listing chan struct{} // held while the tools are listed
	listed  cachedList

	requests atomic.Int64 // counts the requests that are made without the SDK
}

// Name returns the name of the configuration.
func (s *Server) Name() string { return s.config.Name }

// Close ends the connection. Calls under way fail, and so do later ones.
func (s *Server) Close() error {
	s.mu.Lock()
	session := s.session
	s.session, s.closed = nil, true
	retired, open := slices.Collect(maps.Keys(s.uses)), slices.Clone(s.open)
	s.mu.Unlock()
	for _, o := range open {
		if o.expiry != nil { // its call has asked, and nobody waits in it
			s.leave(o)
		}
	}
	s.people.close()
	for _, old := range retired { // with calls under way
		if old != session {
			_ = old.Close()
		}
	}
	if session != nil {
		_ = session.Close() // nobody needs the server's answer
	}
	if s.http != nil {
		s.http.CloseIdleConnections()
	}
	return nil
}

var (
	errClosed     = errors.New("the client of the MCP server is closed")
	errNoRevision = errors.New("the server could not be asked which revision it speaks")
	// errSlow is a connection or a list that has taken longer than ConnectTimeout.
	errSlow = errors.New("connect_timeout has passed")
)

// connect returns the connection. It makes one if there is none.
func (s *Server) connect(ctx context.Context) (*sdk.ClientSession, error) {
	select {
	case s.dialing <- struct{}{}:
		defer func() { <-s.dialing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	session, legacy, closed := s.session, s.legacy, s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return nil, errClosed
	case session != nil:
		return session, nil
	}
	probed, broken := withProbe(ctx)
	asked := cmp.Or(s.config.Revision, revision)
	if legacy && s.config.Revision == "" {
		asked = legacyRevision
	}
	session, err := s.dial(probed, asked)
	if err != nil {
		return nil, err
	}
	speaks := session.InitializeResult().ProtocolVersion
	switch {
	case asked < revision || speaks >= revision:
	case broken.Load(): // the SDK takes every error for the answer of an older server
		_ = session.Close()
		return nil, errNoRevision
	case s.config.Revision != "":
		_ = session.Close()
		return nil, fmt.Errorf("the server speaks revision %s, and not %s as configured", cut(speaks, maxErrorText),
			s.config.Revision)
	default:
		legacy = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = session.Close()
		return nil, errClosed
	}
	s.session, s.legacy = session, legacy
	return session, nil
}

// dial makes a connection, and asks the server for a revision. The connection outlives ctx.
func (s *Server) dial(ctx context.Context, asked string) (*sdk.ClientSession, error) {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.ConnectTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	client := sdk.NewClient(&sdk.Implementation{Name: clientName, Version: clientVersion}, &sdk.ClientOptions{
		Capabilities:   capabilities(asked >= revision && s.http != nil && !s.config.NoTasks),
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	client.AddReceivingMiddleware(s.questions)
	client.AddSendingMiddleware(withoutTasks, withoutResults)
	session, err := client.Connect(lasting, s.transport(), &sdk.ClientSessionOptions{ProtocolVersion: asked})
	if err != nil && errors.Is(lasting.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", errSlow, err)
	}
	return session, err
}

// withoutTasks is the middleware of a client that offers tasks to servers of the present revision only.
func withoutTasks(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if params, ok := r.GetParams().(*sdk.InitializeParams); ok && params.Capabilities != nil {
			params.Capabilities.Extensions = nil
		}
		return next(ctx, method, r)
	}
}

// capabilities returns what this client offers to a server.
func capabilities(tasks bool) *sdk.ClientCapabilities {
	c := &sdk.ClientCapabilities{
		Elicitation: &sdk.ElicitationCapabilities{
			Form: &sdk.FormElicitationCapabilities{},
			URL:  &sdk.URLElicitationCapabilities{},
		},
	}
	if tasks {
		c.AddExtension(tasksExtension, nil)
	}
	return c
}

func (s *Server) transport() sdk.Transport {
	if s.http != nil {
		return &sdk.StreamableClientTransport{
			Endpoint: s.config.URL, HTTPClient: s.http, MaxRetries: -1, MaxEventSize: maxMessage,
		}
	}
	command := exec.Command(s.config.Command[0], s.config.Command[1:]...) //nolint:gosec,noctx // the operator configured it, and it outlives the call
	command.Dir = s.config.Dir
	command.Env = []string{} // nil would be all variables of this process, with its keys
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	for name, value := range s.config.Env {
		command.Env = append(command.Env, name+"="+value)
	}
	slices.Sort(command.Env)
	command.Stderr = &logWriter{log: s.config.Log, server: s.config.Name, clean: s.clean}
	return &childTransport{command: command, grace: 2 * time.Second}
}

// drop forgets a connection that has failed, so that the next call makes a new one.
func (s *Server) drop(session *sdk.ClientSession) {
	s.mu.Lock()
	if s.session == session {
		s.session = nil
	}
	s.mu.Unlock()
	go func() { _ = session.Close() }() // it waits for a child process
}

// unreachable returns the error of a server that has not got a request.
func (s *Server) unreachable(err error) error {
	if needed, ok := errors.AsType[*signin.NeededError](err); ok {
		return needed
	}
	if known, ok := errors.AsType[*spool.Error](err); ok { // the egress policy, or no access token
		out := &spool.Error{Code: known.Code, Message: "MCP server " + s.config.Name + ": " + known.Message}
		if known.Err != nil {
			out.Err = s.cause(known.Err)
		}
		return out
	}
	message := "MCP server " + s.config.Name + " cannot be reached"
	if unread, ok := errors.AsType[*unreadableError](err); ok {
		message = "MCP server " + s.config.Name + " has a list that cannot be read: " +
			cut(s.clean(unread.reason), maxErrorText)
	} else if errors.Is(err, errSlow) {
		message = "MCP server " + s.config.Name + " was not ready within its connect_timeout of " +
			s.config.ConnectTimeout.String()
	}
	return &spool.Error{Code: spool.Unavailable, Message: message, Err: s.cause(err)}
}

package mcp

import (
	"context"
	"errors"
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

// The revision that asks questions by results, and the last one that does not.
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
	retired := slices.Collect(maps.Keys(s.uses))
	s.mu.Unlock()
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
	session, err := s.dial(probed, legacy)
	older := err == nil && !legacy && session.InitializeResult().ProtocolVersion < revision
	switch {
	case older && broken.Load(): // the SDK takes every error for the answer of an older server
		_ = session.Close()
		return nil, errNoRevision
	case older:
		// An older revision asks in the middle of a call, which cannot wait for a person. The server must not
		// believe that this client answers questions.
		_ = session.Close()
		legacy = true
		session, err = s.dial(ctx, legacy)
	}
	if err != nil {
		return nil, err
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

// dial makes a connection. The connection outlives ctx.
func (s *Server) dial(ctx context.Context, legacy bool) (*sdk.ClientSession, error) {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.ConnectTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	offered, asked := &sdk.ClientCapabilities{}, legacyRevision
	if !legacy {
		offered, asked = capabilities(s.http != nil && !s.config.NoTasks), revision
	}
	client := sdk.NewClient(&sdk.Implementation{Name: clientName, Version: clientVersion}, &sdk.ClientOptions{
		Capabilities: offered, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	return client.Connect(lasting, s.transport(), &sdk.ClientSessionOptions{ProtocolVersion: asked})
}

// capabilities returns what this client offers to a server of the present revision.
func capabilities(tasks bool) *sdk.ClientCapabilities {
	c := &sdk.ClientCapabilities{
		Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}},
	}
	if tasks {
		c.AddExtension(tasksExtension, nil)
	}
	return c
}

func (s *Server) transport() sdk.Transport {
	if s.http != nil {
		return &sdk.StreamableClientTransport{
			Endpoint: s.config.URL, HTTPClient: s.http, DisableStandaloneSSE: true, MaxRetries: -1, MaxEventSize: maxMessage,
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
	return &sdk.CommandTransport{Command: command, TerminateDuration: 2 * time.Second}
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
	return &spool.Error{Code: spool.Unavailable, Message: "MCP server " + s.config.Name + " cannot be reached", Err: s.cause(err)}
}

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/signin"
)

// maxPeople bounds how many connections of people are kept that nobody uses, and idlePerson for how long.
const (
	maxPeople  = 256
	idlePerson = 15 * time.Minute
)

// people are the connections of people to a server. Each has its own tokens and session, so that no call of a person
// can use those of another.
type people struct {
	transport http.RoundTripper // nil: nobody signs in to the server

	mu     sync.Mutex
	known  map[signin.Owner]*person
	closed bool
}

type person struct {
	server *Server
	users  int
	used   time.Time
}

// nobody has no token: the server has tokens of people only.
type nobody struct{}

func (nobody) Token(context.Context) (string, error) {
	return "", spool.Errorf(spool.Unauthorized, "people sign in to it, and nobody is known here who could have")
}

func (nobody) Refused(string) {}

func (nobody) Seen() []string { return nil }

// person returns the server as an owner uses it, until release is called.
func (s *Server) person(o signin.Owner) (own *Server, release func()) {
	p := &s.people
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.known[o]
	if known == nil {
		t := s.config.Auth.SignIns.book.Tokens(o)
		known = &person{server: &Server{
			config: s.config, secrets: s.secrets, tokens: t, http: newHTTPClient(p.transport, s.config.Headers, t),
			dialing: make(chan struct{}, 1), listing: make(chan struct{}, 1), closed: p.closed,
		}}
		if p.known == nil {
			p.known = make(map[signin.Owner]*person)
		}
		p.known[o] = known
	}
	known.users++
	known.used = time.Now()
	p.forget()
	return known.server, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		known.users--
		known.used = time.Now()
	}
}

// forget closes connections that nobody has used lately, and the oldest ones if there are too many. The caller holds
// mu.
func (p *people) forget() {
	for {
		var oldest signin.Owner
		var found *person
		for o, known := range p.known {
			if known.users == 0 && !known.server.waitsForAnswers() && (found == nil || known.used.Before(found.used)) {
				oldest, found = o, known
			}
		}
		if found == nil || len(p.known) <= maxPeople && time.Since(found.used) < idlePerson {
			return
		}
		delete(p.known, oldest)
		go func() { _ = found.server.Close() }() // it may wait for the server
	}
}

// close ends all connections.
func (p *people) close() {
	p.mu.Lock()
	known := p.known
	p.known, p.closed = nil, true
	p.mu.Unlock()
	for _, one := range known {
		_ = one.server.Close()
	}
}

// owner returns whose token a call uses.
func (s *Server) owner(tenant spool.Tenant, subject string) signin.Owner {
	return signin.Owner{Tenant: tenant, Subject: subject, Server: s.config.Name}
}

// as calls fn with the server as the subject of a call uses it. If the subject has to sign in, the call parks.
func (s *Server) as(
	tool string, call spool.ToolCall, fn func(*Server, spool.ToolCall) (json.RawMessage, error),
) (json.RawMessage, error) {
	if s.people.transport == nil {
		return fn(s, call)
	}
	call, err := s.signedIn(call)
	if err != nil {
		return nil, err
	}
	own, release := s.person(s.owner(call.Thread.Tenant, call.Subject))
	defer release()
	result, err := fn(own, call)
	if needed, ok := errors.AsType[*signin.NeededError](err); ok {
		return nil, s.askSignIn(tool, call, needed)
	}
	return result, err
}

// cancelAs cancels a task with the server as the subject of a call uses it.
func (s *Server) cancelAs(ctx context.Context, call spool.ToolCall) error {
	if s.people.transport == nil {
		return s.cancel(ctx, call)
	}
	own, release := s.person(s.owner(call.Thread.Tenant, call.Subject))
	defer release()
	return own.cancel(ctx, call)
}

// interrupted is what a call keeps of an answer to a question of the server, if the subject had to sign in after it.
type interrupted struct {
	Resume json.RawMessage `json:"resume,omitempty"`
	Answer *spool.Answer   `json:"answer,omitempty"`
}

// askSignIn returns the park for a subject who has to sign in.
func (s *Server) askSignIn(tool string, call spool.ToolCall, needed *signin.NeededError) error {
	message := "Sign in to " + s.config.Name + ", then approve."
	if needed.Unreadable {
		message = "The stored sign-in cannot be read with the configured keys. Sign in to " + s.config.Name +
			" again, then approve."
	}
	payload := struct {
		Server string `json:"server"`
		Tool   string `json:"tool"`
		question
	}{s.config.Name, tool, question{Mode: modeURL, Message: message, URL: needed.Link}}
	resume, err := json.Marshal(kept{SignIn: &interrupted{call.Resume, call.Answer}})
	if err != nil {
		return spool.Wrap(spool.Internal, "encode the state of a call", err)
	}
	return &spool.ParkRequest{Reason: ParkElicitation, Payload: payload, Resume: resume}
}

// signedIn returns a call as it was before its subject had to sign in. It returns an error if that was denied or has
// expired. An approval alone proves nothing: the call needs a token.
func (s *Server) signedIn(call spool.ToolCall) (spool.ToolCall, error) {
	if call.Resume == nil {
		return call, nil
	}
	var keep kept
	if err := json.Unmarshal(call.Resume, &keep); err != nil {
		return call, spool.Wrap(spool.Internal, "read the state of a call", err)
	}
	switch {
	case keep.SignIn == nil:
		return call, nil
	case call.Answer == nil:
		return call, spool.Errorf(spool.Unauthorized, "nobody signed in to MCP server %s in time", s.config.Name)
	case !call.Answer.Approved:
		return call, spool.Errorf(spool.Unauthorized, "the person does not want to sign in to MCP server %s", s.config.Name)
	}
	call.Resume, call.Answer = keep.SignIn.Resume, keep.SignIn.Answer
	return call, nil
}

// signInName is the server's name of the tool of a list with SignIn.
const signInName = "sign_in"

// signInTool returns the tool with which a subject signs in before the tools of the server are known.
func (c *source) signInTool() spool.Tool {
	name := c.server.config.Name
	t := spool.Tool{
		ToolSpec: spool.ToolSpec{
			Name: localName(c.selection.Prefix, signInName),
			Description: "Lets the person sign in to " + name + ". The tools of " + name +
				" are there from the next message on.",
		},
		Access: c.selection.Access, Expiry: c.selection.Expiry, Idempotent: true,
	}
	t.Call = func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
		return c.server.as(signInName, call, func(s *Server, _ spool.ToolCall) (json.RawMessage, error) {
			if _, err := s.tokens.Token(ctx); err != nil {
				return nil, s.unreachable(err)
			}
			return json.Marshal("The person has signed in to " + name + ". Its tools are there from the next message on.")
		})
	}
	return t
}

// listFor returns the tools that a subject gets. If the subject has not signed in, or there is no subject, these are
// the ones that somebody of the tenant got last.
func (s *Server) listFor(ctx context.Context, tenant spool.Tenant, subject string) (*List, error) {
	if s.people.transport == nil || tenant == "" {
		return s.List(ctx)
	}
	o, signIns := s.owner(tenant, subject), s.config.Auth.SignIns
	if signIns.book.Check(o) != nil {
		return signIns.lastList(ctx, tenant, s.config.Name)
	}
	own, release := s.person(o)
	defer release()
	list, err := own.List(ctx)
	if _, ok := errors.AsType[*signin.NeededError](err); ok {
		return signIns.lastList(ctx, tenant, s.config.Name)
	}
	if err == nil {
		err = signIns.noteList(ctx, tenant, s.config.Name, list)
	}
	return list, err
}

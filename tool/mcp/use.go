package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK keeps each page of a list by its cursor until its session ends. A server that makes new cursors for each
// list would fill the memory, so a session ends after so many further pages, or bytes in them.
const (
	maxSessionPages = 256
	maxSessionBytes = 32 << 20
)

// use is what Server knows of a session that somebody uses or that has pages.
type use struct {
	users int
	pages int
	bytes int
	// retired is true if nobody else gets the session. Its last user closes it.
	retired bool
}

// acquire returns the connection. It stays open until release is called, unless it fails.
func (s *Server) acquire(ctx context.Context) (session *sdk.ClientSession, release func(), err error) {
	for {
		session, err := s.connect(ctx)
		if err != nil {
			return nil, nil, err
		}
		s.mu.Lock()
		current := s.session == session
		if current {
			s.useOf(session).users++
		}
		s.mu.Unlock()
		if current {
			return session, func() { s.release(session) }, nil
		}
	}
}

// useOf returns the use of a session. The caller holds mu.
func (s *Server) useOf(session *sdk.ClientSession) *use {
	u := s.uses[session]
	if u == nil {
		if s.uses == nil {
			s.uses = make(map[*sdk.ClientSession]*use)
		}
		u = new(use)
		s.uses[session] = u
	}
	return u
}

func (s *Server) release(session *sdk.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.useOf(session)
	u.users--
	if u.users > 0 || s.session == session {
		return
	}
	delete(s.uses, session)
	if u.retired {
		go func() { _ = session.Close() }() // it waits for a child process
	}
}

// countPage counts a page of a list that is not the first, whose cursor is always the same.
func (s *Server) countPage(session *sdk.ClientSession, page *sdk.ListToolsResult) {
	text, err := json.Marshal(page)
	if err != nil {
		text = nil
	}
	s.count(session, 1, len(text))
}

// count counts what the SDK keeps until a session ends. It retires the session after too much. The caller has
// acquired the session.
func (s *Server) count(session *sdk.ClientSession, pages, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.useOf(session)
	u.pages += pages
	u.bytes += bytes
	if u.pages < maxSessionPages && u.bytes < maxSessionBytes || u.retired {
		return
	}
	u.retired = true
	if s.session == session {
		s.session = nil
	}
	s.config.Log.Warn("MCP server has filled a connection with pages of lists; the next call makes a new connection",
		"server", s.config.Name, "pages", u.pages, "bytes", u.bytes)
}

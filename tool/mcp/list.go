package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool/internal/argschema"
)

// maxTTL bounds how long a list is used, whatever the server says.
const maxTTL = 24 * time.Hour

const (
	// maxPages bounds the pages of a list.
	maxPages = 64
	// maxList bounds the names, descriptions and schemas of a list together, in bytes.
	maxList = 2 << 20
)

// List is what a server offers. Its JSON is stored, so the names of its fields must not change.
type List struct {
	// Tools are sorted by name.
	Tools []ListedTool `json:"tools"`
	// Resources and Prompts say that the server offers them, and that the configuration asks for them.
	Resources bool `json:"resources,omitempty"`
	Prompts   bool `json:"prompts,omitempty"`
	// SignIn says that the tools are not known, because nobody of the tenant has signed in. The list has none.
	SignIn bool `json:"signIn,omitempty"`
}

// ListedTool is a tool as its server describes it. Everything in it comes from the server.
type ListedTool struct {
	// Name is the server's name of the tool.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Schema is the JSON Schema of the arguments.
	Schema json.RawMessage `json:"schema"`
	// ReadOnly, Destructive and Idempotent are the server's hints. They are false for a tool without annotations.
	// A tool with annotations that call it neither destructive nor read-only is destructive.
	ReadOnly    bool `json:"readOnly,omitempty"`
	Destructive bool `json:"destructive,omitempty"`
	Idempotent  bool `json:"idempotent,omitempty"`
}

type cachedList struct {
	list  *List
	until time.Time
}

// List returns the tools that the server offers now, or that it offered within the time for which it said that
// the list is valid. The errors name the server.
func (s *Server) List(ctx context.Context) (*List, error) {
	select {
	case s.listing <- struct{}{}:
		defer func() { <-s.listing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.listed.list != nil && time.Now().Before(s.listed.until) {
		return s.listed.list, nil
	}
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, 2*s.config.ConnectTimeout)
	defer cancel()
	began := time.Now()
	var tools []ListedTool
	var ttl time.Duration
	var can *sdk.ServerCapabilities
	err := s.onSession(ctx, func(session *sdk.ClientSession) (err error) {
		room := maxList
		tools, can = nil, session.InitializeResult().Capabilities
		ttl, err = s.listPages(ctx, session, func(page []*sdk.Tool) bool {
			tools = append(tools, s.within(page, &room)...)
			return room >= 0
		})
		return err
	})
	if err != nil {
		if parent.Err() != nil {
			return nil, parent.Err()
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("%w: %w", errSlow, err)
		}
		return nil, s.unreachable(err)
	}
	list := s.listOf(tools)
	s.offers(list, can)
	s.listed = cachedList{list: list, until: began.Add(min(ttl, maxTTL))}
	return s.listed.list, nil
}

// onSession calls fn, which may be repeated, with the connection. If the connection has failed, it calls fn once
// more with a new one.
func (s *Server) onSession(ctx context.Context, fn func(*sdk.ClientSession) error) error {
	for attempt := 1; ; attempt++ {
		session, release, err := s.acquire(ctx)
		if err != nil {
			return err
		}
		err = fn(session)
		release()
		if err == nil {
			return nil
		}
		_, unread := errors.AsType[*unreadableError](err)
		answered := unread || isReply(err)
		if !answered {
			s.drop(session)
		}
		if attempt == 2 || answered || ctx.Err() != nil {
			return err
		}
	}
}

// listPages reads the pages until use returns false. The list is valid for the shortest time of a page.
func (s *Server) listPages(
	ctx context.Context, session *sdk.ClientSession, use func([]*sdk.Tool) bool,
) (ttl time.Duration, err error) {
	params := &sdk.ListToolsParams{}
	for page := range maxPages {
		seen, caught := withCatch(ctx)
		result, err := session.ListTools(seen, params)
		if err != nil {
			if answer, broken := caught.answered(err); broken != nil {
				err = broken
			} else if answer != nil {
				err = unreadableAnswer("%v", err)
			}
			return 0, err
		}
		if page > 0 {
			s.countPage(session, result)
		}
		valid := time.Duration(max(0, min(result.TTLMs, int(maxTTL/time.Millisecond)))) * time.Millisecond
		if page == 0 || valid < ttl {
			ttl = valid
		}
		if !use(result.Tools) || result.NextCursor == "" || result.NextCursor == params.Cursor {
			break
		}
		params = &sdk.ListToolsParams{Cursor: result.NextCursor}
	}
	return ttl, nil
}

// within returns the tools of a page that can be used, and takes their size from room. It ends before the first
// tool for which there is no room.
func (s *Server) within(page []*sdk.Tool, room *int) []ListedTool {
	tools := make([]ListedTool, 0, len(page))
	for _, t := range page {
		schema, err := json.Marshal(t.InputSchema)
		if *room -= len(t.Name) + min(len(t.Description), maxDescription) + len(schema); *room < 0 {
			s.config.Log.Warn("MCP server offers a list that is too large; the rest is left out", "server", s.config.Name,
				"bytes", maxList)
			return tools
		}
		if s.http != nil && !fitsHeader(t.Name) {
			s.config.Log.Warn("MCP server offers a tool whose name cannot be sent in a header", "server", s.config.Name, "tool",
				cut(t.Name, 100))
			continue
		}
		schema = s.cleanBytes(schema)
		if err == nil && len(schema) <= maxSchema {
			_, err = argschema.Foreign(schema)
		}
		if err != nil || len(schema) > maxSchema || t.Name == "" {
			s.config.Log.Warn("MCP server offers a tool whose schema cannot be used", "server", s.config.Name, "tool",
				cut(t.Name, 100), "bytes", len(schema), "error", err)
			continue
		}
		listed := ListedTool{
			Name: t.Name, Description: cut(s.clean(cmp.Or(t.Description, t.Title)), maxDescription), Schema: schema,
		}
		if a := t.Annotations; a != nil {
			listed.ReadOnly, listed.Idempotent = a.ReadOnlyHint, a.IdempotentHint
			// Without the hint, a tool that is not read-only counts as destructive, as the protocol says.
			listed.Destructive = a.DestructiveHint != nil && *a.DestructiveHint || a.DestructiveHint == nil && !a.ReadOnlyHint
		}
		tools = append(tools, listed)
	}
	return tools
}

// fitsHeader reports whether a name can be sent in the header Mcp-Name, as the SDK does it.
func fitsHeader(name string) bool {
	return strings.TrimSpace(name) == name && !strings.ContainsFunc(name, unicode.IsControl)
}

// listOf returns the list of a server's tools, within its number.
func (s *Server) listOf(tools []ListedTool) *List {
	list := &List{Tools: append([]ListedTool{}, tools...)}
	slices.SortStableFunc(list.Tools, func(a, b ListedTool) int { return cmp.Compare(a.Name, b.Name) })
	list.Tools = slices.CompactFunc(list.Tools, func(a, b ListedTool) bool { return a.Name == b.Name })
	if over := len(list.Tools) - s.config.MaxTools; over > 0 {
		s.config.Log.Warn("MCP server offers too many tools", "server", s.config.Name, "left out", over)
		list.Tools = list.Tools[:s.config.MaxTools]
	}
	return list
}

// cut returns at most n bytes of a text, as valid UTF-8.
func cut(text string, n int) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

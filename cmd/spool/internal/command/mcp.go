package command

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/tool/mcp"
)

// mcpServers are the MCP servers of a configuration, by name.
type mcpServers map[string]mcpServer

type mcpServer struct {
	config.MCP

	server *mcp.Server
	// as is who uses it at a terminal.
	as owner
}

// openMCP makes the clients of MCP servers. It uses no network.
func (s *setup) openMCP(configured []config.MCP, egress egress.Policy, log *slog.Logger) (mcpServers, []error) {
	servers, problems := make(mcpServers, len(configured)), []error(nil)
	for _, c := range configured {
		server, err := newMCP(c, egress, s.signIns, log)
		if err != nil {
			problems = append(problems, c.Errorf("%s", spool.MessageOf(err)))
			continue
		}
		servers[c.Name] = mcpServer{MCP: c, server: server}
		s.mcp = append(s.mcp, server)
		if c.SignsIn() {
			s.people = append(s.people, c.Name)
		}
	}
	return servers, problems
}

// missingPrograms returns an error for each required MCP server whose program is not there: the runs of its agents
// would not begin. A process that only serves the API starts none.
func missingPrograms(servers []config.MCP, role string) (err error) {
	for _, c := range servers {
		if len(c.Command) == 0 || c.Optional || role == roleAPI {
			continue
		}
		name := c.Command[0]
		if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
			name = filepath.Join(c.Dir, name)
		}
		if _, missing := exec.LookPath(name); missing != nil {
			err = errors.Join(err, c.Errorf("there is no program %q here; optional: true allows that", c.Command[0]))
		}
	}
	return err
}

// newMCP makes the client of an MCP server. The sign-ins are for one to which people sign in.
func newMCP(c config.MCP, egress egress.Policy, signIns *mcp.SignIns, log *slog.Logger) (*mcp.Server, error) {
	var auth *mcp.Auth
	if a := c.Auth; a != nil {
		auth = &mcp.Auth{
			Type: mcp.AuthType(a.Type), Issuer: a.Issuer, ClientID: a.ClientID, ClientSecret: a.ClientSecret,
			Method: mcp.AuthMethod(a.Method), Resource: a.Resource, Scopes: a.Scopes,
		}
		if c.SignsIn() {
			auth.SignIns = signIns
		}
	}
	return mcp.New(mcp.Config{
		Name: c.Name, URL: c.URL, Headers: c.Headers, Auth: auth, Command: c.Command, Dir: c.Dir, Env: c.Env, Egress: egress,
		Log: log, Optional: c.Optional, Timeout: c.Timeout, ConnectTimeout: c.ConnectTimeout, NoTasks: c.NoTasks,
		TaskTimeout: c.TaskTimeout, MaxResultBytes: c.MaxResultBytes, Revision: c.Revision, Resources: c.Resources,
		Prompts: c.Prompts,
	})
}

// sources returns the tool sources of an agent or a subagent.
func (m mcpServers) sources(chosen []config.AgentMCP) (sources []spool.ToolSource, err error) {
	for _, a := range chosen {
		s, ok := m[a.Server]
		if !ok { // its own problem is reported
			continue
		}
		source, wrong := s.server.Tools(s.selection(a.Allow))
		if wrong != nil {
			err = errors.Join(err, a.Errorf("%s", spool.MessageOf(wrong)))
			continue
		}
		sources = append(sources, source)
	}
	return sources, err
}

func (s mcpServer) selection(allow []string) mcp.Selection {
	if len(allow) == 0 {
		allow = s.Allow
	}
	return mcp.Selection{
		Allow: allow, Access: s.Access, Approval: mcp.Approval(s.Approval), Approve: s.Approve, Idempotent: s.Idempotent,
		Polling: s.Polling, Prefix: s.Prefix, Expiry: s.Expiry, DistinctApprover: s.DistinctApprover, Search: s.Search,
	}
}

// describeMCP returns the names of the MCP servers, empty for none.
func (s *setup) describeMCP() string {
	names := make([]string, len(s.mcp))
	for i, server := range s.mcp {
		names[i] = server.Name()
		if slices.Contains(s.people, server.Name()) {
			names[i] += " (people sign in)"
		}
	}
	return strings.Join(names, ", ")
}

// tryMCP lists the tools of the MCP servers in the background, so that the log says which ones are down. It
// returns a function that ends it.
func (s *setup) tryMCP(ctx context.Context, log *slog.Logger) func() {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, server := range s.mcp {
		if slices.Contains(s.people, server.Name()) { // nobody has a token for this
			continue
		}
		all.Go(func() {
			list, err := server.List(ctx)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				log.Warn("MCP server is down: runs of its agents are tried again, and begin once it is up", "server", server.Name(),
					"error", spool.MessageOf(err), "cause", err)
			default:
				log.Info("MCP server is up", "server", server.Name(), "tools", len(list.Tools))
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// closeAll closes all side by side, and waits for limit at most: a child process may take seconds to end.
func closeAll[C io.Closer](closers []C, limit time.Duration) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		var all sync.WaitGroup
		for _, c := range closers {
			all.Go(func() { _ = c.Close() }) // there is no error that matters at the end
		}
		all.Wait()
	}()
	select {
	case <-closed:
	case <-time.After(limit):
	}
}

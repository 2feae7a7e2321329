package command

import (
	"cmp"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/server/signin"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool/mcp"
)

// lateStore is a store that is opened after those who use it were made.
type lateStore struct{ store.Store }

// openSignIns makes what people sign in with, if there is an MCP server for it. The store has to be set before anybody
// signs in.
func (s *setup) openSignIns(c *config.Config, o options) error {
	i := slices.IndexFunc(c.MCP, config.MCP.SignsIn)
	if i < 0 {
		return nil
	}
	at := signInURL(c, o)
	switch {
	case at == "":
		return c.MCP[i].Auth.Errorf("needs server.public_url or sign_in.url: browsers come back there from the authorization server")
	case !config.SignInURL(at):
		return c.MCP[i].Auth.Errorf("needs a server.public_url with https, or sign_in.url; http is for loopback hosts")
	}
	s.store, s.signInAt = &lateStore{}, "at "+at
	var err error
	s.signIns, err = mcp.NewSignIns(mcp.SignInConfig{
		Store: s.store, Keys: c.SignIn.Keys, URL: at, Anonymous: !hasSubjects(c.Tokens), Log: o.logger(os.Stderr),
	})
	if err != nil {
		return c.SignIn.Errorf("%s", spool.MessageOf(err))
	}
	return nil
}

// hasSubjects reports whether callers have subjects. Otherwise all callers of a tenant are the same.
func hasSubjects(tokens []config.Token) bool {
	return slices.ContainsFunc(tokens, func(t config.Token) bool { return t.Subject != "" })
}

// signInURL returns where browsers reach the pages of sign-ins, or "" if nobody can tell. A server that only this
// machine reaches is at the address where it listens.
func signInURL(c *config.Config, o options) string {
	if c.SignIn.URL != "" {
		return c.SignIn.URL
	}
	root := c.PublicURL
	if _, port, err := net.SplitHostPort(o.listen); root == "" && err == nil && port != "0" && o.loopback() {
		root = "http://" + o.listen
	}
	if root == "" {
		return ""
	}
	return root + strings.TrimRight(cmp.Or(o.base, c.BasePath), "/") + signin.Path
}

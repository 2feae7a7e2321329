package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/server/signin"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool/mcp"
)

// terminalDatabase has the sign-ins of a terminal. It is not the database of a server, which has its own to itself.
const terminalDatabase = "mcp-sign-ins.db"

// terminalURL stands for the pages of a terminal that nobody signs in at.
const terminalURL = "http://127.0.0.1"

// owner is whose sign-in it is.
type owner struct {
	tenant  spool.Tenant
	subject string
}

// terminal has the sign-ins of the person at a terminal.
type terminal struct {
	data, database, listen string
	tenant, subject        string
	// close closes the database, if it is open.
	close func()
}

// terminalFlags adds the flags of sign-ins.
func terminalFlags(fs *flag.FlagSet, h host) *terminal {
	t := &terminal{data: "./spool-data", close: func() {}}
	if set, _ := h.lookup("SPOOL_DATA"); set != "" {
		t.data = set
	}
	t.database, _ = h.lookup("SPOOL_DATABASE")
	fs.StringVar(&t.data, "data", t.data, "")
	fs.StringVar(&t.database, "database", t.database, "")
	fs.StringVar(&t.listen, "listen", "127.0.0.1:0", "")
	fs.StringVar(&t.tenant, "tenant", string(spool.DefaultTenant), "")
	fs.StringVar(&t.subject, "subject", "", "")
	return t
}

func (t *terminal) owner() owner { return owner{spool.Tenant(t.tenant), t.subject} }

// open opens the database of the sign-ins. It returns where that is.
func (t *terminal) open(ctx context.Context) (store.Store, string, error) {
	if err := spool.CheckID("--tenant", t.tenant); err != nil {
		return nil, "", usagef("%s", spool.MessageOf(err))
	}
	if t.database != "" {
		const connections, timeout = 4, 15 * time.Second
		d := database{url: t.database, connections: connections, timeout: timeout, keepSchema: true}
		if err := d.check(); err != nil {
			return nil, "", err
		}
		db, err := postgres.Open(ctx, d.url, d.options(slog.New(slog.DiscardHandler)))
		if err != nil {
			return nil, "", fmt.Errorf("open the database %s: %w", d.shown(), err)
		}
		t.close = func() { _ = db.Close() }
		return db, d.shown(), nil
	}
	if err := os.MkdirAll(t.data, 0o700); err != nil {
		return nil, "", fmt.Errorf("make the data folder: %w", err)
	}
	path := filepath.Join(t.data, terminalDatabase)
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return nil, "", fmt.Errorf("open the sign-ins of this terminal: %w", err)
	}
	t.close = func() { _ = db.Close() }
	return db, path, nil
}

// known returns a server of the configuration.
func known(file, name string, h host) (*config.Config, config.MCP, error) {
	if file == "" {
		return nil, config.MCP{}, usagef("mcp needs --config FILE or SPOOL_CONFIG for the server %q", name)
	}
	c, err := config.Load(file, h.lookup)
	if err != nil {
		return nil, config.MCP{}, &usageError{err}
	}
	i := slices.IndexFunc(c.MCP, func(m config.MCP) bool { return m.Name == name })
	if i < 0 {
		return nil, config.MCP{}, usagef("%s has no MCP server %q", file, name)
	}
	return c, c.MCP[i], nil
}

// server returns a server of the configuration. Somebody has to have signed in to it, if people do.
func (t *terminal) server(ctx context.Context, file, name string, h host) (mcpServer, error) {
	c, m, err := known(file, name, h)
	if err != nil {
		return mcpServer{}, err
	}
	if !m.SignsIn() {
		return t.client(c, m, nil)
	}
	store, at, err := t.open(ctx)
	if err != nil {
		return mcpServer{}, err
	}
	signIns, err := t.signIns(c, store, terminalURL)
	if err != nil {
		return mcpServer{}, err
	}
	s, err := t.client(c, m, signIns)
	if err != nil {
		return mcpServer{}, err
	}
	switch ok, err := signIns.SignedIn(ctx, s.as.tenant, s.as.subject, name); {
	case err != nil:
		return s, errors.Join(plainError(err), s.server.Close())
	case !ok:
		return s, errors.Join(fmt.Errorf("nobody has signed in to %s, in %s: see spool mcp login", name, at),
			s.server.Close())
	}
	return s, nil
}

func (t *terminal) signIns(c *config.Config, db store.Store, url string) (*mcp.SignIns, error) {
	s, err := mcp.NewSignIns(mcp.SignInConfig{Store: db, Keys: c.SignIn.Keys, URL: url, Anonymous: true})
	if err != nil {
		return nil, &usageError{c.SignIn.Errorf("%s", spool.MessageOf(err))}
	}
	return s, nil
}

// client makes the client of a server. As for a server with tokens, it reaches only what the configuration allows.
func (t *terminal) client(c *config.Config, m config.MCP, signIns *mcp.SignIns) (mcpServer, error) {
	server, err := newMCP(m, egress.Policy{Allow: c.Egress, AllowPrivate: len(c.Tokens) == 0}, signIns, nil)
	if err != nil {
		return mcpServer{}, &usageError{m.Errorf("%s", spool.MessageOf(err))}
	}
	return mcpServer{MCP: m, server: server, as: t.owner()}, nil
}

// change signs the person at the terminal in or out.
func (t *terminal) change(ctx context.Context, verb, file, name string, h host) error {
	c, m, err := known(file, name, h)
	switch {
	case err != nil:
		return err
	case !m.SignsIn():
		return &usageError{m.Errorf("nobody signs in to it: its auth has not the type %s", config.AuthPeople)}
	case verb == "login" && m.Auth.ClientID == "":
		return &usageError{m.Auth.Errorf("needs a client_id for a terminal: one that may redirect to http://127.0.0.1")}
	case verb == "login" && !loopbackAddress(t.listen):
		return usagef("--listen: must be an address of this machine, such as 127.0.0.1:7777")
	}
	store, at, err := t.open(ctx)
	if err != nil {
		return err
	}
	defer t.close()
	if verb == "login" {
		return t.login(ctx, c, m, store, at, h)
	}
	signIns, err := t.signIns(c, store, terminalURL)
	if err != nil {
		return err
	}
	had, err := signIns.SignOut(ctx, t.owner().tenant, t.subject, name)
	switch {
	case err != nil:
		return plainError(err)
	case !had:
		_, err = fmt.Fprintf(h.stdout, "nobody had signed in to %s, in %s\n", name, at)
	default:
		_, err = fmt.Fprintf(h.stdout, "signed out of %s, in %s\n", name, at)
	}
	return err
}

// login waits until the person at the terminal has signed in with a browser of this machine (RFC 8252).
func (t *terminal) login(ctx context.Context, c *config.Config, m config.MCP, db store.Store, at string, h host) error {
	listener, err := listen(ctx, t.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	signIns, err := t.signIns(c, db, "http://"+listener.Addr().String())
	if err != nil {
		return err
	}
	server, err := t.client(c, m, signIns)
	if err != nil {
		return err
	}
	defer server.server.Close()
	ended := make(chan error, 1)
	web := &http.Server{
		Handler: t.pages(signIns, ended), ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: maxHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { _ = web.Serve(listener) }() // it ends with Shutdown
	defer func() {
		const limit = 2 * time.Second
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit) // for the page under way
		defer cancel()
		_ = web.Shutdown(last)
	}()
	link := signIns.Link(t.owner().tenant, t.subject, m.Name)
	if _, err := fmt.Fprintf(h.stdout, "Open this in a browser of this machine:\n\n  %s\n\n", link); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("interrupted: nobody has signed in to %s", m.Name)
	case err := <-ended:
		if err != nil {
			return plainError(err)
		}
		_, err = fmt.Fprintf(h.stdout, "signed in to %s, in %s\n", m.Name, at)
		return err
	}
}

// pages are the pages for the browser. The first sign-in that comes to an end is sent to ended.
func (t *terminal) pages(signIns *mcp.SignIns, ended chan<- error) http.Handler {
	end := func(err error) {
		select {
		case ended <- err:
		default:
		}
	}
	refuse := func(w http.ResponseWriter, r *http.Request, err error) {
		signin.Show(w, http.StatusBadRequest, "You are not signed in", spool.MessageOf(err))
		code := spool.CodeOf(err)
		// what any page can send ends nothing
		if code != spool.NotFound && code != spool.Invalid && r.Context().Err() == nil {
			end(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sign-in", func(w http.ResponseWriter, r *http.Request) {
		to, cookie, err := signIns.BeginSignIn(r.Context(), r.URL.Query().Get("ticket"), t.owner().tenant, t.subject)
		if err != nil {
			refuse(w, r, err)
			return
		}
		w.Header().Set("Referrer-Policy", "no-referrer")
		http.SetCookie(w, cookie)
		http.Redirect(w, r, to, http.StatusFound) //nolint:gosec // the address is that of the configured authorization server
	})
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, r *http.Request) {
		name, err := signIns.FinishSignIn(r)
		if err != nil {
			refuse(w, r, err)
			return
		}
		signin.Show(w, http.StatusOK, "You are signed in to "+name, "Go back to the terminal. You can close this page.")
		end(nil)
	})
	return mux
}

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool/internal/signin"
	"github.com/spoolhq/spool/tool/internal/vault"
)

// The paths below [SignInConfig.URL].
const (
	pathDocument = "/client-metadata.json"
	pathStart    = "/sign-in"
	pathCallback = "/callback"
)

const (
	// listKind is the kind of the rows with the last list of a server, and listFor how long they are kept.
	listKind = "mcp_tools"
	listFor  = 180 * 24 * time.Hour
)

// SignInConfig configures [SignIns].
type SignInConfig struct {
	// Store has the tokens, encrypted. Required.
	Store store.Store

	// Keys encrypt the tokens. Each is random and has 32 bytes. The first one encrypts, and all of them decrypt. A
	// token gets the first key at its next refresh. Required.
	Keys [][]byte

	// URL is where people reach the endpoints of package server/signin, such as https://agents.example/oauth. It has
	// https, unless its host is a loopback one. Required.
	URL string

	// Anonymous lets callers without a subject sign in. All of a tenant then share one token. It is for hosts whose
	// callers have no subjects.
	//
	// Defaults to false: a run without a subject has the tools that somebody of its tenant got last, and its calls fail.
	Anonymous bool

	// Log gets messages, which have no token.
	//
	// Defaults to a logger that discards.
	Log *slog.Logger
}

// SignIns lets people sign in to servers with [AuthAuthorizationCode], and keeps their tokens. A token belongs to a
// tenant, a subject and a server, and only calls of that subject's runs use it. SignIns is safe for concurrent use.
type SignIns struct {
	book *signin.Book
	db   store.Store
	url  string
}

// NewSignIns returns sign-ins, or an [spool.Invalid] error that names the wrong field.
func NewSignIns(c SignInConfig) (*SignIns, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" ||
			u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback()) {
		return nil, spool.Errorf(spool.Invalid,
			"SignInConfig.URL must be an https URL without a query; http is for loopback hosts")
	}
	if c.Store == nil {
		return nil, spool.Errorf(spool.Invalid, "SignInConfig.Store is required")
	}
	v, err := vault.New(c.Keys)
	if err != nil {
		return nil, spool.Errorf(spool.Invalid, "SignInConfig: %s", spool.MessageOf(err))
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &SignIns{db: c.Store, url: strings.TrimRight(c.URL, "/")}
	s.book = signin.New(signin.Config{
		Store: c.Store, Vault: v, Start: s.url + pathStart, Redirect: s.url + pathCallback, Anonymous: c.Anonymous,
		Log: c.Log,
	})
	return s, nil
}

func (s *SignIns) clientID() string { return s.url + pathDocument }

// ClientMetadata returns the client id metadata document, which authorization servers read at the client's id.
func (s *SignIns) ClientMetadata() json.RawMessage {
	text, err := json.Marshal(map[string]any{
		"client_id": s.clientID(), "client_name": "Spool", "redirect_uris": []string{s.url + pathCallback},
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": "none",
	})
	if err != nil {
		panic("mcp: " + err.Error()) // texts
	}
	return text
}

// BeginSignIn begins a sign-in with the ticket of a link, for the subject that has opened the link. It returns where
// to send the browser, with a cookie that the browser brings to FinishSignIn. It returns a [spool.NotFound] error if
// the ticket is another subject's or too old.
func (s *SignIns) BeginSignIn(
	ctx context.Context, ticket string, tenant spool.Tenant, subject string,
) (string, *http.Cookie, error) {
	begun, err := s.book.Begin(ctx, ticket, tenant, subject)
	if err != nil {
		return "", nil, err
	}
	return begun.URL, &http.Cookie{ //nolint:gosec // it is Secure unless the host is a loopback one
		Name: s.cookie(begun.Cookie), Value: begun.Secret, Path: s.cookiePath(), MaxAge: int(begun.Lasts.Seconds()),
		HttpOnly: true, Secure: s.secure(), SameSite: http.SameSiteLaxMode,
	}, nil
}

// FinishSignIn ends a sign-in with the request that an authorization server has made a browser send, and returns the
// name of the server. It returns a [spool.NotFound] error for a browser without the cookie, and for a second request.
func (s *SignIns) FinishSignIn(r *http.Request) (string, error) {
	q := r.URL.Query()
	for _, name := range []string{"state", "code", "iss", "error"} {
		if len(q[name]) > 1 {
			return "", spool.Errorf(spool.Invalid, "%s is there more than once", name)
		}
	}
	a := signin.Answer{State: q.Get("state"), Code: q.Get("code"), Issuer: q.Get("iss"), Failed: q.Has("error")}
	if c, err := r.Cookie(s.cookie(signin.CookieOf(a.State))); err == nil {
		a.Secret = c.Value
	}
	return s.book.Finish(r.Context(), a)
}

// Link returns the link with which a subject signs in to a server.
func (s *SignIns) Link(tenant spool.Tenant, subject, server string) string {
	return s.book.Link(signin.Owner{Tenant: tenant, Subject: subject, Server: server})
}

// SignedIn reports whether a subject has a token for a server that can be used. It refreshes one that is about to end.
func (s *SignIns) SignedIn(ctx context.Context, tenant spool.Tenant, subject, server string) (bool, error) {
	_, err := s.book.Tokens(signin.Owner{Tenant: tenant, Subject: subject, Server: server}).Token(ctx)
	if _, needed := errors.AsType[*signin.NeededError](err); needed {
		return false, nil
	}
	return err == nil, err
}

// SignOut forgets the token of a subject for a server, and reports whether there was one. The authorization server is
// not told.
func (s *SignIns) SignOut(ctx context.Context, tenant spool.Tenant, subject, server string) (bool, error) {
	return s.book.Forget(ctx, signin.Owner{Tenant: tenant, Subject: subject, Server: server})
}

func (s *SignIns) secure() bool { return strings.HasPrefix(s.url, "https:") }

// cookie returns the full name of a cookie. No other host can set one with the prefix.
func (s *SignIns) cookie(name string) string {
	if s.secure() {
		return "__Host-" + name
	}
	return name
}

// cookiePath returns the path for which a cookie is. The prefix of [SignIns.cookie] wants it to be "/".
func (s *SignIns) cookiePath() string {
	u, err := url.Parse(s.url)
	if err != nil || s.secure() {
		return "/"
	}
	return u.EscapedPath() + pathCallback
}

// noteList stores the list that somebody of a tenant got, if it is another one than before.
func (s *SignIns) noteList(ctx context.Context, tenant spool.Tenant, server string, list *List) error {
	text, err := json.Marshal(list)
	if err != nil {
		return spool.Wrap(spool.Internal, "encode the tools of MCP server "+server, err)
	}
	value, err := json.Marshal(string(text))
	if err != nil {
		return spool.Wrap(spool.Internal, "encode the tools of MCP server "+server, err)
	}
	rows, err := s.db.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: listKind, Key: server, Limit: 1})
	if err != nil {
		return err
	}
	var before string
	if len(rows) > 0 && json.Unmarshal(rows[0].Value, &before) == nil && before == string(text) &&
		time.Since(rows[0].UpdatedAt) < listFor/2 {
		return nil
	}
	return s.db.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Rows: []store.Row{
				{Kind: listKind, Key: server, Value: value, Version: store.AnyVersion, ExpiresAt: tx.Now().Add(listFor)},
			},
		})
	})
}

// lastList returns the list that somebody of a tenant got last, or one with SignIn.
func (s *SignIns) lastList(ctx context.Context, tenant spool.Tenant, server string) (*List, error) {
	rows, err := s.db.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: listKind, Key: server, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(rows) > 0 {
		var text string
		var list List
		if json.Unmarshal(rows[0].Value, &text) == nil && json.Unmarshal([]byte(text), &list) == nil {
			return &list, nil
		}
	}
	return &List{Tools: []ListedTool{}, SignIn: true}, nil
}

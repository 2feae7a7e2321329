// Package signin has the endpoints with which people sign in to servers of tools: the pages that their browsers open,
// and the request with which an application begins a sign-in for its user. Who signs in to what is behind [SignIns].
package signin

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/call"
)

// Path is where the pages are, below the base path.
const Path = "/oauth"

// The pages below Path.
const (
	PathDocument = Path + "/client-metadata.json"
	PathStart    = Path + "/sign-in"
	PathCallback = Path + "/callback"
)

// SignIns lets people sign in to servers. It is safe for concurrent use.
type SignIns interface {
	// ClientMetadata returns the client id metadata document.
	ClientMetadata() json.RawMessage
	// BeginSignIn begins a sign-in with the ticket of a link, for the subject that has opened the link. It returns
	// where to send the browser, with a cookie that the browser brings to FinishSignIn. It returns a
	// [spool.NotFound] error if the ticket is another subject's or too old.
	BeginSignIn(ctx context.Context, ticket string, tenant spool.Tenant, subject string) (string, *http.Cookie, error)
	// FinishSignIn ends a sign-in with the request that an authorization server has made a browser send, and
	// returns the name of the server. It returns a [spool.NotFound] error for a browser without the cookie, and for
	// a second request.
	FinishSignIn(r *http.Request) (string, error)
}

// Controller has the endpoints. SignIns is nil on a server to whose tools nobody signs in.
type Controller struct {
	SignIns SignIns
	Auth    *auth.Auth
	Log     *slog.Logger
}

// SignInRequest is the body of a request to begin a sign-in.
type SignInRequest struct { //nolint:revive // the document has the name
	// URL is the link of the call that waits: url in its arguments.
	URL string `example:"https://agents.example/oauth/sign-in?ticket=v1.0a1b2c3d.text" json:"url" maxLength:"8192" required:"true"`
}

// SignInStart says where a sign-in goes on.
type SignInStart struct { //nolint:revive // the document has the name
	// Cookie is the cookie that the browser has to bring along when it comes back.
	Cookie *http.Cookie `header:"Set-Cookie" json:"-"`
	// URL is where to send the browser that has the cookie: a page of the authorization server.
	URL string `json:"url"`
	// Until is when the sign-in has to be done. After that, begin another one with the same link.
	Until time.Time `json:"expiresAt"`
}

// Begin begins a sign-in of the caller to a server of tools, for an application whose browser has no credentials of its
// own here. A run that needs one waits with the reason `elicitation` and a link. Only the subject for whom the link is
// gets on. The answer's cookie belongs to the browser that then goes to the url. Once that has come back, answer the
// call with an approval.
func (c Controller) Begin(ctx context.Context, in SignInRequest) (SignInStart, error) {
	if c.SignIns == nil {
		return SignInStart{}, spool.Errorf(spool.NotFound, "nobody signs in to tools of this server")
	}
	u, err := url.Parse(in.URL)
	if err != nil || u.Query().Get("ticket") == "" {
		return SignInStart{}, spool.Errorf(spool.Invalid, "url must be the link of a call that waits for a sign-in")
	}
	who := call.By(ctx)
	to, cookie, err := c.SignIns.BeginSignIn(ctx, u.Query().Get("ticket"), who.Tenant, who.Subject)
	if err != nil {
		return SignInStart{}, foreign(ctx, err)
	}
	h := rest.ResponseOf(ctx).Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	until := time.Now().Add(time.Duration(cookie.MaxAge) * time.Second).UTC().Truncate(time.Second)
	return SignInStart{cookie, to, until}, nil
}

// Start answers GET on a link. It sends the browser to the authorization server if the request has the credentials of
// the subject for whom the link is.
func (c Controller) Start(ctx context.Context, _ struct{}) (Page, error) {
	r := rest.RequestOf(ctx)
	who, err := c.Auth.Caller(r, access.ScopeWrite)
	if err != nil {
		return c.failed(ctx, err), nil
	}
	to, cookie, err := c.SignIns.BeginSignIn(ctx, r.URL.Query().Get("ticket"), who.Tenant, who.Subject)
	if err != nil {
		return c.failed(ctx, foreign(ctx, err)), nil
	}
	return Page{status: http.StatusFound, cookie: cookie, to: to}, nil
}

// Callback answers the GET with which an authorization server sends the browser back.
func (c Controller) Callback(ctx context.Context, _ struct{}) (Page, error) {
	r := rest.RequestOf(ctx)
	if r.Method == http.MethodHead { // of a program that looks at links: the code of the answer is taken once
		return c.failed(ctx, spool.Errorf(spool.Invalid, "a sign-in ends with a GET")), nil
	}
	server, err := c.SignIns.FinishSignIn(r)
	if err != nil {
		return c.failed(ctx, foreign(ctx, err)), nil
	}
	return signedIn(server), nil
}

// Metadata answers GET on the id of this client.
func (c Controller) Metadata(context.Context, struct{}) (Document, error) {
	return Document{c.SignIns.ClientMetadata()}, nil
}

// foreign returns an error of a sign-in. That an authorization server refuses this client says nothing about the
// credentials of the caller.
func foreign(ctx context.Context, err error) error {
	if spool.CodeOf(err) == spool.Unauthorized {
		return &spool.Error{Code: spool.Unavailable, Message: spool.MessageOf(err), Err: err}
	}
	return call.Settled(ctx, err)
}

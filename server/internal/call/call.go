// Package call has the state of a request: the caller, the thread and run that it is about, and the mapping
// of errors to answers. It imports access, engine and rest, and does not know the server.
package call

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// HeaderID is the header with a request's id, in requests and answers.
const HeaderID = "X-Request-ID"

// Call has the fields of a request for the log. It never has the query, which may contain tokens, nor bodies.
type Call struct {
	ID     string
	Began  time.Time
	Tenant spool.Tenant
	Thread spool.ThreadID
	Run    spool.RunID

	rules Rules
}

// Rules apply to all calls of a server.
type Rules struct {
	// Everybody is the caller of every request on a server without authentication. Nil: there is
	// an authenticator.
	Everybody *access.Principal
	// OwnThreads hides from each principal the threads of other subjects.
	OwnThreads bool
}

type key struct{}

// Begin returns the id of the request, and a place for facts about the request. The id is the client's, or
// that of the trace, or a new one.
func Begin(r *http.Request, rules Rules) (*http.Request, *Call) {
	known := &Call{ID: r.Header.Get(HeaderID), Began: time.Now(), rules: rules}
	if spool.CheckID(HeaderID, known.ID) != nil {
		known.ID = cmp.Or(traceID(r.Header.Get("Traceparent")), spool.NewID("req"))
	}
	return r.WithContext(context.WithValue(r.Context(), key{}, known)), known
}

// traceID returns the id in a W3C traceparent, or "".
func traceID(traceparent string) string {
	_, remaining, _ := strings.Cut(traceparent, "-")
	id, remaining, ok := strings.Cut(remaining, "-")
	if !ok || remaining == "" || len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" ||
		strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}

// Of returns the Call of the request that ctx belongs to.
func Of(ctx context.Context) *Call {
	known, _ := ctx.Value(key{}).(*Call)
	return known
}

// Concerns records the thread and run of the request, for the log.
func Concerns(ctx context.Context, thread spool.ThreadKey, run spool.RunID) {
	if known := Of(ctx); known != nil {
		known.Tenant, known.Thread, known.Run = thread.Tenant, thread.ID, run
	}
}

// Caller is the principal of a request.
type Caller struct {
	access.Principal

	// Ends is when a stream that the caller opens ends. Zero: no earlier than its run.
	Ends time.Time
	// CreatedAt is the creation time of the only thread that the caller may see. Zero: any thread.
	CreatedAt time.Time
}

// PrincipalID implements [rest.Principal].
func (c *Caller) PrincipalID() string { return c.ID() }

// By returns the caller of the request that ctx belongs to.
func By(ctx context.Context) access.Principal {
	if known := Of(ctx); known != nil && known.rules.Everybody != nil {
		return *known.rules.Everybody
	}
	c, _ := rest.PrincipalAs[*Caller](ctx) // a guarded route has one
	return c.Principal
}

// Open reports whether the server has no authentication.
func Open(ctx context.Context) bool { return Of(ctx).rules.Everybody != nil }

// OwnThreads reports whether the server hides from each principal the threads of others.
func OwnThreads(ctx context.Context) bool { return Of(ctx).rules.OwnThreads }

// Acting returns ctx with the caller as the engine's actor: the audit log names it, and it sees only its
// threads. Each engine call about a thread takes this ctx.
func Acting(ctx context.Context) context.Context { return ActingAs(ctx, By(ctx)) }

// ActingAs returns ctx with p as the engine's actor.
func ActingAs(ctx context.Context, p access.Principal) context.Context {
	return engine.WithActor(ctx, wire.Actor{Subject: p.Subject, Tenant: p.Tenant, OwnOnly: OwnOnly(ctx, p)})
}

// OwnOnly reports whether a principal sees only its own threads.
func OwnOnly(ctx context.Context, p access.Principal) bool {
	known := Of(ctx)
	return known != nil && known.rules.OwnThreads && !p.AllThreads && !p.May(access.ScopeAdmin)
}

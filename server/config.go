package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/probe"
	"github.com/spoolhq/spool/server/signin"
	"github.com/spoolhq/spool/server/verify"
)

// Config configures a server. Authenticator is required, unless Insecure is true.
type Config struct {
	// Authenticator identifies the caller.
	Authenticator access.Authenticator

	// AccessLevel is the level at which each request is logged once its answer has ended:
	// method, route, status, duration, bytes, the request's id, and tenant, thread and run
	// where it has them. Probes are logged at [slog.LevelDebug] at most. Defaults to
	// [slog.LevelDebug].
	AccessLevel slog.Leveler
	// BasePath is the beginning of the path of every endpoint, such as "/agents". Defaults to none.
	BasePath string
	// Checks are further checks of GET /readyz by name, in addition to the store and the shutdown, such as
	// "worker": [engine.Engine.CheckWorker] in a process with a worker. Defaults to none.
	Checks map[string]probe.Check
	// CookieAuth says that the Authenticator identifies callers by something that a browser sends on its own,
	// such as a cookie. The server then answers 403 to requests of web pages of other origins than its own
	// and CORSOrigins, if the requests change something or open a stream. Pages of CORSOrigins may send
	// cookies.
	CookieAuth bool
	// CORSAllowCredentials lets pages of CORSOrigins send cookies and client certificates, such as
	// those that a proxy in front asks for. CookieAuth does so too. CORSOrigins must not be "*"
	// then. Defaults to false.
	CORSAllowCredentials bool
	// CORSAllowHeaders are the headers that pages of CORSOrigins may send besides Authorization,
	// Cache-Control, Content-Type, Idempotency-Key and Last-Event-ID. Defaults to none.
	CORSAllowHeaders []string
	// CORSExposeHeaders are the headers of an answer that pages of CORSOrigins may read besides
	// Retry-After, WWW-Authenticate, X-Spool-Warning and those that every page may. Defaults to none.
	CORSExposeHeaders []string
	// CORSOrigins are the origins whose pages may call the server from a browser, such as
	// "https://app.example.com". A single "*" allows all, which needs an Authenticator.
	// Defaults to none.
	CORSOrigins []string
	// Console is the web console, such as [github.com/spoolhq/spool/console.Handler] returns it: a page at "/" for
	// browsers, and its files below "/assets/". Its request's path begins there, without BasePath. It gets requests
	// without credentials, so it must have no data of its own. Defaults to none: browsers get a page with links and Facts.
	Console http.Handler
	// DisconnectGrace is how long the run of an AG-UI post goes on after the client has closed its connection, unless
	// the post has an onDisconnect. The run is then stopped if no client follows the thread, in any process, and
	// none has come back in between. The caller needs [access.ScopeStop]: the runs of others go on.
	//
	// The special value -1 lets all of them go on.
	//
	// Defaults to 10 s.
	DisconnectGrace time.Duration
	// Facts are what GET / shows to callers with [access.ScopeAdmin], such as the models and the database of
	// the server. Defaults to none.
	Facts []Fact
	// HostState returns the host state for the tools and the settle hook of a run: a JSON object of up to 64
	// KiB, for the principal that starts the run. It must not read the body. No client ever sees the result.
	// An error refuses the start; the text of an error without a code is not sent. It is safe for concurrent
	// use. Defaults to none.
	HostState func(r *http.Request, p access.Principal) (json.RawMessage, error)
	// Insecure allows a server without an Authenticator. Every caller is then the default
	// tenant with all scopes.
	Insecure bool
	// Limits are the limits of one principal. Defaults to none.
	Limits Limits
	// Log gets messages for operators. Defaults to [slog.Default].
	Log *slog.Logger
	// Loopback is for a server without credentials on the machine's own loopback address. The server refuses
	// a request whose Host is not a loopback name, whose Origin is neither the server's own nor one of
	// CORSOrigins, or whose body is not declared as JSON, unless it is an upload. So no web page that the machine's user
	// visits can use the server, by DNS rebinding or a form. These checks do not apply to queue deliveries, which the
	// QueueVerifier judges.
	Loopback bool
	// BodyMemory bounds the memory of the bodies of all open requests, in bytes. A request beyond it gets a
	// 503. It is at least twice MaxBodyBytes. Defaults to 128 MiB, or to four times MaxBodyBytes if that is
	// more.
	BodyMemory int64
	// MaxWait bounds how long a request may wait for the end of a run. Defaults to 1 min.
	MaxWait time.Duration
	// MaxBodyBytes is the maximum body of a start, which may have images in data URLs. The maximum of other
	// bodies is 1 MiB if they have JSON of the client's own, and 64 KiB otherwise, but never more than
	// MaxBodyBytes. Defaults to 32 MiB.
	MaxBodyBytes int64
	// NoStreamTakeover keeps each event stream inside its handler until the stream ends. Otherwise the server takes
	// the connection of a stream over from net/http, which needs less than half of the memory for a client
	// that waits. The handler then returns at once, so that middleware before the server sees the request end
	// early. The server only does so for GET requests over HTTP/1.1 without TLS, if the [http.Server] has no
	// BaseContext and no ConnContext, and if nothing wraps net/http's own [http.ResponseWriter] but [Outlived]
	// writers. Defaults to false.
	NoStreamTakeover bool
	// OwnThreads hides from each principal the threads of other subjects of its tenant: they answer like
	// threads that do not exist. A principal then needs a Subject, and owns the threads that it creates.
	// Principals with [access.Principal.AllThreads] or [access.ScopeAdmin] see all threads. Defaults to false.
	OwnThreads bool
	// PublicURL is the address under which clients reach the server, without BasePath, such as
	// "https://agents.example". A path after the host is the part that a proxy removes. The OpenAPI document
	// and the page at the root have this address. Defaults to the address of the request.
	PublicURL string
	// QueueConcurrency bounds how many deliveries execute at the same time. Further ones get a 503, so that
	// the queue keeps them. Defaults to 256.
	QueueConcurrency int
	// QueueVerifier proves that a delivery comes from the queue. If it is a [HeaderVerifier], wrong headers
	// are refused before the body is read. Defaults to none: every delivery gets a 401.
	QueueVerifier verify.Verifier
	// SignIns lets people sign in to servers of tools: it serves their browsers below [signin.Path]. An
	// *mcp.SignIns is one. Defaults to none.
	SignIns signin.SignIns
	// LinkApprovers are the subjects that may be the approver of a link to a question. "*@example.com" stands for all
	// subjects with that end. Nil: any subject.
	LinkApprovers []string
	// StreamTokenKeys sign and check the tokens that open a stream, and the URLs of artifacts. Each is random and has 32
	// bytes or more. The first key signs; further keys are for key rotation. Processes behind
	// one address need the same keys. Defaults to a new key of the process, so that a restart
	// ends all tokens and URLs.
	StreamTokenKeys [][]byte
	// StreamTokenTTL is how long a stream token is valid, and how long a stream that it opened lasts.
	// Defaults to 10 min.
	StreamTokenTTL time.Duration
	// TrustedProxies are the addresses of proxies whose X-Forwarded-For the server trusts. It
	// counts failed authentication by the address of the client behind them. Defaults to none.
	TrustedProxies []netip.Prefix
	// WriteTimeout is how long a client may take to accept one write. It limits a single write and not the
	// whole answer, so an event stream lasts as long as the client reads. Defaults to 30 s.
	WriteTimeout time.Duration
}

// Limits are the limits of one principal, which is a subject of a tenant. Principals of a tenant without a
// subject count together, and so do all callers of a server without an Authenticator. Each process counts by
// itself.
type Limits struct {
	// EventsPerMinute bounds the durable events in any minute. Each 8 KiB of a payload counts as one, and the last
	// part of it too. A further one gets a 429. Zero: no limit.
	EventsPerMinute int
	// FailedLogins is how many requests with wrong credentials an address may send within 15 min. After that,
	// the answers to such requests are delayed, each one longer, up to 5 s. Requests with valid credentials
	// are never delayed. Zero: no delays.
	FailedLogins int
	// OpenStreams bounds the event streams that are open at the same time. A further one gets a 429. Zero: no
	// limit.
	OpenStreams int
	// StartsPerMinute bounds the starts in any minute, including refused ones. A further one gets a 429.
	// Zero: no limit.
	StartsPerMinute int
}

func (l Limits) check() error {
	if min(l.EventsPerMinute, l.FailedLogins, l.OpenStreams, l.StartsPerMinute) < 0 {
		return spool.Errorf(spool.Invalid,
			"Config.Limits.EventsPerMinute, FailedLogins, OpenStreams and StartsPerMinute must not be negative")
	}
	return nil
}

// check returns an [spool.Invalid] error that names the first invalid field.
func (c Config) check() error {
	if c.Authenticator == nil && !c.Insecure {
		return spool.Errorf(spool.Invalid, "Config.Authenticator is required (or say Insecure: true)")
	}
	if err := rest.CheckBasePath(c.BasePath); err != nil {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		return spool.Errorf(spool.Invalid, "Config.BasePath: %s", reason)
	}
	if err := CheckPublicURL(c.PublicURL, c.BasePath); err != nil {
		return err
	}
	if c.MaxBodyBytes < 0 || c.BodyMemory < 0 || c.QueueConcurrency < 0 || c.MaxWait < 0 || c.WriteTimeout < 0 {
		return spool.Errorf(spool.Invalid,
			"Config.MaxBodyBytes, BodyMemory, QueueConcurrency, MaxWait and WriteTimeout must not be negative")
	}
	return c.Limits.check()
}

func (c Config) withDefaults() Config {
	if c.AccessLevel == nil {
		c.AccessLevel = slog.LevelDebug
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.MaxBodyBytes == 0 {
		c.MaxBodyBytes = 32 << 20
	}
	if c.BodyMemory == 0 {
		c.BodyMemory = max(128<<20, 4*c.MaxBodyBytes)
	}
	c.BodyMemory = max(c.BodyMemory, 2*c.MaxBodyBytes)
	if c.DisconnectGrace == 0 {
		c.DisconnectGrace = 10 * time.Second
	}
	if c.QueueConcurrency == 0 {
		c.QueueConcurrency = 256
	}
	if c.MaxWait == 0 {
		c.MaxWait = time.Minute
	}
	if c.StreamTokenTTL == 0 {
		c.StreamTokenTTL = 10 * time.Minute
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 30 * time.Second
	}
	return c
}

// CheckPublicURL returns an [spool.Invalid] error unless the address can be the [Config.PublicURL] of a
// server with the base path. Empty is valid.
func CheckPublicURL(address, base string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil ||
		strings.ContainsAny(address, "?#") ||
		rest.CheckBasePath(u.EscapedPath()) != nil {
		return spool.Errorf(spool.Invalid,
			`Config.PublicURL must be a scheme and a host, with a path behind them that a proxy cuts off, such as "https://agents.example"`)
	}
	if base != "" && strings.HasSuffix(u.Path, base) {
		return spool.Errorf(spool.Invalid, "Config.PublicURL must not end with BasePath, which comes behind it")
	}
	return nil
}

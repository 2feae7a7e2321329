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
)

// Config says how an engine is exposed. Authenticator is required, unless Insecure is
// true.
type Config struct {
	// Authenticator identifies the caller.
	Authenticator Authenticator

	// AccessLevel is the level at which each request is logged once its answer has ended:
	// method, route, status, duration, bytes, the request's id, and tenant, thread and run
	// where it has them. Probes are logged at [slog.LevelDebug] at most. Defaults to
	// [slog.LevelDebug].
	AccessLevel slog.Leveler
	// BasePath stands before the path of every endpoint, such as "/agents". Defaults to
	// none.
	BasePath string
	// Checks are the checks of GET /readyz by name, besides the store and the shutdown, such
	// as "worker": [engine.Engine.CheckWorker] in a process that works. Defaults to none.
	Checks map[string]Check
	// CookieAuth says that the Authenticator identifies callers by something that a browser
	// sends on its own, such as a cookie. The server then refuses requests of web pages of
	// other origins than its own and CORSOrigins with 403, if they change something or open a
	// stream. Pages of CORSOrigins may send cookies.
	CookieAuth bool
	// CORSAllowCredentials lets pages of CORSOrigins send cookies and client certificates, such as
	// those that a proxy in front asks for. CookieAuth does so too. CORSOrigins must not be "*"
	// then. Defaults to false.
	CORSAllowCredentials bool
	// CORSAllowHeaders are the headers that pages of CORSOrigins may send besides Authorization,
	// Cache-Control, Content-Type, Idempotency-Key and Last-Event-ID. Defaults to none.
	CORSAllowHeaders []string
	// CORSExposeHeaders are the headers of an answer that pages of CORSOrigins may read besides
	// Retry-After, WWW-Authenticate and those that every page may. Defaults to none.
	CORSExposeHeaders []string
	// CORSOrigins are the origins whose pages may call the server from a browser, such as
	// "https://app.example.com". A single "*" allows all, which needs an Authenticator.
	// Defaults to none.
	CORSOrigins []string
	// Facts are what GET / shows to callers with [ScopeAdmin], such as the models and the database of
	// the server. Defaults to none.
	Facts []Fact
	// HostState returns the HostState that the tools and the settle hook of a run get: a JSON
	// object of up to 64 KiB, for the principal that starts the run. It must not read the body,
	// and no client ever sees what it returns. An error refuses the start; the text of an error
	// without a code is not sent. It is safe for concurrent use. Defaults to none.
	HostState func(r *http.Request, p Principal) (json.RawMessage, error)
	// Insecure allows a server without an Authenticator. Every caller is then the default
	// tenant with all scopes.
	Insecure bool
	// Limits bound what one principal may do. Defaults to no bounds.
	Limits Limits
	// Log gets what an operator should know. Defaults to [slog.Default].
	Log *slog.Logger
	// Loopback is for a server that is reached without credentials on the machine's own
	// loopback address. It refuses requests whose Host is not a loopback name, whose Origin
	// is neither the server's own nor one of CORSOrigins, or whose body is not declared as
	// JSON, so that no web page that the machine's user visits can use the server, by DNS
	// rebinding or a form. Queue deliveries are left to the QueueVerifier alone.
	Loopback bool
	// BodyMemory bounds the bytes that the bodies of all open requests take. A request beyond
	// it is answered 503. It is at least twice MaxBodyBytes. Defaults to 128 MiB, or
	// to four times MaxBodyBytes where that is more.
	BodyMemory int64
	// MaxWait bounds how long a request may wait for the end of a run. Defaults to 1 min.
	MaxWait time.Duration
	// MaxBodyBytes bounds the body of a start, which may have images in data URLs. Other
	// bodies are bounded by 64 KiB, those with JSON of the client's own by 1 MiB, and none
	// has more than MaxBodyBytes. Defaults to 32 MiB.
	MaxBodyBytes int64
	// OwnThreads hides from each principal the threads of other subjects of its tenant: they
	// answer like threads that do not exist. A principal needs a Subject then, and owns the
	// threads that it makes. [Principal.AllThreads] and [ScopeAdmin] except a principal from it.
	// Defaults to all threads of the tenant.
	OwnThreads bool
	// PublicURL is the address under which clients reach the server, without BasePath, such as
	// "https://agents.example". A path behind the host is what a proxy cuts off. It is the server
	// that the document names, and the page at the root. Defaults to the address that the document
	// is loaded from.
	PublicURL string
	// QueueConcurrency bounds how many deliveries are carried out at the same time. One
	// more is refused with 503, so that the queue keeps it. Defaults to 256.
	QueueConcurrency int
	// QueueVerifier proves that a delivery comes from the queue. Defaults to none: every
	// delivery is refused with 401. One that is a [HeaderVerifier] refuses wrong headers before
	// the body is read.
	QueueVerifier QueueVerifier
	// StreamTokenKeys sign and check the tokens that open a stream. Each is random and has 32
	// bytes or more. The first key signs; further keys are for key rotation. Processes behind
	// one address need the same keys. Defaults to a new key of the process, so that a restart
	// ends all tokens.
	StreamTokenKeys [][]byte
	// StreamTokenTTL is how long a token lasts, and a stream that it has opened. Defaults to
	// 10 min.
	StreamTokenTTL time.Duration
	// TrustedProxies are the addresses of proxies whose X-Forwarded-For the server trusts. It
	// counts failed authentication by the address of the client behind them. Defaults to none.
	TrustedProxies []netip.Prefix
	// WriteTimeout is how long a client may take to accept one write. It bounds a single
	// write and not the answer, so an event stream lasts as long as it is read. Defaults
	// to 30 s.
	WriteTimeout time.Duration
}

// Limits bound what one principal may do, which is a tenant's subject. Principals of a tenant
// without a subject count together, and so does everybody on a server without an
// Authenticator. Each process counts by itself.
type Limits struct {
	// FailedLogins is how many requests with wrong credentials an address may send within
	// 15 min before the answers to such requests are held back, each longer than the one before
	// and up to 5 s. Requests with valid credentials never are. Zero: no answer is held back.
	FailedLogins int
	// OpenStreams bounds the event streams that are open at the same time. One more is
	// refused with 429. Zero: no bound.
	OpenStreams int
	// StartsPerMinute bounds the starts in any minute, those that are refused included. One
	// more is refused with 429. Zero: no bound.
	StartsPerMinute int
}

func (l Limits) check() error {
	if l.OpenStreams < 0 || l.StartsPerMinute < 0 || l.FailedLogins < 0 {
		return spool.Errorf(spool.Invalid, "Config.Limits.FailedLogins, OpenStreams and StartsPerMinute must not be negative")
	}
	return nil
}

// check returns an [spool.Invalid] error that names the field for what cannot work.
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
		return spool.Errorf(spool.Invalid, "Config.MaxBodyBytes, BodyMemory, QueueConcurrency, MaxWait and WriteTimeout must not be negative")
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

// CheckPublicURL returns a [spool.Invalid] error for what cannot be [Config.PublicURL] of a server
// with the base path. Empty: there is none.
func CheckPublicURL(address, base string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || strings.ContainsAny(address, "?#") ||
		rest.CheckBasePath(u.EscapedPath()) != nil {
		return spool.Errorf(spool.Invalid, `Config.PublicURL must be a scheme and a host, with a path behind them that a proxy cuts off, such as "https://agents.example"`)
	}
	if base != "" && strings.HasSuffix(u.Path, base) {
		return spool.Errorf(spool.Invalid, "Config.PublicURL must not end with BasePath, which comes behind it")
	}
	return nil
}

package config

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// MinToken is the length of the shortest bearer token, in characters.
const MinToken = 16

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// scopes are the words that a token may have.
var scopes = []string{"read", "write", "approve", "stop", "webhooks", "schedules", "admin"}

// minStreamTokenKey is the length of the shortest key that can sign a token.
const minStreamTokenKey = 32

// Token is an entry of auth.tokens.
type Token struct {
	Source

	// Token is empty if SHA256, its hash in hexadecimal, replaces it.
	Token, SHA256 string

	Tenant  spool.Tenant
	Subject string
	Scopes  []string
	// AllThreads excepts the token from OwnThreads.
	AllThreads bool
	// Expires is zero for a token that does not expire.
	Expires time.Time
	// Operator says that the token, with the scope admin, may name other tenants.
	Operator bool
}

// authOptions are the options of the section about who may call the server.
func (c *Config) authOptions() table {
	var threads string
	tokenShape := shape{kind: kindFields, options: tokenOptions(new(Token))}
	return table{
		row("tokens", required(listOf(&c.Tokens, tokenShape, c.token)).then(func(v value) {
			// An empty list would mean a server without tokens, which the author of a list does not want.
			if len(c.Tokens) == 0 && !v.complained() {
				v.problemf("is empty")
			}
		}), "The bearer tokens."),
		row("threads", oneOf(&threads, "own", "all").then(func(value) { c.OwnThreads = threads == "own" }),
			"own: a subject sees and changes only its own threads. Default: all."),
		row("trusted_proxies", list(&c.TrustedProxies, value.addresses),
			"Addresses or ranges of proxies whose X-Forwarded-For is trusted. Default: none."),
		row("stream_token_keys", words(&c.StreamTokenKeys).then(c.checkStreamTokenKeys),
			"Keys of 32 characters or more that sign tokens for streams. The first signs, all verify. Default: a "+
				"random key."),
		row("stream_token_ttl", duration(&c.StreamTokenTTL).then(func(v value) {
			if c.StreamTokenTTL > 0 && c.StreamTokenTTL < time.Second {
				v.problemf("must be 1s or more")
			}
		}), "How long such a token lasts, and a stream opened with it. Default: 10m."),
		row("link_approvers", words(&c.LinkApprovers),
			"Who may be the approver of a link to a question. An element such as *@example.com stands for all with "+
				"that end. Default: anybody."),
	}
}

func (c *Config) checkStreamTokenKeys(v value) {
	items := v.items()
	for i, key := range c.StreamTokenKeys {
		if item := items[i]; len(key) < minStreamTokenKey && !item.complained() {
			item.problemf("is shorter than %d characters", minStreamTokenKey)
		}
	}
}

func (c *Config) checkAuth(v value) {
	for _, t := range c.Tokens {
		if c.OwnThreads && t.Subject == "" && !t.AllThreads && !slices.Contains(t.Scopes, "admin") {
			v.d.add(t.Errorf("needs a subject, whose threads it is to see"))
		}
	}
}

func tokenOptions(t *Token) table {
	var threads string
	return table{
		row("token", word(&t.Token).then(func(v value) {
			if len(t.Token) < MinToken && !v.complained() {
				v.problemf("is shorter than %d characters", MinToken)
			}
		}), `16 characters or more, such as "${SPOOL_TOKEN}". token_sha256 can replace it.`),
		row("token_sha256", word(&t.SHA256).then(func(v value) {
			t.SHA256 = strings.ToLower(t.SHA256)
			if !sha256Hex.MatchString(t.SHA256) && !v.complained() {
				v.problemf("must be the SHA-256 of the token: 64 hexadecimal digits")
			}
		}), "In place of token: its SHA-256 in hexadecimal."),
		row("tenant", text(&t.Tenant).then(func(v value) { v.tenant(t.Tenant) }),
			`The tenant that the token stands for. Default: "default".`),
		row("subject", text(&t.Subject),
			"Who has the token. Spool records it with everything that the token does. Default: none."),
		row("scopes", required(list(&t.Scopes, value.scope)),
			"What the token allows: read, write, approve, stop, webhooks, schedules, admin, and scopes of your own "+
				"such as team:sales, for only_for."),
		row("operator", boolean(&t.Operator),
			"true, with the scope admin: may name another tenant below /api/admin. Default: false."),
		row("threads", oneOf(&threads, "own", "all").then(func(value) { t.AllThreads = threads != "own" }),
			"all: the token sees the threads of all subjects, whatever auth.threads says."),
		row("expires", timeOf(&t.Expires), "When the token ends, such as 2027-01-31T00:00:00Z. Default: never."),
	}
}

// token reads an item of auth.tokens.
func (c *Config) token(v value) Token {
	t := Token{Source: v.source(), Tenant: spool.DefaultTenant}
	v.read(tokenOptions(&t))
	switch hash := v.at("token_sha256"); {
	case v.at("token").present() && hash.present():
		hash.problemf("stands in place of token: leave one of them out")
	case !v.at("token").present() && !hash.present():
		v.at("token").problemf("is required")
	}
	if t.Operator && !slices.Contains(t.Scopes, "admin") {
		v.at("operator").problemf("needs the scope admin")
	}
	if slices.ContainsFunc(c.Tokens, t.same) {
		v.problemf("the same token is there twice")
	}
	return t
}

// scope returns a scope of a token.
func (v value) scope() string {
	scope := v.text()
	if !knownScope(scope) {
		v.problemf("must be one of %s", strings.Join(scopes, ", "))
	}
	return scope
}

// tenant complains unless a tenant can have the id.
func (v value) tenant(id spool.Tenant) {
	v.id("the tenant", string(id))
}

// same reports whether two entries have the same token, as text or as a hash.
func (t Token) same(other Token) bool { return t.hash() != "" && t.hash() == other.hash() }

func (t Token) hash() string {
	if t.Token == "" {
		return t.SHA256
	}
	hash := sha256.Sum256([]byte(t.Token))
	return hex.EncodeToString(hash[:])
}

// ownScope matches a scope of the configuration's own, for only_for.
var ownScope = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}:[A-Za-z0-9._-]{1,64}$`)

// knownScope reports whether a token can have the scope.
func knownScope(scope string) bool {
	return slices.Contains(scopes, scope) || ownScope.MatchString(scope)
}

// onlyFor is who may use an agent, a model or a tool.
func onlyFor(a *spool.Access) kind {
	return fields(table{
		row("tenants", list(&a.Tenants, func(v value) spool.Tenant {
			id := spool.Tenant(v.text())
			v.tenant(id)
			return id
		}), "Tenants that may."),
		row("scopes", list(&a.Scopes, func(v value) string {
			scope := v.text()
			if !knownScope(scope) && !v.complained() {
				v.problemf(`must be a scope of a token, or one of your own such as "team:sales"`)
			}
			return scope
		}), "Scopes of which a token needs one, such as team:sales."),
	}).then(func(v value) {
		switch {
		case v.d.anonymous:
			v.problemf("needs auth.tokens, as nobody is asked who they are")
		case !a.Limited() && !v.complained():
			v.problemf("needs tenants or scopes")
		}
	})
}

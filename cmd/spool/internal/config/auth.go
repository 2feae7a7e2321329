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
var scopes = []string{"read", "write", "approve", "stop", "admin"}

// minStreamTokenKey is the length of the shortest key that can sign a token.
const minStreamTokenKey = 32

// auth reads the section about who may call the server.
func (c *Config) auth(v value) {
	if !v.present() {
		return
	}
	f := v.fields("tokens", "threads", "trusted_proxies", "stream_token_keys", "stream_token_ttl", "link_approvers")
	c.Tokens = tokens(f["tokens"])
	c.OwnThreads = ownThreads(f["threads"])
	for _, t := range c.Tokens {
		if c.OwnThreads && t.Subject == "" && !t.AllThreads && !slices.Contains(t.Scopes, "admin") {
			v.d.problems = append(v.d.problems, t.Errorf("needs a subject, whose threads it is to see"))
		}
	}
	for _, item := range f["trusted_proxies"].items() {
		c.TrustedProxies = append(c.TrustedProxies, item.addresses())
	}
	c.LinkApprovers = f["link_approvers"].optionalWords()
	if keys := f["stream_token_keys"]; keys.present() {
		c.StreamTokenKeys = keys.optionalWords()
		for i, item := range keys.items() {
			if len(c.StreamTokenKeys[i]) < minStreamTokenKey && !item.complained() {
				item.problemf("is shorter than %d characters", minStreamTokenKey)
			}
		}
	}
	if c.StreamTokenTTL = f["stream_token_ttl"].duration(); c.StreamTokenTTL > 0 && c.StreamTokenTTL < time.Second {
		f["stream_token_ttl"].problemf("must be 1s or more")
	}
}

func tokens(list value) []Token {
	items := list.items()
	// An empty list would mean a server without tokens, which the author of a list does not want.
	if list.required() && len(items) == 0 && !list.complained() {
		list.problemf("is empty")
	}
	var out []Token
	for _, v := range items {
		t := token(v)
		if slices.ContainsFunc(out, t.same) {
			v.problemf("the same token is there twice")
		}
		out = append(out, t)
	}
	return out
}

func token(v value) Token {
	f := v.fields("token", "token_sha256", "tenant", "subject", "scopes", "operator", "threads", "expires")
	t := Token{Source: v.source(), Tenant: spool.DefaultTenant, Subject: f["subject"].text(), Operator: f["operator"].boolean()}
	t.Token, t.SHA256 = secret(f["token"], f["token_sha256"])
	t.Expires = f["expires"].time()
	t.AllThreads = f["threads"].present() && !ownThreads(f["threads"])
	if f["tenant"].present() {
		t.Tenant = spool.Tenant(f["tenant"].text())
		if err := spool.CheckID("the tenant", string(t.Tenant)); err != nil {
			f["tenant"].problemf("%s", spool.MessageOf(err))
		}
	}
	if f["scopes"].required() {
		for _, s := range f["scopes"].items() {
			scope := s.text()
			if !knownScope(scope) {
				s.problemf("must be one of %s", strings.Join(scopes, ", "))
			}
			t.Scopes = append(t.Scopes, scope)
		}
	}
	if t.Operator && !slices.Contains(t.Scopes, "admin") {
		f["operator"].problemf("needs the scope admin")
	}
	return t
}

// secret reads a token, or its hash.
func secret(token, hash value) (text, sum string) {
	switch {
	case token.present() && hash.present():
		hash.problemf("stands in place of token: leave one of them out")
	case hash.present():
		sum = strings.ToLower(hash.word())
		if !sha256Hex.MatchString(sum) && !hash.complained() {
			hash.problemf("must be the SHA-256 of the token: 64 hexadecimal digits")
		}
	case token.needed():
		text = token.word()
		if len(text) < MinToken && !token.complained() {
			token.problemf("is shorter than %d characters", MinToken)
		}
	}
	return text, sum
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

// ownThreads reads which threads a subject sees.
func ownThreads(v value) bool {
	text := v.text()
	v.among(text, "own", "all")
	return text == "own"
}

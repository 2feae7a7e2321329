// Package signin keeps the access tokens of people in rows of a store, and lets people sign in to get them. A token
// belongs to a tenant, a subject and a protected server, and is encrypted with these words.
//
// The package imports the root package, oauth and vault. It knows nothing of MCP, runs and HTTP handlers.
package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool/internal/oauth"
	"github.com/spoolhq/spool/tool/internal/vault"
)

// The kinds of the rows.
const (
	tokenKind  = "mcp_token"
	signInKind = "mcp_sign_in"
)

const (
	// ticketFor is how long a link opens a sign-in. It has no secret: only its subject may open it.
	ticketFor = 7 * 24 * time.Hour
	// signInFor is how long a person may take to sign in.
	signInFor = 10 * time.Minute
)

// NeededError is the error for a subject without a usable token. Link is where the subject signs in.
type NeededError struct {
	Server string
	Link   string
	// Unreadable says that there is a token that no key opens.
	Unreadable bool
}

// Error does not have the link.
func (n *NeededError) Error() string {
	if n.Unreadable {
		return "the stored sign-in to " + n.Server + " cannot be read with the configured keys; sign in again"
	}
	return "a person has to sign in to " + n.Server
}

// Config configures a book. All fields are required but Anonymous.
type Config struct {
	Store store.Store
	Vault *vault.Vault
	// Start is the URL of a link without its ticket, and Redirect where authorization servers send people.
	Start, Redirect string
	// Anonymous lets callers without a subject sign in. They share a token in their tenant.
	Anonymous bool
	Log       *slog.Logger
}

// Book has the tokens of people for servers. It is safe for concurrent use.
type Book struct {
	config  Config
	clients map[string]*oauth.Client
}

// New returns a book for the clients of servers, by the names of the servers.
func New(c Config) *Book { return &Book{config: c, clients: make(map[string]*oauth.Client)} }

// Add adds the client of a server, before the book is used.
func (b *Book) Add(server string, client *oauth.Client) { b.clients[server] = client }

// Owner says whose a token is.
type Owner struct {
	Tenant  spool.Tenant `json:"tenant"`
	Subject string       `json:"subject"`
	Server  string       `json:"server"`
}

func (o Owner) words(purpose string) []string {
	return []string{purpose, string(o.Tenant), o.Subject, o.Server}
}

// key returns the key of the owner's row. It does not have the subject, which may be an address of mail.
func (o Owner) key() string {
	sum := sha256.Sum256([]byte(o.Subject))
	return o.Server + ":" + hex.EncodeToString(sum[:])
}

// Check returns an error for an owner that cannot have a token.
func (b *Book) Check(o Owner) error {
	if o.Subject == "" && !b.config.Anonymous {
		return spool.Errorf(spool.Unauthorized, "the run has no subject, so that nobody can sign in for it")
	}
	return nil
}

// ticket is what a link has, encrypted.
type ticket struct {
	Owner

	Ends time.Time `json:"ends"`
}

// Link returns the link with which the owner signs in.
func (b *Book) Link(o Owner) string {
	text, err := json.Marshal(ticket{o, time.Now().Add(ticketFor)})
	if err != nil {
		panic("signin: " + err.Error()) // texts and a time
	}
	return b.config.Start + "?ticket=" + url.QueryEscape(b.config.Vault.Seal(text, "ticket"))
}

// begun is a sign-in under way, as its row has it, encrypted.
type begun struct {
	Owner
	oauth.SignIn

	// Browser is a hash of the secret in the cookie of the browser.
	Browser string `json:"browser"`
}

// Begun is a sign-in under way.
type Begun struct {
	// URL is where the person goes.
	URL string
	// Cookie and Secret are a cookie that the browser brings to Finish.
	Cookie, Secret string
	// Lasts is how long the person may take.
	Lasts time.Duration
}

var (
	errLink  = spool.Errorf(spool.NotFound, "this link does not open a sign-in: it is not yours, or too old")
	errState = spool.Errorf(spool.NotFound,
		"there is no such sign-in under way: it has ended, took too long, or was begun in another browser")
	errRefused = spool.Errorf(spool.Forbidden, "the sign-in was refused or given up")
)

// Begin begins a sign-in with the ticket of a link, for the subject that has opened the link. It returns a
// [spool.NotFound] error unless the ticket is for that subject.
func (b *Book) Begin(ctx context.Context, text string, tenant spool.Tenant, subject string) (Begun, error) {
	plain, err := b.config.Vault.Open(text, "ticket")
	var t ticket
	if err != nil || json.Unmarshal(plain, &t) != nil || t.Tenant != tenant || t.Subject != subject ||
		time.Now().After(t.Ends) || b.Check(t.Owner) != nil {
		return Begun{}, errLink
	}
	client := b.clients[t.Server]
	if client == nil {
		return Begun{}, errLink
	}
	secret := rand.Text()
	s := begun{
		Owner:   t.Owner,
		SignIn:  oauth.SignIn{State: rand.Text(), Redirect: b.config.Redirect, Verifier: rand.Text() + rand.Text()},
		Browser: hash(secret),
	}
	link, err := client.Begin(ctx, &s.SignIn)
	if err != nil {
		return Begun{}, named(t.Server, err)
	}
	key := hash(s.State)
	value, err := b.sealed(s, signInKind, key)
	if err != nil {
		return Begun{}, err
	}
	err = b.config.Store.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Rows: []store.Row{{Kind: signInKind, Key: key, Value: value, ExpiresAt: tx.Now().Add(signInFor)}},
		})
	})
	if err != nil {
		return Begun{}, err
	}
	return Begun{URL: link, Cookie: CookieOf(s.State), Secret: secret, Lasts: signInFor}, nil
}

// CookieOf returns the name of the cookie of a sign-in.
func CookieOf(state string) string {
	const part = 8
	return "spool-sign-in-" + hash(state)[:part]
}

// Answer is how an authorization server answers by the person's browser.
type Answer struct {
	State, Code, Issuer string
	// Failed says that the answer is an error.
	Failed bool
	// Secret is the secret in the cookie.
	Secret string
}

// Finish ends a sign-in and stores the token. It returns the name of the server. A sign-in is finished once, whatever
// becomes of it.
func (b *Book) Finish(ctx context.Context, a Answer) (string, error) {
	s, err := b.consume(ctx, a)
	if err != nil {
		return "", err
	}
	client := b.clients[s.Server]
	if client == nil {
		return "", errState
	}
	if a.Failed || a.Code == "" {
		return "", errRefused
	}
	g, err := client.Redeem(ctx, s.SignIn, a.Code, a.Issuer)
	if err != nil {
		return "", named(s.Server, err)
	}
	if err := b.put(
		context.WithoutCancel(ctx), s.Owner, held{Grant: g, Resource: s.Resource}, store.AnyVersion,
	); err != nil {
		return "", err
	}
	b.config.Log.InfoContext(ctx, "a person has signed in to a server", "server", s.Server, "tenant", s.Tenant, "subject",
		s.Subject)
	return s.Server, nil
}

// consume returns a sign-in and removes it. A browser without its cookie does not remove it.
func (b *Book) consume(ctx context.Context, a Answer) (s begun, err error) {
	key := hash(a.State)
	rows, err := b.config.Store.Rows(ctx, store.RowQuery{Kind: signInKind, Key: key, Limit: 1})
	switch {
	case err != nil:
		return s, err
	case len(rows) == 0 || b.opened(rows[0].Value, &s, signInKind, key) != nil || s.Browser != hash(a.Secret):
		return s, errState
	}
	err = b.config.Store.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Rows: []store.Row{{Kind: signInKind, Key: key, Version: rows[0].Version}}})
	})
	if errors.Is(err, store.ErrRowChanged) {
		return s, errState
	}
	return s, err
}

// sealed returns the value of a row, encrypted with words.
func (b *Book) sealed(value any, words ...string) (json.RawMessage, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, spool.Wrap(spool.Internal, "encode a sign-in", err)
	}
	return json.Marshal(b.config.Vault.Seal(text, words...))
}

// opened reads the value of a row.
func (b *Book) opened(value json.RawMessage, into any, words ...string) error {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return vault.ErrUnreadable
	}
	plain, err := b.config.Vault.Open(text, words...)
	if err != nil {
		return err
	}
	if json.Unmarshal(plain, into) != nil { // its error may have parts of it
		return vault.ErrUnreadable
	}
	return nil
}

// hash returns a hash of a random text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// named returns an error of a client with the name of the server.
func named(server string, err error) error {
	return &spool.Error{
		Code: spool.CodeOf(err), Message: "MCP server " + server + ": " + spool.MessageOf(err), Err: errors.Unwrap(err),
	}
}

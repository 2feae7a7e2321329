package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/uptrace/bun"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/auth/jwt"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/throttle"
)

// doors are the authenticators of the shop, one for each kind of caller.
type doors struct {
	customer rest.Authenticator         // a bearer token, from POST /login
	partner  rest.Authenticator         // an API key in the query
	office   *auth.Sessions[*rest.User] // a cookie, from POST /office/login
	ops      rest.Authenticator         // a password, for the metrics
	signer   *jwt.Signer
	accounts *accounts
}

// The scopes of API keys.
const (
	partnerScope = "partner"
	catalogScope = "catalog:write"
)

var errWrongPassword = &rest.Error{
	Status: http.StatusUnauthorized, Code: "wrong_password", Detail: "The user name or the password is wrong.",
}

func newDoors(c config, db *bun.DB) (*doors, error) {
	key := c.derive("tokens")
	signer, err := jwt.NewSigner(jwt.SignerConfig{
		Algorithm: "HS256", Key: key, Issuer: "bookshop", Audience: []string{"bookshop"},
	})
	if err != nil {
		return nil, err
	}
	known := &accounts{db: db, decoy: &Account{Salt: make([]byte, 16), Rounds: hashRounds}}
	return &doors{
		customer: jwt.BearerAs(jwt.Config{
			Algorithms: []string{"HS256"}, Keys: jwt.Static(jwt.Key{Algorithm: "HS256", Value: key}),
			Issuer: "bookshop", Audience: []string{"bookshop"},
		}, func(ctx context.Context, claims jwt.Claims) (*rest.User, error) {
			return known.byID(ctx, claims.Subject())
		}, auth.Name("customer"), auth.Describe("A token from POST /login.")),
		partner: auth.APIKeyQuery("key", auth.Keys(c.PartnerKeys), auth.Name("partner")),
		office:  auth.Session(&auth.MemorySessions{}, known.byID, auth.Name("office")),
		ops: auth.Basic(func(_ context.Context, user, password string) (*rest.User, error) {
			if !auth.Equal(user, "ops") || !auth.Equal(password, c.OpsPassword) {
				return nil, rest.ErrBadCredentials
			}
			return &rest.User{ID: "ops"}, nil
		}, auth.Name("ops"), auth.Realm("metrics")),
		signer:   signer,
		accounts: known,
	}, nil
}

// accounts finds the account of a caller.
type accounts struct {
	db    *bun.DB
	decoy *Account // whose password is compared when there is no account
}

// byID returns the principal, or nil if the account is gone.
func (a *accounts) byID(ctx context.Context, id string) (*rest.User, error) {
	account, err := find[Account](ctx, a.db, id)
	if errors.Is(err, rest.ErrNotFound) {
		return nil, nil //nolint:nilnil // a lookup returns nil for an unknown key
	}
	if err != nil {
		return nil, err
	}
	return account.principal(), nil
}

// check returns the account whose password matches. An unknown name takes as long as a wrong password.
func (a *accounts) check(ctx context.Context, in Credentials) (*rest.User, error) {
	account, err := find[Account](ctx, a.db, in.User)
	if errors.Is(err, rest.ErrNotFound) {
		account, err = a.decoy, nil
	}
	if err != nil {
		return nil, err
	}
	if !account.opens(in.Password) {
		return nil, errWrongPassword
	}
	return account.principal(), nil
}

// Credentials are a name and a password.
type Credentials struct {
	User     string `example:"ada"     json:"user"     maxLength:"80"  minLength:"1"`
	Password string `format:"password" json:"password" maxLength:"200" minLength:"1"`
}

// Token is what a customer gets after logging in.
type Token struct {
	Token     string `doc:"For the header Authorization, after the word Bearer." json:"token"`
	ExpiresIn int    `doc:"In seconds."                                          json:"expiresIn"`
}

// Accounts is where customers get their tokens.
type Accounts struct {
	doors *doors
	rate  string
}

// Routes implements [rest.Controller].
func (c *Accounts) Routes(r *rest.Routes) {
	r.Configure(rest.Tags("accounts"))
	rest.Post(r, "/login", c.login, rest.Summary("Get a token for a password"),
		rest.Throttles(throttle.Scoped("login", c.rate)), rest.Fails(http.StatusUnauthorized))
	rest.Get(r, "/me", c.me, rest.Summary("Who the caller is"), rest.Auth(c.doors.customer, c.doors.partner))
}

func (c *Accounts) login(ctx context.Context, in Credentials) (Token, error) {
	user, err := c.doors.accounts.check(ctx, in)
	if err != nil {
		return Token{}, err
	}
	const life = time.Hour
	token, err := c.doors.signer.Sign(jwt.Claims{"sub": user.ID, "name": user.Name}, life)
	return Token{Token: token, ExpiresIn: int(life.Seconds())}, err
}

// me shows callers their own principal.
func (c *Accounts) me(ctx context.Context, _ struct{}) (*rest.User, error) {
	user, _ := rest.PrincipalAs[*rest.User](ctx)
	return user, nil
}

// Office is the back office, for a browser: logging in sets a cookie.
type Office struct {
	db    *bun.DB
	doors *doors
	rate  string
}

// Routes implements [rest.Controller].
func (c *Office) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/office"), rest.Tags("office"), rest.Auth(c.doors.office), rest.Permit(permission.IsAdmin))
	rest.Post(r, "/login", c.login, rest.Summary("Begin a session"), rest.NoAuth(), rest.Open(),
		rest.SendsHeader("Set-Cookie", "The session."),
		rest.Throttles(throttle.Scoped("office", c.rate)), rest.Fails(http.StatusUnauthorized, http.StatusForbidden))
	rest.Post(r, "/logout", c.logout, rest.Summary("End the session"), rest.Open(),
		rest.SendsHeader("Set-Cookie", "The end of the session."))
	rest.Get(r, "/me", c.me, rest.Summary("Who the session belongs to"))
	rest.Post(r, "/books/{int:id}/stock", c.restock, rest.Summary("Put copies on the shelf"),
		rest.Fails(http.StatusNotFound))
}

func (c *Office) login(ctx context.Context, in Credentials) (*rest.User, error) {
	user, err := c.doors.accounts.check(ctx, in)
	if err != nil {
		return nil, err
	}
	cookie, err := c.doors.office.Login(rest.RequestOf(ctx), user)
	if err != nil {
		return nil, err
	}
	rest.ResponseOf(ctx).SetCookie(cookie)
	return user, nil
}

func (c *Office) logout(ctx context.Context, _ struct{}) (rest.NoContent, error) {
	cookie, err := c.doors.office.Logout(rest.RequestOf(ctx))
	if err == nil {
		rest.ResponseOf(ctx).SetCookie(cookie)
	}
	return rest.NoContent{}, err
}

func (c *Office) me(ctx context.Context, _ struct{}) (*rest.User, error) {
	user, _ := rest.PrincipalAs[*rest.User](ctx)
	return user, nil
}

// Delivery are books that came in.
type Delivery struct {
	ID     int64 `json:"-"      path:"id"`
	Copies int64 `json:"copies" maximum:"1000" minimum:"1"`
}

// Stock is how many copies of a book there are.
type Stock struct {
	BookID int64 `json:"bookId"`
	Stock  int64 `json:"stock"`
}

func (c *Office) restock(ctx context.Context, in Delivery) (Stock, error) {
	out := Stock{BookID: in.ID}
	err := c.db.NewUpdate().Model((*Book)(nil)).
		Set("stock = stock + ?", in.Copies).Set("version = version + 1").
		Where("id = ?", in.ID).Returning("stock").Scan(ctx, &out.Stock)
	return out, err
}

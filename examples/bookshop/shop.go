package main

import (
	"cmp"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/uptrace/bun"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/throttle"
)

// config has the values that differ between shops.
type config struct {
	// File is the SQLite file. Defaults to none: the shop is in memory.
	File string
	// Secret is the source of the keys of tokens and cursors: 32 random bytes or more.
	Secret []byte
	// PartnerKeys are the API keys of partners.
	PartnerKeys map[string]*rest.User
	// OpsPassword opens the metrics, for the user ops.
	OpsPassword string
	// Clock defaults to the system's.
	Clock Clock
	// UserRate, GuestRate and LoginRate bound requests. They default to 600 a minute for
	// each user, 120 for each address of guests, and 10 tries to log in.
	UserRate, GuestRate, LoginRate string
	// AddressRate bounds the requests of an address before authentication, so that nobody can guess
	// keys for ever. Defaults to 2,000 a minute.
	AddressRate string
	// Debug registers the routes for developers.
	Debug bool
	// Log defaults to slog.Default().
	Log *slog.Logger
}

// derive returns a key for one purpose, so that a key is useless for another purpose.
func (c config) derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, c.Secret, nil, purpose, 32)
	if err != nil {
		panic("derive a key: " + err.Error()) // 32 bytes are never too many
	}
	return key
}

func (c config) withDefaults() config {
	if c.Clock == nil {
		// the database's precision, so that an answer is the same when it is read again
		c.Clock = func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	c.UserRate = cmp.Or(c.UserRate, "600/min")
	c.GuestRate = cmp.Or(c.GuestRate, "120/min")
	c.LoginRate = cmp.Or(c.LoginRate, "10/min")
	c.AddressRate = cmp.Or(c.AddressRate, "2000/min")
	return c
}

// shop is the program without a network.
type shop struct {
	api *rest.API
	db  *bun.DB
}

// openShop opens the database and builds the API on it.
func openShop(ctx context.Context, c config) (*shop, error) {
	c = c.withDefaults()
	db, err := openDatabase(ctx, c.File)
	if err != nil {
		return nil, err
	}
	api, err := newAPI(c, db) //nolint:contextcheck // the API lives longer than its making
	if err == nil {
		err = seed(ctx, db)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &shop{api, db}, nil
}

// end ends the requests that clients follow, so that the server can stop.
func (s *shop) end() { _ = s.api.Shutdown(context.Background()) }

func (s *shop) close() error { return s.db.Close() }

func newAPI(c config, db *bun.DB) (*rest.API, error) {
	d, err := newDoors(c, db)
	if err != nil {
		return nil, err
	}
	// Values that a deployment may change are set by name, for example from a file.
	configured, err := rest.FromSettings(rest.Settings{"REST_EXTRA": map[string]any{
		"PAGINATION_CLASS": "page.LimitOffset", "PAGINATION_PER_PAGE": 25,
	}})
	if err != nil {
		return nil, err
	}
	prices := newPriceLog(db)
	api := rest.New(
		rest.Title("Book shop"), rest.Version("1.0.0"),
		rest.About("An example of the rest library. Log in as ada at `POST /login`, or use the API key that the program prints."),
		rest.AboutTags(map[string]string{
			"catalog": "Books, authors and genres.", "covers": "The pictures on the books.",
			"shelves": "New arrivals and bargains.", "reviews": "What readers say of a book.",
			"orders": "The orders of customers and partners.", "prices": "Changes of prices, live.",
			"partners": "Files for partners, who have an API key.", "accounts": "Customers and partners.",
			"office": "The staff, with a session.", "site": "Pages, health and metrics.",
		}),
		rest.Logger(c.Log),
		configured,
		// The first throttle comes before authentication and counts by address, so that wrong keys
		// count too. The other two come after it and count by caller. So a wrong key gets a 401, and
		// only too many of them get a 429.
		rest.ThrottlesFirst(throttle.PerClient(c.AddressRate)),
		rest.Throttles(throttle.PerUser(c.UserRate), throttle.Anonymous(c.GuestRate)),
		rest.Provide(func(rest.Services) (Clock, error) { return c.Clock, nil }),
		rest.Provide(func(rest.Services) (*priceLog, error) { return prices, nil }),
		rest.ProvideRequest(newPriceList),
		// A row that a handler does not find in the database is a 404.
		rest.MapError(func(err error) *rest.Error {
			if errors.Is(err, sql.ErrNoRows) {
				return &rest.Error{Status: http.StatusNotFound, Err: err}
			}
			return nil
		}),
	)

	var all rest.Registry
	catalog := catalogOptions(d)
	all.Add(newGenres(db), append(catalog, rest.Prefix("/genres"))...)
	all.Add(newAuthors(db), append(catalog, rest.Prefix("/authors"))...)
	all.Add(newBooks(db, c.Clock), append(catalog, rest.Prefix("/books"), rest.Use(prices.wakeAfter))...)
	all.Add(&Covers{db, d})
	all.Add(newArrivals(db, 1870), rest.Prefix("/shelves/arrivals"))
	all.Add(newBargains(db, 1000), rest.Prefix("/shelves/bargains"))
	all.Add(&Reviews{db, d})
	all.Add(&Orders{db: db, doors: d, secret: c.derive("cursors"), reverse: api.Reverse})
	all.Add(&Prices{})
	all.Add(&Partners{db, d})
	all.Add(&Accounts{d, c.LoginRate})
	all.Add(&Office{db, d, c.LoginRate})
	all.Add(&Site{db, d})
	debug := &Debug{api}
	all.Add(debug)
	api.Import(&all)
	if c.Debug {
		api.Register(debug)
	}
	registerStock(api, db, d)
	return api, nil
}

package main

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // the driver

	"github.com/spoolhq/spool/rest"
)

// openDatabase opens the shop's file and creates what is missing in it. Without a file, the shop is in
// memory and ends with the process.
func openDatabase(ctx context.Context, file string) (*bun.DB, error) {
	// Writers take the lock when they begin, because a transaction that has read first cannot wait for
	// it.
	address := "file:" + file +
		"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)"
	if file == "" {
		address = "file::memory:?_pragma=foreign_keys(1)"
	}
	pool, err := sql.Open("sqlite", address)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if file == "" {
		pool.SetMaxOpenConns(1) // each connection would have a memory of its own
	}
	db := bun.NewDB(pool, sqlitedialect.New())
	if err := createTables(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func createTables(ctx context.Context, db *bun.DB) error {
	for _, q := range []*bun.CreateTableQuery{
		db.NewCreateTable().Model((*Genre)(nil)),
		db.NewCreateTable().Model((*Author)(nil)),
		db.NewCreateTable().Model((*Book)(nil)).
			ForeignKey(`("author_id") REFERENCES "authors" ("id")`).
			ForeignKey(`("genre_slug") REFERENCES "genres" ("slug")`),
		db.NewCreateTable().Model((*Cover)(nil)).ForeignKey(`("book_id") REFERENCES "books" ("id") ON DELETE CASCADE`),
		db.NewCreateTable().Model((*Review)(nil)).ForeignKey(`("book_id") REFERENCES "books" ("id") ON DELETE CASCADE`),
		db.NewCreateTable().Model((*Order)(nil)),
		db.NewCreateTable().Model((*OrderLine)(nil)).
			ForeignKey(`("order_id") REFERENCES "orders" ("id")`).
			ForeignKey(`("book_id") REFERENCES "books" ("id")`),
		db.NewCreateTable().Model((*PriceChange)(nil)),
		db.NewCreateTable().Model((*Account)(nil)),
	} {
		if _, err := q.IfNotExists().Exec(ctx); err != nil {
			return fmt.Errorf("create tables: %w", err)
		}
	}
	return nil
}

// find returns the row with the key, in the form that rest.GetOrNotFound takes.
func find[T any](ctx context.Context, db bun.IDB, key any) (*T, error) {
	row := new(T)
	err := db.NewSelect().Model(row).Where("?TablePKs = ?", key).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, rest.ErrNotFound
	}
	return row, err
}

// hashRounds is the cost of trying a password. This shop prints its passwords when it starts. A shop
// with real passwords needs 600,000 rounds, as OWASP recommends for PBKDF2.
const hashRounds = 1000

func hashPassword(password string, salt []byte, rounds int) ([]byte, error) {
	return pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
}

// newAccount returns an account with its password hashed.
func newAccount(id, name, password string, admin bool) (*Account, error) {
	a := &Account{ID: id, Name: name, Admin: admin, Rounds: hashRounds, Salt: make([]byte, 16)}
	_, _ = rand.Read(a.Salt) // it never fails
	var err error
	a.Hash, err = hashPassword(password, a.Salt, a.Rounds)
	return a, err
}

// opens reports whether the password is the account's.
func (a *Account) opens(password string) bool {
	hash, err := hashPassword(password, a.Salt, a.Rounds)
	return err == nil && subtle.ConstantTimeCompare(hash, a.Hash) == 1
}

// principal returns the account as the principal of a request.
func (a *Account) principal() *rest.User {
	return &rest.User{ID: a.ID, Name: a.Name, Admin: a.Admin}
}

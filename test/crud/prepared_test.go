package crud

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/dialect/feature"
	"github.com/uptrace/bun/schema"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/spoolhq/spool/rest/bunquery"
	"github.com/spoolhq/spool/rest/gormquery"
)

// paper is what is kept for tenants, and may be public.
type paper struct {
	ID     int64 `bun:",pk"`
	Tenant int64
	Public bool
}

// A store may be prepared with conditions of its own. An OR among them must not make the key
// of the row one of several ways to find it: another row would be read, judged and written.
func TestPreparedStores(t *testing.T) {
	t.Parallel()

	t.Run("Bun", func(t *testing.T) {
		t.Parallel()

		wire := &wiretap{}
		store := bunquery.Store[paper, int64](bun.NewDB(wire.open(t), newDialect()),
			bunquery.With(func(q *bun.SelectQuery) *bun.SelectQuery {
				return q.Where("tenant = 1").WhereOr("public")
			}))
		if _, err := store.Get(t.Context(), 7); !errors.Is(err, errTapped) {
			t.Fatal(err)
		}
		wire.wants(t, `WHERE ((tenant = 1) OR (public)) AND ("paper"."id" = 7)`)
	})
	t.Run("Gorm", func(t *testing.T) {
		t.Parallel()

		wire := &wiretap{}
		db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{ConnPool: wire.open(t), Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		store := gormquery.Store[paper, int64](db.Where("tenant = 1").Or("public"))
		for range 2 { // what is done for one row does not stay in db
			if _, err := store.Get(t.Context(), 7); !errors.Is(err, errTapped) {
				t.Fatal(err)
			}
			wire.wants(t, "WHERE (tenant = 1 OR public) AND `papers`.`id` = ?")
		}
	})
}

var errTapped = errors.New("the statement was read")

// wiretap is a database that reads statements and answers none.
type wiretap struct {
	mu   sync.Mutex
	last string
}

func (w *wiretap) open(t *testing.T) *sql.DB {
	t.Helper()
	db := sql.OpenDB(w)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (w *wiretap) wants(t *testing.T, text string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !strings.Contains(w.last, text) {
		t.Errorf("got %s\nwant %s in it", w.last, text)
	}
}

func (w *wiretap) Connect(context.Context) (driver.Conn, error) { return w, nil }
func (w *wiretap) Driver() driver.Driver                        { return nil }
func (w *wiretap) Prepare(string) (driver.Stmt, error)          { return nil, errTapped }
func (w *wiretap) Close() error                                 { return nil }
func (w *wiretap) Begin() (driver.Tx, error)                    { return nil, errTapped }
func (w *wiretap) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = query
	return nil, errTapped
}

// plainDialect is as much of a dialect as reading needs.
type plainDialect struct {
	schema.BaseDialect

	tables *schema.Tables
}

func newDialect() *plainDialect {
	d := &plainDialect{}
	d.tables = schema.NewTables(d)
	return d
}

func (*plainDialect) Init(*sql.DB)                                                     {}
func (*plainDialect) Name() dialect.Name                                               { return dialect.SQLite }
func (*plainDialect) Features() feature.Feature                                        { return 0 }
func (d *plainDialect) Tables() *schema.Tables                                         { return d.tables }
func (*plainDialect) OnTable(*schema.Table)                                            {}
func (*plainDialect) IdentQuote() byte                                                 { return '"' }
func (*plainDialect) DefaultVarcharLen() int                                           { return 0 }
func (*plainDialect) DefaultSchema() string                                            { return "" }
func (*plainDialect) AppendSequence(b []byte, _ *schema.Table, _ *schema.Field) []byte { return b }

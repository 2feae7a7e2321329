package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // the driver

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/bunquery"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// deepRow is a row of the table from which deep pages are read.
type deepRow struct {
	bun.BaseModel `bun:"table:deep" json:"-"`

	ID    int64   `bun:",pk"    json:"id"`
	Name  string  `json:"name"`
	Price float64 `json:"price"`
}

// deepTable is a table in SQLite's memory, with an index for its order.
type deepTable struct{ db *bun.DB }

// deepPages compares pages at the start of a long list with pages at 90 % of it.
func deepPages(ctx context.Context, rows int) ([]*extra, func() error, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1) // another connection would have another database
	t := &deepTable{bun.NewDB(db, sqlitedialect.New())}
	list, err := t.compare(ctx, rows)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return list, db.Close, nil
}

func (t *deepTable) compare(ctx context.Context, rows int) ([]*extra, error) {
	if err := t.fill(ctx, rows); err != nil {
		return nil, err
	}
	// one API, because a cursor is valid only for its path and list
	api := rest.New(rest.Title("deep"))
	api.Register(t)
	second, err := cursorAt(api, 50, 50)
	if err != nil {
		return nil, err
	}
	deep, err := cursorAt(api, rows/10*9, 1000)
	if err != nil {
		return nil, err
	}
	at := func(name, target string) *subject {
		return &subject{name: name, exchange: newExchange(api, getCall(target))}
	}
	how := fmt.Sprintf("A page of 50 of %d rows in the memory of SQLite, ordered by a price that has an index.", rows)
	return []*extra{
		{
			title: "deep pages by cursor",
			how: how +
				" Any page but the first has a cursor to check, and two to make: so the second page is the measure of depth.",
			subjects: []*subject{
				at("second page", second), at("page at 90 %", deep), at("first page", "/cursor"),
			},
			most: map[string]float64{"page at 90 %": 1.1},
		},
		{
			title: "deep pages by offset", how: how + " Without a count. For comparison; there is no goal.",
			subjects: []*subject{at("first page", "/offset"), at("page at 90 %", fmt.Sprintf("/offset?offset=%d", rows/10*9))},
		},
	}, nil
}

// Routes implements [rest.Controller].
func (t *deepTable) Routes(r *rest.Routes) {
	size := page.Size(50)
	rest.List(r, "/cursor", t.list, page.Cursor(page.By("price"), size, page.Max(1000),
		page.Sign([]byte("the secret of a measurement"))))
	rest.List(r, "/offset", t.ordered, page.LimitOffset(size, page.Count(page.NoCount)))
}

func (t *deepTable) list(context.Context, struct{}) (query.Set[deepRow], error) {
	return bunquery.Set[deepRow](t.db), nil
}

func (t *deepTable) ordered(context.Context, struct{}) (query.Set[deepRow], error) {
	return bunquery.Set[deepRow](t.db).OrderBy("price", "id"), nil
}

func (t *deepTable) fill(ctx context.Context, rows int) error {
	if _, err := t.db.NewCreateTable().Model((*deepRow)(nil)).Exec(ctx); err != nil {
		return err
	}
	batch := make([]deepRow, 0, 1000)
	for id := int64(1); id <= int64(rows); id++ {
		batch = append(batch, deepRow{ID: id, Name: fmt.Sprintf("Walnut organiser %d", id), Price: float64(id) / 4})
		if len(batch) < cap(batch) && id < int64(rows) {
			continue
		}
		if _, err := t.db.NewInsert().Model(&batch).Exec(ctx); err != nil {
			return err
		}
		batch = batch[:0]
	}
	_, err := t.db.NewCreateIndex().Model((*deepRow)(nil)).Index("deep_price").Column("price", "id").Exec(ctx)
	return err
}

// cursorAt follows the cursors of pages of the given size past the given number of rows, checks that
// none is missed, and returns the address of the next page of 50.
func cursorAt(api http.Handler, rows, size int) (string, error) {
	step := "page_size=" + strconv.Itoa(size)
	target := "/cursor?" + step
	for seen := 0; seen < rows; {
		x := newExchange(api, getCall(target))
		x.do(1)
		var body struct {
			Next    string    `json:"next"`
			Results []deepRow `json:"results"`
		}
		if err := json.Unmarshal(x.writer.body, &body); err != nil {
			return "", fmt.Errorf("%w: %d %s", err, x.writer.status, x.writer.body)
		}
		for _, row := range body.Results {
			if seen++; row.ID != int64(seen) {
				return "", fmt.Errorf("row %d came as the %dth", row.ID, seen)
			}
		}
		if target = body.Next; target == "" {
			return "", fmt.Errorf("there is no page after %d rows", seen)
		}
	}
	if !strings.Contains(target, step) {
		return "", fmt.Errorf("the address %q has lost its size", target)
	}
	return strings.Replace(target, step, "page_size=50", 1), nil
}

package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool/internal/testing/pgtest"
)

// TestBarePostgresStartsWriteTheSame compares the rows that the two sides leave over PostgreSQL.
func TestBarePostgresStartsWriteTheSame(t *testing.T) {
	t.Parallel()

	b := &bench{ctx: t.Context(), postgresURL: pgtest.Shared(t).URL()}
	t.Cleanup(b.closePostgres)
	var spooled, bare string
	for _, side := range []struct {
		rows  *string
		begin func(ctx context.Context, url string) (starter, error)
	}{{&spooled, newStarter}, {&bare, newBareStarter}} {
		err := b.onFresh(func(url string) error {
			s, err := side.begin(t.Context(), url)
			if err != nil {
				return err
			}
			defer s.close()
			if err := s.start(t.Context()); err != nil {
				return err
			}
			*side.rows, err = postgresRows(t.Context(), url)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if spooled != bare || strings.Count(bare, "{") < 5 {
		t.Errorf("Spool wrote\n%s\nbare wrote\n%s", spooled, bare)
	}
}

// varyingShard is the row of the tally, which depends on the thread's id.
var varyingShard = regexp.MustCompile(`"shard":\d+`)

// postgresRows returns the rows of each table, without what differs between any two starts.
func postgresRows(ctx context.Context, url string) (string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	var out strings.Builder
	for _, table := range []string{
		"thread", "run", "message", "entry", "park", "effect", "usage", "delta", "job", "job_dead", "tally",
	} {
		var row string
		err := conn.QueryRow(ctx, "SELECT coalesce(string_agg(to_json(t)::text, E'\n'), 'none') FROM spool."+table+" t").
			Scan(&row)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s: %s\n", table, varyingShard.ReplaceAllString(varying.ReplaceAllString(row, "$1"), ""))
	}
	// A time in a delta has as many digits as it needs, so the bytes of two threads differ.
	var bytes, delta int64
	err = conn.QueryRow(ctx,
		"SELECT t.bytes, octet_length(d.body) FROM spool.thread t JOIN spool.delta d ON d.tenant = t.tenant AND d.thread_id = t.id").Scan(&bytes, &delta)
	if err != nil {
		return "", err
	}
	return strings.Replace(out.String(), fmt.Sprintf(`"bytes":%d`, bytes), fmt.Sprintf(`"bytes":%d`, bytes-delta), 1), nil
}

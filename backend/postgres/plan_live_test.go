package postgres

import (
	"regexp"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/wire"
)

// TestPlansOfStreams looks at how the server executes the statements of run streams while an hour has 5,000
// streams with ten items each, and an earlier hour too.
func TestPlansOfStreams(t *testing.T) {
	t.Parallel()
	db := opened(t, pgtest.Database(t, tables), nil)
	ctx := testwait.Context(t, "the plans")
	if err := db.Live().Open(ctx, streamOf(0)); err != nil {
		t.Fatal(err)
	}
	last := partitions(t, db)[0]
	if err := db.live.makePartitionOf(ctx, last+1); err != nil {
		t.Fatal(err)
	}
	for _, fill := range []string{
		`INSERT INTO spool.stream (tenant, thread_id, id, opened_at, hour, last_fence, last_n, closed, expires_at)
			SELECT 'default', 't' || n, 'r:' || hour, ` + serverNow + `, hour, 1, 10, n > 100, CASE WHEN n > 150 THEN 4102444800000000 WHEN n > 100 THEN n ELSE 0 END
			FROM generate_series(1, 5000) AS g (n) CROSS JOIN spool.stream_hour`,
		`INSERT INTO spool.stream_item (hour, stream, fence, n, type, seq, data)
			SELECT hour, number, 1, n, 'x', 0, 'x' FROM spool.stream CROSS JOIN generate_series(1, 10) AS g (n)`,
		"ANALYZE spool.stream", "ANALYZE spool.stream_item",
	} {
		if _, err := db.pool.Exec(ctx, fill); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		for name, s := range statementsOfStreams(db.live, last) {
			plan := explain(ctx, t, db, mode, s)
			if wholeTable.MatchString(plan) {
				t.Errorf("%s with %s reads a whole table:\n%s", name, mode, plan)
			}
			if n := pages(plan); n > 600 {
				t.Errorf("%s with %s reads %d pages:\n%s", name, mode, n, plan)
			}
		}
	}
}

// wholeTable finds in a plan that a table of streams is read from its beginning to its end.
var wholeTable = regexp.MustCompile(`Seq Scan on (stream|stream_item\w*)\b(\s|$)`)

// statementsOfStreams returns the statements of run streams by their names.
func statementsOfStreams(l *live, hour int64) map[string]statement {
	key := streamOf(7)
	end := wire.NewItem(wire.ItemRunFinished, wire.Offset{}, 0, wire.StreamFinished{Status: wire.SegmentFinished})
	group := []*appending{{key: key, items: streamItems(11, 12)}, {key: streamOf(8), items: streamItems(11, 11)}}
	add := appendItems(group)
	add.args[len(add.args)-1] = `{"\\x61","\\x62","\\x63"}` // explain sends texts
	var last wire.Offset
	there, closed := false, false
	closing := closeStream(key, end, time.Minute)
	for i, arg := range closing.args {
		if data, ok := arg.([]byte); ok {
			closing.args[i] = string(data)
		}
	}
	return map[string]statement{
		"append": add,
		"open":   l.openBatch(key, &there, &closed)[2],
		"state":  l.state(key, &closed, &last, &there),
		"close":  closing,
		"read":   readStream(key, wire.Offset{Fence: 1, N: 5}, 3),
		"delete": deleteStreams(key.Thread),
		"over":   removeStreams(hour),
	}
}

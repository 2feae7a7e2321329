package form

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/archive"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	key := spool.ThreadKey{Tenant: "acme", ID: "c"}
	agent, depth := spool.AgentID("a"), 1
	at := time.Date(2026, 11, 23, 20, 0, 0, 0, time.UTC)
	const ofC = "tenant = ? AND thread_id = ?"
	var runs Conditions
	runs.AndRuns(wire.RunQuery{
		Waiting: true, Depth: &depth, Before: at, BeforeID: "r", CreatedAfter: at, CreatedBefore: at,
	})
	for name, c := range map[string]struct {
		got  Conditions
		want string
		args []any
	}{
		"no entries": {EntryConditions(key, store.EntryQuery{}), ofC, []any{key.Tenant, key.ID}},
		"entries": {
			EntryConditions(key, store.EntryQuery{After: 1, Run: "r", Type: "t"}),
			ofC + " AND seq > ? AND run_id = ? AND type = ?",
			[]any{key.Tenant, key.ID, int64(1), spool.RunID("r"), "t"},
		},
		"usage": {
			UsageConditions(key, wire.UsageQuery{Run: "r", Agent: &agent, Kind: "k", Counted: true}),
			ofC + " AND run_id = ? AND agent_id = ? AND kind = ? AND input IS NOT NULL",
			[]any{key.Tenant, key.ID, spool.RunID("r"), agent, "k"},
		},
		"a message": {
			MessageConditions(key, "m", store.MessageQuery{ID: "1", After: "2", Role: spool.RoleUser}),
			ofC + " AND dropped IS NULL AND id = ?",
			[]any{key.Tenant, key.ID, spool.MessageID("1")},
		},
		"summaries": {
			MessageConditions(key, "m", store.MessageQuery{Role: spool.RoleSystem}),
			ofC + " AND dropped IS NULL AND role = 'system'",
			[]any{key.Tenant, key.ID},
		},
		"messages of a branch": {
			MessageConditions(key, "m", store.MessageQuery{
				Branch: 5, After: "1", Before: "2", SinceSeq: 3, Role: spool.RoleUser, Run: "r", Agent: &agent,
			}),
			ofC + " AND dropped = ?" +
				" AND ord > coalesce((SELECT ord FROM m WHERE " + ofC + " AND dropped = ? AND id = ?), 0)" +
				" AND ord < coalesce((SELECT ord FROM m WHERE " + ofC + " AND dropped = ? AND id = ?), 9223372036854775807)" +
				" AND ord > coalesce((SELECT ord FROM m WHERE " + ofC + " AND after_seq < ? ORDER BY ord DESC LIMIT 1), 0)" +
				" AND role = ? AND run_id = ? AND agent_id = ?",
			[]any{
				key.Tenant, key.ID, int64(5), key.Tenant, key.ID, int64(5), spool.MessageID("1"), key.Tenant, key.ID, int64(5),
				spool.MessageID("2"), key.Tenant, key.ID, int64(3), "user", spool.RunID("r"), agent,
			},
		},
		"audit": {
			AuditConditions(wire.AuditQuery{Tenant: "acme", ThreadID: "c", Before: 9, Action: "a", By: "ann"}),
			ofC + " AND seq < ? AND action = ? AND actor = ?",
			[]any{key.Tenant, key.ID, int64(9), "a", "ann"},
		},
		"dead jobs": {
			DeadConditions(wire.JobQuery{
				Tenant: "acme", ThreadID: "c", Queue: new("q"), Subject: "s", JobID: 7, Before: at, BeforeID: 8, DiedBefore: at,
				DueSince: at,
			}),
			ofC + " AND queue = ? AND queue <> '' AND subject = ? AND id = ? AND (died_at, id) < (?, ?) AND died_at < ?",
			[]any{key.Tenant, key.ID, "q", "s", int64(7), at, int64(8), at.Add(time.Microsecond - 1)},
		},
		"jobs of the default queue": {
			DeadConditions(wire.JobQuery{Tenant: "acme", Queue: new("")}), "tenant = ? AND queue = ?", []any{key.Tenant, ""},
		},
		"values": {
			ValueConditions(store.RowQuery{Tenant: "acme", Kind: "k", Key: "a", After: "b"}),
			"tenant = ? AND kind = ? AND key = ? AND key > ?",
			[]any{key.Tenant, "k", "a", "b"},
		},
		"runs": {
			runs, "place > 0 AND depth = ? AND (created_at, id) < (?, ?) AND created_at > ? AND created_at < ?",
			[]any{1, at, spool.RunID("r"), at, at.Add(time.Microsecond - 1)},
		},
	} {
		if got := strings.Join(strings.Fields(c.got.Text), " "); got != c.want {
			t.Errorf("%s: the conditions are\n%s, want\n%s", name, got, c.want)
		}
		if !slices.Equal(c.got.Args, c.args) {
			t.Errorf("%s: the values are %v, want %v", name, c.got.Args, c.args)
		}
	}
}

func TestSectionConditions(t *testing.T) {
	t.Parallel()
	const with = "EXISTS (it)"
	for _, c := range []struct {
		kind  store.SectionKind
		table string
		want  string
	}{
		{store.SectionThread, archive.Thread, "tenant = ? AND id = ?"},
		{store.SectionThread, "message", "tenant = ? AND thread_id = ?"},
		{store.SectionThread, "job", "tenant = ? AND thread_id = ? AND EXISTS (it)"},
		{store.SectionThread, "job_dead", "tenant = ? AND thread_id = ? AND EXISTS (it)"},
		{store.SectionOutbox, "job", "tenant = ? AND NOT EXISTS (it)"},
		{store.SectionAudit, "audit", "tenant = ? AND seq BETWEEN ? AND ?"},
	} {
		tables := archive.TablesOf(c.kind)
		at := slices.IndexFunc(tables, func(table *archive.Table) bool { return table.Name == c.table })
		if at < 0 {
			t.Errorf("a section of the kind %s has no table %s", c.kind, c.table)
			continue
		}
		got := SectionConditions(store.Section{Kind: c.kind, Tenant: "acme", Name: "1"}, tables[at], with)
		if got.Text != c.want || len(got.Args) != strings.Count(c.want, "?") {
			t.Errorf("%s of %s: %s with %v, want %s", c.table, c.kind, got.Text, got.Args, c.want)
		}
	}
}

func TestScanArchived(t *testing.T) {
	t.Parallel()
	r := &values{t: t, all: []any{"a", 1, 2, 1, 0, `{"b":"2", "a":"1"}`}}
	var got []any
	for _, kind := range []archive.Kind{
		archive.Text, archive.Int, archive.MaybeInt, archive.Bool, archive.MaybeBool, archive.Labels,
	} {
		got = append(got, ScanArchived(r, kind))
	}
	if n, ok := got[2].(*int64); !ok || *n != 2 {
		t.Errorf("a number that may be NULL is read as %v", got[2])
	}
	if b, ok := got[4].(*bool); !ok || *b {
		t.Errorf("a truth that may be NULL is read as %v", got[4])
	}
	got[2], got[4] = nil, nil
	if want := []any{"a", int64(1), nil, true, nil, `{"a":"1","b":"2"}`}; !slices.Equal(got, want) || r.err != nil {
		t.Errorf("the columns are %v, %v, want %v", got, r.err, want)
	}
	r = &values{t: t, all: []any{"["}}
	if ScanArchived(r, archive.Labels); spool.CodeOf(r.err) != spool.Internal {
		t.Errorf("broken labels: %v", r.err)
	}
}

func TestJobState(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		due     time.Duration
		claimed bool
		want    wire.JobState
	}{
		{0, false, wire.JobReady},
		{0, true, wire.JobReady},
		{1, false, wire.JobDelayed},
		{1, true, wire.JobInFlight},
	} {
		if got := JobState(now.Add(c.due), c.claimed, now); got != c.want {
			t.Errorf("due in %s, claimed %t: %s, want %s", c.due, c.claimed, got, c.want)
		}
	}
}

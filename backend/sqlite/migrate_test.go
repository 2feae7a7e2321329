package sqlite

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A migration that is merged late, after one with a higher number, is applied to a file that
// has had the higher one.
func TestMigrateLate(t *testing.T) {
	t.Parallel()

	all, err := loadMigrations()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spool.db")
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	with := func(more ...migration) []migration { return append(slices.Clone(all), more...) }
	late := migration{version: 901, name: "901_late.sql", sql: "CREATE TABLE late (tenant TEXT PRIMARY KEY) STRICT"}
	early := migration{version: 902, name: "902_early.sql", sql: "CREATE TABLE early (tenant TEXT PRIMARY KEY) STRICT"}
	for range 2 { // the second time there is nothing to do
		if err := migrate(c, with(early)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := migrate(c, with(late, early)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.exec("SELECT tenant FROM late"), c.exec("SELECT tenant FROM early")); err != nil {
		t.Error(err)
	}
	have, err := applied(c)
	if err != nil || len(have) != len(all)+2 || !have[baseline] || !have[901] || !have[902] {
		t.Errorf("the file has had %v, %v", have, err)
	}
	if last, err := version(c); last != 902 || err != nil {
		t.Errorf("user_version is %d, %v", last, err)
	}
	// A program without the late one must not write to the file.
	err = checkOpens(c, with(early), path)
	if spool.CodeOf(err) != spool.Conflict || !strings.Contains(spool.MessageOf(err), "migration 901") {
		t.Errorf("a program that does not know the late migration: got error %v, want a conflict that names it", err)
	}
}

// A file of the baseline gets the later steps when it is opened, and its jobs are found as those that come later.
func TestMigrateFromBaseline(t *testing.T) {
	t.Parallel()

	all, err := loadMigrations()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spool.db")
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		migrate(c, all[:1]),
		c.exec("INSERT INTO job ("+jobColumns+`, id, first_due, lane, claimed, token, attempts)
			VALUES ('a', 't', '', 'old', '', '', '', 0, 7, 's', 'outbox', '1', 1, 7, '', 0, 0, 0)`),
		c.close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	db := exclusive(t, path, Options{})
	err = db.Update(t.Context(), spool.ThreadKey{Tenant: "a"}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Jobs: []wire.Job{{ThreadID: "t", Key: "new", Subject: "s", Queue: "outbox", Payload: json.RawMessage("1")}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := claimed(t, db, store.ClaimQuery{Queues: []string{"outbox"}}); !slices.Equal(got, []string{"old", "new"}) {
		t.Errorf("claimed %q", got)
	}
	jobs, err := db.Jobs(t.Context(), wire.JobQuery{Tenant: "a", ThreadID: "t", Queue: new("outbox"), Subject: "s"})
	if err != nil || len(jobs) != 2 || jobs[0].Key != "old" {
		t.Errorf("jobs %+v, %v", jobs, err)
	}
	sound(t, path)
}

// A file from before the baseline is refused with a sentence that names the way. The refusal changes no file, not even
// the log that a killed server has left.
func TestBeforeBaseline(t *testing.T) {
	t.Parallel()

	dir, path := crashed(t)
	statement(t, path, `PRAGMA user_version = 29;
		DELETE FROM schema_migration;
		INSERT INTO schema_migration VALUES (1, 0), (29, 1795382790)`)
	look := func() string {
		remove(t, path+"-shm") // SQLite makes it anew when it opens the file
		return files(t, dir)
	}
	const want = "has schema 29, and this version of the program opens schema 100 and later ones: export it with the version that wrote it " +
		"(spool export --data DIR FILE), and import the file into a new folder with this one (spool import --data NEW FILE)"
	before := look()
	for _, o := range []*Options{nil, {Exclusive: true}, {Exclusive: true, AcceptLoss: true}} {
		if _, err := Open(path, o); spool.CodeOf(err) != spool.Conflict || !strings.HasSuffix(spool.MessageOf(err), want) {
			t.Errorf("open: got error %v, want a conflict", err)
		}
		if after := look(); after != before {
			t.Errorf("the refusal changed files:\n%s\nbefore:\n%s", after, before)
		}
	}
	if r, err := Check(t.Context(), path); err != nil || len(r.Problems) != 1 || !strings.HasSuffix(r.Problems[0], want) {
		t.Errorf("check: %+v, %v", r, err)
	}
}

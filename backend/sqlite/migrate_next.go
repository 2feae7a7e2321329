//go:build spool_next_schema

package sqlite

// nextStep is one step more than the released ones, for the test of an upgrade: the binary with this tag stands for
// the next version.
const nextStep = `
	ALTER TABLE thread ADD COLUMN next TEXT NOT NULL DEFAULT '';
	ALTER TABLE run ADD COLUMN next INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE park ADD COLUMN next TEXT NOT NULL DEFAULT '';
	ALTER TABLE job ADD COLUMN next TEXT NOT NULL DEFAULT '';
	CREATE TABLE next (tenant TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (tenant, id)) STRICT, WITHOUT ROWID;`

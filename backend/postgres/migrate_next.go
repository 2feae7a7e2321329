//go:build spool_next_schema

package postgres

// nextStep is one step more than the released ones, for the test of a rolling upgrade: the binary with this tag
// stands for the next version. Binaries of this version may use the schema after it.
const nextStep = `
	ALTER TABLE spool.thread ADD COLUMN next text NOT NULL DEFAULT '';
	ALTER TABLE spool.run ADD COLUMN next bigint NOT NULL DEFAULT 0;
	ALTER TABLE spool.park ADD COLUMN next text NOT NULL DEFAULT '';
	ALTER TABLE spool.job ADD COLUMN next text NOT NULL DEFAULT '';
	CREATE TABLE spool.next (tenant text NOT NULL, id text NOT NULL, PRIMARY KEY (tenant, id));`

package postgres

import (
	"fmt"
	"time"
)

// idleInTransaction is how long the server lets a transaction wait for its process. It is shorter than a lease: a
// process that stops in a transaction must not keep the thread's lock until it goes on.
const idleInTransaction = 10 * time.Second

// settings returns the statement that bounds how long a transaction waits for its process, keeps the server from
// compiling statements, and makes commits durable before they return. It is for the present transaction or for the
// session.
//
// Compiling never pays off here: the server expects thousands of rows of a table that it has not analyzed yet, and
// would compile a claim for a tenth of a second that then reads five rows.
func settings(transaction bool) string {
	return fmt.Sprintf(`SELECT set_config('idle_in_transaction_session_timeout', '%s', %t), set_config('jit', 'off', %[2]t),
		CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', %[2]t) END`,
		idleInTransaction, transaction)
}

// The modes of transactions.
const (
	snapshotMode = "REPEATABLE READ, READ ONLY" // reads one state
	lockedMode   = "READ COMMITTED"             // reads what was committed before the thread's lock was taken
)

// begin returns the statements that begin a transaction. Behind a pooler, each transaction makes its own settings.
func (db *DB) begin(mode string) []statement {
	batch := []statement{{sql: "BEGIN ISOLATION LEVEL " + mode}}
	if db.pooler {
		batch = append(batch, statement{sql: settings(true)})
	}
	return batch
}

// withSettings returns the statements of a transaction without BEGIN, whose only trip is the batch. Behind a pooler, it
// makes its own settings, too.
func (db *DB) withSettings(batch ...statement) []statement {
	if db.pooler {
		return append([]statement{{sql: settings(true)}}, batch...)
	}
	return batch
}

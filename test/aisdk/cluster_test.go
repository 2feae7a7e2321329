package aisdk_test

import (
	"os"
	"testing"

	"github.com/spoolhq/spool/internal/testing/pgtest"
)

func TestMain(m *testing.M) {
	if program.dir, program.err = os.MkdirTemp("", "spool-aisdk-"); program.err != nil {
		panic(program.err)
	}
	code := pgtest.Run(m)
	_ = os.RemoveAll(program.dir)
	os.Exit(code)
}

// What a client starts at one process over a PostgreSQL, another client resumes, stops and answers at another one.
// One of the two executes all runs, so each stream of the other one is of a run elsewhere.
func TestCluster(t *testing.T) {
	t.Parallel()

	for _, version := range []string{"6", "7"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			needClients(t)
			database := []string{"SPOOL_DATABASE=" + pgtest.Database(t, nil), "SPOOL_DATABASE_POOL=6"}
			works := serve(t, database, "--role", "all")
			api := serve(t, database, "--role", "api")
			node(t, "cluster.mjs", version, "http://"+works.address, "http://"+api.address)
		})
	}
}

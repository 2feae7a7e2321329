//go:build unix

package main

import "github.com/spoolhq/spool/internal/testing/testserver"

// postgres is a new cluster, whose only account is a superuser with a random password. What its tests say
// about durability or about speed is not true of a server with its own settings.
var postgres = service{
	name:     "PostgreSQL",
	variable: "SPOOL_TEST_POSTGRES",
	absent:   "no postgres binary; apt-get install postgresql",
	find:     func(h host) string { return testserver.FindPostgres(h.path(), h.versions) },
	plan: func(binary string, in testserver.Site) testserver.Program {
		return testserver.Postgres(binary, in, testserver.Cluster{NoSync: true})
	},
}

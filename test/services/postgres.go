//go:build unix

package main

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spoolhq/spool/internal/testing/testserver"
)

// The ports are the same in each run if they are free. They are below those that systems give to clients. With the
// same address, go's test cache knows the result of a test whose inputs have not changed.
const (
	postgresPort = 27432
	redisPort    = 27379
)

// postgres is a new cluster, whose only account is a superuser with a password that this machine keeps for its user.
// What its tests say about durability or about speed is not true of a server with its own settings.
var postgres = service{
	name:     "PostgreSQL",
	variable: "SPOOL_TEST_POSTGRES",
	absent:   "no postgres binary; apt-get install postgresql",
	find:     func(h host) string { return testserver.FindPostgres(h.path(), h.versions) },
	plan: func(binary string, in testserver.Site) testserver.Program {
		p := testserver.Postgres(binary, in, testserver.Cluster{NoSync: true, Password: password()})
		p.Port = postgresPort
		return p
	},
}

// password returns the password that a file in the user's cache folder has, and makes it the first time. It returns ""
// if there can be no such file: then each run has another one.
func password() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	file := filepath.Join(folder, "spool-test", "postgres-password")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(rand.Text())
		if err = os.MkdirAll(filepath.Dir(file), 0o700); err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
	}
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

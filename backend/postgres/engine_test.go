package postgres_test

import (
	"testing"

	"github.com/spoolhq/spool/internal/enginetest"
	"github.com/spoolhq/spool/internal/pgtest"
)

func TestEngine(t *testing.T) {
	t.Parallel()
	pgtest.Database(t, template) // starts the server outside the bubbles
	enginetest.Test(t, enginetest.Options{
		Open: opener(), Features: features, Remote: true,
		Skip: map[string]string{"Audit/Retention": "400 days pass in it, and each poll on the way is a query"},
	})
}

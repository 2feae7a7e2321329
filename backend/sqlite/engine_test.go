package sqlite_test

import (
	"testing"

	"github.com/spoolhq/spool/spooltest"
)

func TestEngine(t *testing.T) {
	t.Parallel()
	spooltest.TestEngine(t, opener(t), features)
}

package sqlite_test

import (
	"testing"

	"github.com/spoolhq/spool/internal/testing/enginetest"
)

func TestEngine(t *testing.T) {
	t.Parallel()
	enginetest.Test(t, enginetest.Options{Open: opener(t), Features: features})
}

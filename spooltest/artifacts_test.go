package spooltest_test

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

func TestArtifacts(t *testing.T) {
	t.Parallel()

	spooltest.TestArtifactStore(t, func(*testing.T) spool.ArtifactStore { return &spooltest.Artifacts{} })
}

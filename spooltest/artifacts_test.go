package spooltest_test

import (
	"testing"

	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

func TestArtifacts(t *testing.T) {
	t.Parallel()

	spooltest.TestArtifactStore(t, func(*testing.T) store.ArtifactStore { return &spooltest.Artifacts{} })
}

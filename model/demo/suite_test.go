package demo_test

import (
	"testing"
	"time"

	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/spooltest"
)

func TestModel(t *testing.T) { //nolint:paralleltest // the suite is
	spooltest.TestModel(t, func(*testing.T, spooltest.ModelScenario) spooltest.ModelPeer {
		return spooltest.ModelPeer{Model: demo.New(demo.Config{SlowDelay: 20 * time.Millisecond})}
	}, spooltest.ModelFeatures{CachedUsage: true, Files: true, Images: true, Local: true, SignedReasoning: true})
}

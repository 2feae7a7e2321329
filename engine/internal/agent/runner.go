// Package agent executes runs: segments, the steps of an agent, model calls, tool calls and nested
// runs. A [Runner] claims a job's run and executes it until it ends, parks, or cannot continue. It
// calls the transitions of package thread and acts on their results.
package agent

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/compact"
	"github.com/spoolhq/spool/engine/internal/publish"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/revision"
	"github.com/spoolhq/spool/engine/internal/settle"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/telemetry"
	"github.com/spoolhq/spool/engine/internal/toollist"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Host contains the dependencies of a runner.
type Host struct {
	*change.Threads

	Streaming   stream.Settings
	Registry    *registry.Registry
	Revisions   *revision.Revisions
	ToolLists   *toollist.Lists
	Telemetry   *telemetry.Recorder
	Attachments *attach.Files
	Compactor   *compact.Compactor
	Chat        *chat.Client
	Publisher   *publish.Publisher
	// Artifacts stores files. Nil: the engine stores none.
	Artifacts store.ArtifactStore
	// StoreResults says that Artifacts also stores large results.
	StoreResults bool
	// OnSettle is called for each run before its end state is written. Nil: no hook.
	OnSettle func(ctx context.Context, s wire.Settlement) error

	Budget   option.Budget
	Limits   option.Limits
	StopPoll time.Duration
}

// Runner executes runs in one process.
type Runner struct {
	Host

	hook           settle.Hook
	activeSegments atomic.Int64
	isolationSlot  isolationSlot
	// leftOut has the tools that the last warning named, by the names of the agents.
	leftOut sync.Map
}

func New(h Host) *Runner {
	return &Runner{Host: h, hook: settle.Hook{Store: h.Store, Log: h.Log, Settle: h.OnSettle}}
}

func (r *Runner) ActiveSegments() int64 { return r.activeSegments.Load() }

package agent

import (
	"sync"

	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// allowCalls counts the planned calls that are about to run or park against the tool-call budget.
// It returns the calls beyond the budget.
func allowCalls(tx *thread.Tx, plan []*plannedCall) (refused []*plannedCall) {
	for _, p := range plan {
		if p.result == nil && !budget.AllowCall(tx.Root().Run.Allowance) {
			refused = append(refused, p)
		}
	}
	return refused
}

// signal wakes all goroutines that wait for a change.
type signal struct {
	mu sync.Mutex
	ch chan struct{}
}

// next returns a channel that is closed by the next send.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}

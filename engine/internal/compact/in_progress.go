package compact

import (
	"sync"

	"github.com/spoolhq/spool"
)

// inProgress keeps the threads that this process is summarising on request.
type inProgress struct {
	mu      sync.Mutex
	threads map[spool.ThreadKey]bool
}

// start marks a thread until the returned function is called. It returns false if the thread is already
// marked.
func (c *inProgress) start(key spool.ThreadKey) (end func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.threads[key] {
		return nil, false
	}
	if c.threads == nil {
		c.threads = make(map[spool.ThreadKey]bool)
	}
	c.threads[key] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.threads, key)
	}, true
}

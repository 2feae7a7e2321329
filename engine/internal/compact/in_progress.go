package compact

import (
	"sync"

	"github.com/spoolhq/spool"
)

// inProgress are the threads whose messages this process has summarised at the moment, on
// somebody's word.
type inProgress struct {
	mu      sync.Mutex
	threads map[spool.ThreadKey]bool
}

// begin reports false where the thread is being summarised already. Otherwise the thread is, until
// the returned function is called.
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

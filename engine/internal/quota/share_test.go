package quota_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/internal/quota"
	"github.com/spoolhq/spool/store"
)

// provider counts requests as a provider does: in every sliding minute.
type provider struct {
	mu     sync.Mutex
	starts []time.Time
	worst  int // the most requests in any minute
	active int
	most   int // the most requests at the same time
}

func (p *provider) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.starts = append(p.starts, now)
	n := 0
	for i := len(p.starts) - 1; i >= 0 && now.Sub(p.starts[i]) < time.Minute; i-- {
		n++
	}
	p.worst = max(p.worst, n)
	p.active++
	p.most = max(p.most, p.active)
}

func (p *provider) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active--
}

// between counts the requests of a time.
func (p *provider) between(from, to time.Time) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.starts {
		if !at.Before(from) && at.Before(to) {
			n++
		}
	}
	return n
}

func limiter(db store.Store, l quota.Limit) *quota.Limiter {
	return quota.New(quota.Settings{Store: db, Log: slog.New(slog.DiscardHandler), Lease: 30 * time.Second},
		map[string]quota.Group{"m": {Name: "key", Limit: l}})
}

// call makes a call that takes a time, and returns the error of a call that was not made.
func call(ctx context.Context, l *quota.Limiter, c quota.Call, p *provider, takes time.Duration, u quota.Usage) error {
	c.Model = "m"
	for {
		permit, err := l.Acquire(ctx, c)
		if err != nil {
			return err
		}
		calling, ok := permit.Begin(ctx)
		if !ok {
			permit.Done(quota.Usage{})
			continue
		}
		p.start()
		select {
		case <-time.After(takes):
		case <-calling.Done():
			u.Err = calling.Err()
		}
		p.end()
		permit.Done(u)
		return nil
	}
}

// callUntil makes one call after another until ctx ends.
func callUntil(ctx context.Context, l *quota.Limiter, p *provider, takes time.Duration) {
	for ctx.Err() == nil {
		if call(ctx, l, quota.Call{}, p, takes, quota.Usage{}) != nil {
			return
		}
	}
}

// Eight workers share 60 requests a minute. No sliding minute has more, and almost all of them are used.
func TestEightWorkersShareARate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		limit   quota.Limit
		callers int // of each worker
		takes   time.Duration
	}{
		{"60", quota.Limit{Requests: 60}, 4, 3 * time.Second},
		{"60 and slots", quota.Limit{Requests: 60, Concurrent: 8}, 4, 3 * time.Second},
		{"300", quota.Limit{Requests: 300}, 6, 2 * time.Second},
		{"7", quota.Limit{Requests: 7}, 3, 2 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, p := memory.New(nil).Store, &provider{}
				ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
				defer cancel()
				began := time.Now()
				var all sync.WaitGroup
				for range 8 {
					l := limiter(store, test.limit)
					defer l.Close()
					for range test.callers {
						all.Go(func() {
							callUntil(ctx, l, p, test.takes)
						})
					}
				}
				all.Wait()
				if p.worst > int(test.limit.Requests) {
					t.Errorf("a minute has %d requests", p.worst)
				}
				if test.limit.Concurrent > 0 && p.most > int(test.limit.Concurrent) {
					t.Errorf("%d requests at the same time", p.most)
				}
				used := p.between(began.Add(time.Minute), began.Add(11*time.Minute))
				share := float64(used) / float64(10*test.limit.Requests)
				t.Logf("%.1f %% used", 100*share)
				if share < 0.95 {
					t.Errorf("%.1f %% of the rate is used", 100*share)
				}
			})
		})
	}
}

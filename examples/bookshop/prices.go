package main

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/spoolhq/spool/rest"
)

// Clock returns the time. It is a service, so that tests can have their own.
type Clock func() time.Time

// PriceList knows the prices for one request: staff pay less.
type PriceList struct {
	At      time.Time
	Percent int64
}

// Of returns the price of a book in cents.
func (p *PriceList) Of(b Book) int64 { return b.Price * p.Percent / 100 }

// newPriceList returns the price list of the caller.
func newPriceList(ctx context.Context, _ rest.Services) (*PriceList, error) {
	clock, err := rest.Resolve[Clock](ctx)
	if err != nil {
		return nil, err
	}
	list := &PriceList{At: clock(), Percent: 100}
	if user, ok := rest.PrincipalAs[*rest.User](ctx); ok && user.Admin {
		list.Percent = 80
	}
	return list, nil
}

// priceLog keeps the changes of prices in a table, and wakes the requests that wait for more.
type priceLog struct {
	db *bun.DB

	mu    sync.Mutex
	next  chan struct{} // closed by the next change
	ended chan struct{}
	end   sync.Once
}

func newPriceLog(db *bun.DB) *priceLog {
	return &priceLog{db: db, next: make(chan struct{}), ended: make(chan struct{})}
}

// Shutdown ends the requests that follow the log. The API calls it, because the log is one of its
// services.
func (l *priceLog) Shutdown() { l.end.Do(func() { close(l.ended) }) }

// wakeAfter wakes followers after a request that may have changed prices, because changes cannot be
// read before its transaction ends.
func (l *priceLog) wakeAfter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			l.mu.Lock()
			defer l.mu.Unlock()
			close(l.next)
			l.next = make(chan struct{})
		}
	})
}

func (l *priceLog) changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

// follow yields the changes after a number, and then new ones as they come.
func (l *priceLog) follow(ctx context.Context, after int64) iter.Seq2[rest.Event[PriceChange], error] {
	return func(yield func(rest.Event[PriceChange], error) bool) {
		for {
			changed := l.changed() // before reading, so that no change is missed
			var changes []PriceChange
			if err := l.db.NewSelect().Model(&changes).Where("id > ?", after).Order("id").Limit(100).Scan(ctx); err != nil {
				yield(rest.Event[PriceChange]{}, fmt.Errorf("read the price log: %w", err))
				return
			}
			for _, change := range changes {
				after = change.ID
				if !yield(rest.Event[PriceChange]{ID: strconv.FormatInt(after, 10), Name: "price", Data: change}, nil) {
					return
				}
			}
			if len(changes) > 0 {
				continue
			}
			select {
			case <-changed:
			case <-l.ended:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// Prices is where price watchers listen.
type Prices struct{}

// Routes implements [rest.Controller].
func (c *Prices) Routes(r *rest.Routes) {
	r.Configure(rest.Tags("prices"))
	rest.Get(r, "/prices", c.watch, rest.Summary("Changes of prices, as they happen"))
}

// Watch says where listening begins. A browser's EventSource sends the header by itself when it
// reconnects.
type Watch struct {
	LastEventID int64 `doc:"The last change that was seen. 0: all of them." header:"Last-Event-Id" minimum:"0"`
}

func (c *Prices) watch(ctx context.Context, in Watch) (rest.Events[PriceChange], error) {
	log, err := rest.Resolve[*priceLog](ctx)
	if err != nil {
		return rest.Events[PriceChange]{}, err
	}
	return rest.Events[PriceChange]{Items: log.follow(ctx, in.LastEventID)}, nil
}

package schedule

import (
	"context"
	"log/slog"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// between is a store in which something happens once behind a read of all schedules.
type between struct {
	store.Store

	do func()
}

func (b *between) Rows(ctx context.Context, q store.RowQuery) ([]store.Row, error) {
	rows, err := b.Store.Rows(ctx, q)
	if q.Kind == Kind && b.do != nil {
		do := b.do
		b.do = nil
		do()
	}
	return rows, err
}

// Schedules that are made at the same time do not exceed the bound, and each is made if there is room for both.
func TestCreateAtOnce(t *testing.T) {
	t.Parallel()

	for most, want := range map[int]spool.Code{1: spool.Limit, 3: ""} {
		db := &between{Store: memory.New(nil).Store}
		s := &Schedules{
			Store: db, Live: inprocess.NewLive(0), Log: slog.New(slog.DiscardHandler),
			Options: option.Schedules{Max: most, MaxRuns: 10},
			Check:   func(context.Context, spool.ThreadKey, wire.StartRequest) error { return nil },
		}
		create := func(name string) error {
			_, err := s.Create(t.Context(), tenant, wire.ScheduleRequest{
				Name: name, ScheduleRule: wire.ScheduleRule{Every: "1h"}, ScheduleStart: wire.ScheduleStart{Prompt: "Look."},
			}, ann())
			return err
		}
		db.do = func() {
			if err := create("first"); err != nil {
				t.Error(err)
			}
		}
		if err := create("second"); (err == nil) != (want == "") || err != nil && spool.CodeOf(err) != want {
			t.Errorf("the second of %d: %v, want %q", most, err, want)
		}
		if err := create("first"); most > 1 && spool.CodeOf(err) != spool.Conflict {
			t.Errorf("a name that is used: %v", err)
		}
	}
}

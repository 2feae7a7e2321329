package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// newNode returns Spool with the parts of cmd/spool and a model that says what its prompt asks for. It
// has no worker until a request adds one.
func newNode(o options) (*served, error) {
	log := warnings()
	db, err := o.open()
	if err != nil {
		return nil, err
	}
	e, err := engine.New(db.Backend(), engine.Config{
		Agents: []spool.Agent{{Name: "bench", Model: "script"}},
		Models: map[string]spool.Model{"script": script{}},
		Stream: option.Stream{FlushEvery: o.FlushEvery},
		Worker: option.Worker{Lease: o.Lease},
		Log:    log,
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s, err := server.New(e, server.Config{
		Authenticator: access.Anonymous(spool.DefaultTenant), Loopback: true, NoStreamTakeover: o.NoTakeover, Log: log,
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	var worker sync.WaitGroup

	control := http.NewServeMux()
	control.HandleFunc("POST /work", func(http.ResponseWriter, *http.Request) {
		worker.Go(func() {
			if err := e.Work(ctx, engine.WorkOptions{Concurrency: o.Slots}); err != nil {
				log.Error("work", "error", err)
			}
		})
	})
	control.HandleFunc("POST /read", func(w http.ResponseWriter, r *http.Request) {
		entries, _ := strconv.Atoi(r.FormValue("entries"))
		rate, err := readRecord(ctx, db, entries)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		reply(w, rate)
	})
	control.HandleFunc("POST /commit", func(w http.ResponseWriter, _ *http.Request) { reply(w, commit(ctx, db)) })
	control.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) {
		stats, err := db.Stats(ctx, wire.StatsQuery{Queue: true})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		reply(w, stats.Queue.Ready)
	})
	return &served{public: s, control: control, close: func() error {
		e.Close()
		cancel()
		worker.Wait()
		return errors.Join(s.Close(), db.Close())
	}}, nil
}

// database is an open database.
type database interface {
	store.Store
	Backend() store.Backend
	Close() error
}

// open opens the database of a node.
func (o options) open() (database, error) {
	if o.Postgres != "" {
		return openPostgres(context.Background(), o.Postgres)
	}
	return sqlite.Open(o.File, &sqlite.Options{Exclusive: true})
}

// commit returns how many milliseconds a transaction of one row takes.
func commit(ctx context.Context, db store.Store) float64 {
	began := time.Now()
	err := db.Update(ctx, spool.ThreadKey{Tenant: "bench", ID: "bare"}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})
	})
	if err != nil {
		return -1
	}
	return milliseconds(time.Since(began))
}

// warnings logs what is worth a warning.
func warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

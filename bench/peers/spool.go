package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/openai"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
)

// newSpool returns Spool as "spool serve" configures it: one SQLite file with an fsync per commit.
func newSpool(o options) (served, error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	model, err := openai.New(openai.Config{Model: "m", BaseURL: o.Model})
	if err != nil {
		return served{}, err
	}
	db, err := sqlite.Open(o.File, &sqlite.Options{Exclusive: true})
	if err != nil {
		return served{}, err
	}
	e, err := engine.New(db.Backend(), engine.Config{
		Agents: []spool.Agent{{Name: "bench", Model: "m", Tools: []spool.Tool{{
			ToolSpec: spool.ToolSpec{
				Name: "look", Description: "Looks.",
				Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`),
			},
			Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
				return json.RawMessage(`"` + seen + `"`), nil
			},
		}}}},
		Models: map[string]spool.Model{"m": model},
		Log:    log,
	})
	if err != nil {
		return served{}, errors.Join(err, db.Close())
	}
	s, err := server.New(e, server.Config{Authenticator: access.Anonymous(spool.DefaultTenant), Loopback: true, Log: log})
	if err != nil {
		return served{}, errors.Join(err, db.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	var worker sync.WaitGroup
	worker.Go(func() {
		if err := e.Work(ctx, engine.WorkOptions{}); err != nil {
			log.Error("work", "error", err)
		}
	})
	return served{handler: s, close: func() error {
		e.Close()
		cancel()
		worker.Wait()
		return errors.Join(s.Close(), db.Close())
	}}, nil
}

// seen is what the tool answers.
const seen = "nothing of note, as on all other days"

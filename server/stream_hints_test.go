package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
)

// Streams of both formats follow the engine's configuration of retry hints and keepalives.
func TestStreamHints(t *testing.T) {
	t.Parallel()

	for _, format := range []string{"", "&wireFormat=ag-ui"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e, err := engine.New(memory.New(nil), engine.Config{
					Agents: []spool.Agent{{Name: "a", Model: "m"}}, Models: map[string]spool.Model{"m": demo.New(demo.Config{})},
					Stream: option.Stream{RetryHint: 3 * time.Second, Keepalive: 20 * time.Second}, Log: slog.New(slog.DiscardHandler),
				})
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				s, err := server.New(e, server.Config{Authenticator: twoTenants(t), Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				post(t, s, runPath, `{"threadId":"t1","prompt":"x"}`)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				time.AfterFunc(50*time.Second, e.Close)
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, streamPath+"?threadId=t1"+format, http.NoBody)
				r.Header.Set("Authorization", "Bearer "+tokenA)
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)

				text := w.Body.String()
				if !strings.HasPrefix(text, "retry: 3000\n\n") || strings.Count(text, ": keepalive\n\n") != 2 {
					t.Errorf("not the configured hint, or not the configured keepalive:\n%s", text)
				}
				_, last, _ := strings.Cut(strings.TrimPrefix(text, "retry: 3000\n\n"), "retry: ")
				delay, err := time.ParseDuration(strings.TrimSpace(last) + "ms")
				if err != nil || delay < 3*time.Second || delay > 6*time.Second {
					t.Errorf("the last hint is %s %v", delay, err)
				}
			})
		})
	}
}

package agui_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// A client that was away is told of the durable events that it has missed of a run which is not over:
// once, and of none that it has.
func TestTellsDurableEventsThatWereMissed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		turn := spooltest.Say("Done.")
		turn.Gate = gate
		s := newScene(t, spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), turn))
		publish := func(kind string) wire.Cursor {
			if _, err := s.engine.PublishEvent(
				t.Context(), key, kind, 1, wire.PublishOptions{Durable: true, By: "anna"},
			); err != nil {
				t.Fatal(err)
			}
			settle(time.Second)
			snap := s.snapshot()
			defer snap.Release()
			return snap.Cursor()
		}
		look := func(at *wire.Cursor, want string) {
			t.Helper()
			v := s.watch(agui.Options{}, at)
			settle(time.Second)
			var got []string
			for line := range strings.Lines(string(v.seen())) {
				if _, event, ok := strings.Cut(line, `"CUSTOM","name":"`); ok {
					name, rest, _ := strings.Cut(event, `"`)
					if got = append(got, name); !strings.Contains(
						rest, `"value":1,"metadata":{"spool":{"published":true,"publishedBy":"anna"}}`,
					) {
						t.Errorf("the event %s", line)
					}
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("a client at %v is told of %q, want %q", at, got, want)
			}
		}
		stop := s.work()
		defer stop()
		s.run("r1", "hello")
		settle(time.Second)
		first := publish("first")
		second := publish("second")
		look(&wire.Cursor{Seq: first.Seq - 1}, "first second") // the run waits for an answer
		look(&first, "second")
		look(&second, "")
		s.answer("c1", true)
		settle(time.Second)
		third := publish("third")
		look(&first, "second third") // it goes on
		look(&second, "third")
		look(&third, "")
		close(gate)
		settle(time.Second)
		look(&first, "") // it is over
	})
}

package agui_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// slowly returns the turn with a wait before it, in which somebody can steer.
func slowly(t spooltest.Turn) spooltest.Turn {
	t.Before = func(context.Context) error {
		<-time.After(3 * time.Second)
		return nil
	}
	return t
}

func (s *scene) steer(id spool.RunID, prompt string) {
	s.t.Helper()
	r := wire.StartRequest{Prompt: prompt, RunID: id, ClientMessageID: "turn-of-" + string(id), WhenBusy: spool.BusySteer}
	if got, err := s.engine.Run(s.t.Context(), key, r); err != nil || !got.Accepted || got.Steers == "" {
		s.t.Fatal(got, err)
	}
}

// The client that sends a steer gets the rest of the run that reads it, under the id of its own run. It may come
// before the message is read, after that, and for a message that becomes a run of its own.
func TestSteerSender(t *testing.T) {
	t.Parallel()

	calls := slowly(spooltest.Use(spooltest.Call{ID: "c1", Name: "lookup"}))
	for name, c := range map[string]struct {
		turns []spooltest.Turn
		late  time.Duration
	}{
		"steer-sender":      {[]spooltest.Turn{calls, spooltest.Say("Left.")}, 0},
		"steer-sender-late": {[]spooltest.Turn{calls, slowly(spooltest.Say("Left."))}, 4 * time.Second},
		"steer-sender-over": {[]spooltest.Turn{calls, spooltest.Say("Left.")}, time.Minute},
		"steer-next":        {[]spooltest.Turn{slowly(spooltest.Say("Right.")), spooltest.Say("Left.")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, spooltest.NewModel(c.turns...))
				s.run("r1", "hello")
				stop := s.work()
				settle(time.Second)
				s.steer("r2", "left")
				settle(c.late)
				v := s.watch(agui.Options{RunID: "r2", ClientRunID: "mine", From: &wire.Run{ID: "r2"}}, nil)
				settle(time.Minute)
				stop()
				got := v.seen()
				golden(t, name, got)
				if text := string(got); !strings.Contains(text, `"runId":"mine"`) || !strings.Contains(text, "Left.") ||
					strings.Count(text, "RUN_FINISHED") != 1 {
					t.Errorf("the client has seen\n%s", text)
				}
			})
		})
	}
}

// A message that is withdrawn before the run reads it ends the answer to its sender, and the run goes on without it.
func TestSteerWithdrawn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, spooltest.NewModel(slowly(spooltest.Use(spooltest.Call{ID: "c1", Name: "lookup"})),
			spooltest.Say("Right.")))
		s.run("r1", "hello")
		stop := s.work()
		settle(time.Second)
		s.steer("r2", "left")
		sender := s.watch(agui.Options{RunID: "r2", ClientRunID: "mine", From: &wire.Run{ID: "r2"}}, nil)
		all := s.watch(agui.Options{RunID: "r1"}, nil)
		settle(time.Millisecond)
		if r, err := s.engine.StopRun(t.Context(), key, "r2"); err != nil || !r.Accepted {
			t.Fatalf("%+v, %v", r, err)
		}
		settle(time.Minute)
		stop()
		got := sender.seen()
		golden(t, "steer-withdrawn", got)
		if text := string(got); !strings.Contains(text, `"runId":"mine"`) || strings.Contains(text, "Right.") {
			t.Errorf("the sender has seen\n%s", text)
		}
		if text := string(all.seen()); strings.Contains(text, "left") || strings.Contains(text, "STEERED") ||
			!strings.Contains(text, "Right.") {
			t.Errorf("the other client has seen\n%s", text)
		}
	})
}

package agui_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// All is saved of a run that makes room for another tenant's: a client keeps what it shows, and is
// not sent the thread once more.
func TestKeepsWhatIsShownOfARunThatMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
			turn := spooltest.Say("Done.")
			if spooltest.StepOf(r) == 0 {
				turn = spooltest.Use(spooltest.Call{ID: "c1", Name: "lookup"})
			}
			turn.Before = func(context.Context) error {
				<-time.After(2 * time.Second)
				return nil
			}
			return turn
		}))
		s.run("r1", "hello")
		v := s.watch(agui.Options{}, nil)
		stop := s.workWith(engine.WorkOptions{Concurrency: 1})
		settle(time.Second)
		other := spool.ThreadKey{Tenant: "other", ID: "t"}
		if got, err := s.engine.Run(t.Context(), other, wire.StartRequest{Prompt: "hello"}); err != nil || !got.Accepted {
			t.Fatal(got, err)
		}
		settle(time.Minute)
		stop()
		golden(t, "makes-room", v.seen())
	})
}

package agui_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/spooltest"
)

// A run can end between two segments, and the record then has no entry of that end. A client
// that comes back with the cursor of the segment before learns of the end all the same.
func TestComesBackBehindAnEndWithoutEntry(t *testing.T) {
	t.Parallel()

	for name, turn := range map[string]spooltest.Turn{
		"parked": spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}),
		"waits":  {Err: failing(503)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, spooltest.NewModel(turn))
				s.run("r1", "hello")
				stop := s.work()
				settle(time.Second)
				have := s.snapshot().Cursor()
				s.stop()
				settle(time.Second)
				v := s.watch(agui.Options{}, &have)
				settle(time.Second)
				stop()
				text := v.seen()
				if n := bytes.Count(text, []byte(`"outcome":{"type":"cancelled"}`)); n != 1 {
					t.Errorf("it was told %d times that the run was stopped:\n%s", n, text)
				}
			})
		})
	}
}

// A run can be over before its first segment, and the record then has nothing of it. A client
// that is there is told its turn and its end, once.
func TestToldOfARunThatNeverBegan(t *testing.T) {
	t.Parallel()

	for name, model := range map[string]spool.Model{
		"Ended":  spooltest.NewModel(spooltest.Say("hi")),
		"Failed": spooltest.NewModel(spooltest.Turn{Err: failing(400)}),
		"Asked":  spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, model)
				s.run("r1", "hello")
				stop := s.work()
				settle(time.Second)
				v := s.watch(agui.Options{}, nil)
				settle(time.Second)
				stop()
				if name == "Asked" {
					s.stop()
					settle(time.Second)
				}
				before := len(v.text)
				s.run("r2", "never")
				settle(time.Second)
				s.stop()
				settle(time.Minute)
				text := v.seen()[before:]
				for _, what := range []string{
					`"type":"RUN_STARTED","threadId":"t","runId":"r2"`, `"content":"never"`, `"outcome":{"type":"cancelled"}`,
				} {
					if n := bytes.Count(text, []byte(what)); n != 1 {
						t.Errorf("it was told %d times %s:\n%s", n, what, text)
					}
				}
			})
		})
	}
}

package agui_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
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

// A client before 1.0 takes no outcome but success and interrupt. It is told live in the result that its run was
// stopped: before the run began, while it works and while it waits.
func TestStoppedBefore1(t *testing.T) {
	t.Parallel()

	const stopped, of1 = `"result":{"finishReason":"cancelled"},"outcome":{"type":"success"}`, `"outcome":{"type":"cancelled"}`
	for name, turn := range map[string]spooltest.Turn{
		"never": {},
		"works": spooltest.Use(spooltest.Call{ID: "c1", Name: "hang"}),
		"waits": spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, spooltest.NewModel(turn))
				s.run("r1", "hello")
				if name != "never" {
					defer s.work()()
				}
				settle(time.Second)
				clients := map[string]agui.Options{"follows": {}}
				if name != "waits" { // else a client of the run alone has its end already
					clients["ran"] = agui.Options{RunID: "r1", From: &wire.Run{ID: "r1"}}
					clients["connected"] = agui.Options{RunID: "r1", Connect: true}
				}
				old, now := make(map[string]*viewer), make(map[string]*viewer)
				for who, o := range clients {
					now[who] = s.watch(o, nil)
					o.Before1 = true
					old[who] = s.watch(o, nil)
				}
				settle(time.Second)
				s.stop()
				settle(time.Minute)
				for who := range clients {
					if text := string(old[who].seen()); strings.Count(text, stopped) != 1 || strings.Contains(text, of1) {
						t.Errorf("a client before 1.0 that %s is told\n%s", who, text)
					}
					if text := string(now[who].seen()); strings.Count(text, of1) != 1 || strings.Contains(text, stopped) {
						t.Errorf("a client of 1.0 that %s is told\n%s", who, text)
					}
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

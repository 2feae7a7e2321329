package history

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestHistory adds random messages and summaries in random pieces. The growing prompt must equal the
// prompt of the whole history.
func TestHistory(t *testing.T) {
	t.Parallel()

	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		var all []spool.Message
		grown := New(nil, 0, nil)
		for round := range 4 {
			more, run := historyOf(r)
			for i := range more {
				more[i].ID += spool.MessageID("-" + strconv.Itoa(round))
				more[i].RunID += spool.RunID("-" + strconv.Itoa(round))
			}
			for len(more) > 0 {
				n := 1 + r.IntN(len(more))
				all = append(all, more[:n]...)
				grown.Add(more[:n]...)
				more = more[n:]
				checkHistory(t, seed, grown, all)
			}
			if c, some := RecallOf(all).Plan(Meter{perByte: 0.25}, int64(r.IntN(400)), run, run); some && r.IntN(2) == 0 {
				all = summarised(all, c, run)
				grown.Add(all[len(all)-1])
				checkHistory(t, seed, grown, all)
			}
			if t.Failed() {
				return
			}
		}
	}
}

func checkHistory(t *testing.T, seed uint64, grown *Messages, all []spool.Message) {
	t.Helper()

	want := RecallOf(all).Messages()
	got, w := grown.Prompt()
	if !reflect.DeepEqual(want, got) {
		t.Errorf("seed %d, %d messages: the prompt differs (-whole +grown):\n%s", seed, len(all), cmp.Diff(want, got))
	}
	if whole := weighMessages(want); w != whole {
		t.Errorf("seed %d, %d messages: the prompt weighs %v, not %v", seed, len(all), w, whole)
	}
	if grown.Len() != len(all) {
		t.Errorf("seed %d: %d messages, not %d", seed, grown.Len(), len(all))
	}
}

// TestHistoryPromptIsTheCallers changes a prompt, as an adapter may. The next prompt is not affected.
func TestHistoryPromptIsTheCallers(t *testing.T) {
	t.Parallel()

	all, _ := historyOf(rand.New(rand.NewPCG(1, 4)))
	grown := New(all, 0, nil)
	first, _ := grown.Prompt()
	clear(first)
	checkHistory(t, 1, grown, all)
}

// TestUnreadCallsAreAnothers has a provider that may repeat the id of an unread call.
func TestUnreadCallsAreAnothers(t *testing.T) {
	t.Parallel()

	whole, part := New(nil, 0, nil), New(nil, 7, nil)
	run := store.RunRow{Run: wire.Run{ID: "r1", Steps: 2}}
	next := run
	next.Steps++
	if id := whole.Unlike("call_0", run); id != "call_0" {
		t.Errorf("an id that nothing else can have is %q", id)
	}
	if id := part.Unlike("call_0", run); id == "call_0" || id == part.Unlike("call_0", next) ||
		id != part.Unlike("call_0", run) {
		t.Errorf("an id that another call may have is %q", id)
	}
}

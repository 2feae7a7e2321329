package history

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/spoolhq/spool"
)

// A prompt that somebody has kept stays as it was, whatever comes behind it. Where somebody
// changes prompts, the next one is whole.
func TestKeptPromptsStay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		all, _ := historyOf(r)
		grown := New(nil, 0)
		var kept, was [][]spool.Message
		for i, m := range all {
			grown.Add(m)
			checkHistory(t, seed, grown, all[:i+1])
			prompt, _ := grown.Prompt()
			if seed%2 == 0 && len(prompt) > 0 {
				prompt[r.IntN(len(prompt))].ID = "changed"
				continue
			}
			kept, was = append(kept, prompt), append(was, slices.Clone(prompt))
		}
		if !reflect.DeepEqual(kept, was) {
			t.Fatalf("seed %d: a prompt that was kept has changed", seed)
		}
	}
}

// A step behind a thousand turns copies what the step has added, and not the thread.
func TestPromptIsNotCopied(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	turn := func(n int) spool.Message {
		return spool.Message{
			ID: spool.MessageID(fmt.Sprint("m", n)), Role: []spool.Role{spool.RoleUser, spool.RoleAssistant}[n%2], Content: spool.TextContent("x"),
		}
	}
	h, n := New(nil, 0), 0
	for ; n < 1000; n++ {
		h.Add(turn(n))
	}
	h.Prompt()
	const steps = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range steps {
		h.Add(turn(n))
		n++
		if got, _ := h.Prompt(); len(got) != n {
			t.Fatalf("%d messages of %d", len(got), n)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / steps; each > 20<<10 { // a copy has 150 KiB at the start
		t.Errorf("each prompt allocates %d bytes", each)
	}
}

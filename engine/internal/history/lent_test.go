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

// A prompt that a caller keeps never changes. If a caller changes a prompt, the next prompt is not
// affected.
func TestKeptPromptsStay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		all, _ := historyOf(r)
		grown := New(nil, 0, nil)
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

// A step after a thousand turns copies only what it has added.
func TestPromptIsNotCopied(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	turn := func(n int) spool.Message {
		return spool.Message{
			ID: spool.MessageID(fmt.Sprint("m", n)), Role: []spool.Role{spool.RoleUser, spool.RoleAssistant}[n%2],
			Content: spool.TextContent("x"),
		}
	}
	h, n := New(nil, 0, nil), 0
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

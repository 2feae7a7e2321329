package server

import (
	"runtime"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/agui"
)

// hostile returns bodies of about so many bytes that take much memory to decode.
func hostile(length int) map[string]string {
	repeat := func(head, one, tail string) string {
		return head + strings.Repeat(one+",", max(1, (length-len(head)-len(tail))/(len(one)+1))-1) + one + tail
	}
	return map[string]string{
		"attachments":         repeat(`{"prompt":"x","attachments":[`, `{}`, `]}`),
		"null attachments":    repeat(`{"prompt":"x","attachments":[`, `null`, `]}`),
		"messages":            repeat(`{"threadId":"t","runId":"r","messages":[`, `{}`, `]}`),
		"numbers for objects": repeat(`{"messages":[`, `1`, `]}`),
		"resume":              repeat(`{"resume":[`, `{}`, `]}`),
		"raw":                 repeat(`{"providerOptions":[`, `0`, `]}`),
		"deep":                `{"state":` + strings.Repeat("[", length/2) + strings.Repeat("]", length/2) + `}`,
		"deep and open":       strings.Repeat("[", length),
		"keys":                repeat(`{`, `"attachments":[]`, `}`),
		"strange keys":        repeat(`{`, `"a":1`, `}`),
		"escapes":             `{"prompt":"` + strings.Repeat(`\u0001`, length/6) + `"}`,
		"image":               `{"prompt":"x","attachments":[{"url":"data:image/png;base64,` + strings.Repeat("A", length) + `"}]}`,
		"no JSON":             repeat(`{"messages":[`, `{"a"`, ``),
	}
}

// decoded returns how many bytes are allocated to decode a body as a T, and how many of
// them the budget knows of.
func decoded[T any](text []byte) (took, known uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	elements, err := checkElements(text)
	if err == nil {
		into := new(T)
		_ = decodeObject(text, into)
		known = uint64(elements) * elementCost
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, known
}

// What a body is decoded to takes no more memory than the budget has counted for it, and
// once or twice its length. No body, however long, takes more than its length beside that.
func TestDecodeTakesWhatIsCounted(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	const slack = 64 << 10
	for _, length := range []int{10_000, 600_000, 4 << 20} {
		for name, text := range hostile(length) {
			for kind, decode := range map[string]func([]byte) (uint64, uint64){
				"start": decoded[runRequest], "AG-UI": decoded[agui.RunAgentInput], "answer": decoded[respondRequest],
				"event": decoded[publishRequest], "stop": decoded[controlRequest], "delivery": decoded[spool.Job],
			} {
				took, known := decode([]byte(text))
				if took > known+2*uint64(len(text))+slack {
					t.Errorf("%s of %d bytes as %s takes %d bytes, of which %d are counted", name, len(text), kind, took, known)
				}
				if took > mostElements*elementCost+2*uint64(len(text))+slack {
					t.Errorf("%s of %d bytes as %s takes %d bytes", name, len(text), kind, took)
				}
			}
		}
	}
}

package server

import (
	"runtime"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/runs"
	"github.com/spoolhq/spool/wire"
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
		"image": `{"prompt":"x","attachments":[{"url":"data:image/png;base64,` +
			strings.Repeat("A", length) + `"}]}`,
		"no JSON": repeat(`{"messages":[`, `{"a"`, ``),
	}
}

// decoded returns how many bytes are allocated to read and decode a body as a T.
func decoded[T any](t *testing.T) func(text string) uint64 {
	t.Helper()
	read := decode[T]()
	return func(text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = read(t, text)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
}

// counted is what the budget counts for the values of a body: each list, object, comma and colon.
func counted(text string) uint64 {
	values, quoted := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted && strings.IndexByte("[{,:", c) >= 0:
			values++
		}
	}
	return uint64(min(values, mostValues)) * valueCost
}

// valueCost is what rest counts a value as.
const valueCost = 512

// What a body is decoded to takes no more memory than the budget has counted for it, beside the
// buffers that it is read into and copies of its texts.
func TestDecodeTakesWhatIsCounted(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	const slack = 64 << 10
	for kind, decode := range map[string]func(string) uint64{
		"start": decoded[runs.RunRequest](t), "AG-UI": decoded[agui.RunAgentInput](t),
		"answer": decoded[runs.RespondRequest](t), "event": decoded[runs.PublishRequest](t),
		"stop": decoded[runs.ControlRequest](t), "delivery": decoded[wire.Job](t),
	} {
		for _, length := range []int{10_000, 600_000, 4 << 20} {
			for name, text := range hostile(length) {
				if took, most := decode(text), counted(text)+4*uint64(len(text))+slack; took > most {
					t.Errorf("%s of %d bytes as %s takes %d bytes, of which %d are counted", name, len(text), kind, took, most)
				}
			}
		}
	}
}

package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func same(text string) string { return text }

// TestManyParts cuts a result of 20,000 parts. Encoding all of them for each cut took minutes.
func TestManyParts(t *testing.T) {
	t.Parallel()

	const count, most = 20_000, 4 << 20
	parts := make([]part, count)
	for i := range parts {
		parts[i] = part{Type: "text", Text: fmt.Sprintf("%d ", i) + strings.Repeat("ä\"", 150)}
	}
	cut := cutParts(parts, most, same)
	if n := sizeOf(cut); n > most || n < most*3/4 || len(cut) != count {
		t.Errorf("%d bytes and %d parts are left", n, len(cut))
	}
	few := cutParts(parts, 10_000, same)
	if n := sizeOf(few); n > 10_000 || n < 5_000 || !strings.HasSuffix(few[len(few)-1].Text, "more parts were left out]") {
		t.Errorf("%d bytes of %d parts are left, the last one is %q", n, len(few), few[len(few)-1].Text)
	}
	if !strings.HasPrefix(few[0].Text, "0 ") {
		t.Errorf("the first part is %q", few[0].Text)
	}
}

// Short parts stay whole beside a long one.
func TestCutLongest(t *testing.T) {
	t.Parallel()

	parts := []part{
		{Type: "text", Text: "first"},
		{Type: "text", Text: strings.Repeat("long ", 1000)},
		{Type: "image", MIMEType: "image/png"},
	}
	cut := cutParts(parts, 1000, same)
	if n := sizeOf(cut); n > 1000 || n < 700 || len(cut) != 3 || cut[0].Text != "first" ||
		!strings.HasSuffix(cut[1].Text, "[the rest was cut]") {
		t.Errorf("%d bytes: %+v", n, cut)
	}
	wide := part{Type: "resource_link", URI: strings.Repeat("a", 2000)}
	if cut := cutParts([]part{wide, parts[0], wide}, 1000, same); len(cut) != 2 || cut[0].Text != "first" ||
		cut[1].Text != "[2 more parts were left out]" {
		t.Errorf("beside parts that cannot be cut: %+v", cut)
	}
	if cut := cutParts([]part{wide}, 1000, same); len(cut) != 0 {
		t.Errorf("a part that cannot be cut: %+v", cut)
	}
}

// TestManyRepeats leaves the data of many parts out of a long text. Looking for each of them in the whole text would
// copy it as often.
func TestManyRepeats(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	const count = 2000
	parts, all := make([]part, count+1), make([]string, count)
	for i := range count {
		data := fmt.Appendf(nil, "%060d", i)
		parts[i] = part{Type: "image", data: data}
		all[i] = base64.StdEncoding.EncodeToString(data)
	}
	parts[count] = part{Type: "text", Text: strings.Join(all, " ")}
	list := strings.Join(all, "\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	structured, omitted := withoutData(map[string]any{"all": list, "one": "data:image/png;base64," + all[7]}, parts)
	runtime.ReadMemStats(&after)
	if made, most := after.TotalAlloc-before.TotalAlloc, uint64(200*len(list)); made > most {
		t.Errorf("%d bytes are allocated for a text of %d", made, len(list))
	}
	text, err := json.Marshal(structured)
	if err != nil || omitted != (2*count+1)*80 || strings.Contains(string(text), all[0]) ||
		strings.Contains(parts[count].Text, all[count-1]) {
		t.Errorf("%d bytes are left out of %.300s, %v", omitted, text, err)
	}
}

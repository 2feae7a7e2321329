package fault_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// TestReasons holds what is said of a text against what Pydantic 2.14 said of it.
func TestReasons(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("testdata/pydantic.json")
	if err != nil {
		t.Fatal(err)
	}
	type words struct {
		Format string         `json:"format"`
		Text   string         `json:"text"`
		Type   string         `json:"type"`
		Msg    string         `json:"msg"`
		Ctx    map[string]any `json:"ctx"`
	}
	var recorded []words
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, want := range recorded {
		got := words{Format: want.Format, Text: want.Text}
		got.Type, got.Msg, got.Ctx = fault.WithText(fault.Format(fault.Body, nil, want.Format), want.Text).Pydantic()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %q: -want +got\n%s", want.Format, want.Text, diff)
		}
	}
	if len(recorded) < 100 {
		t.Errorf("%d texts", len(recorded))
	}
}

// FuzzReasons looks at any text without a panic, and never has more of it than a character.
func FuzzReasons(f *testing.F) {
	f.Add("2026-11-22T10:00:00+05")
	f.Add("")
	f.Fuzz(func(_ *testing.T, text string) {
		for _, format := range []string{"date", "date-time", "time", "duration", "uuid", "uri", "email"} {
			fault.WithText(fault.Format(fault.Body, nil, format), text).Pydantic()
		}
	})
}

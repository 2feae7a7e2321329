package surrogate_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/surrogate"
)

// read decodes the inner texts of JSON strings.
func read(t *testing.T, inner ...string) []string {
	t.Helper()

	texts := make([]string, len(inner))
	for i, s := range inner {
		var text surrogate.Text
		if err := json.Unmarshal([]byte(`"`+s+`"`), &text); err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return texts
}

func TestValid(t *testing.T) {
	t.Parallel()

	for inner, want := range map[string]string{
		``:                                 "",
		`plain`:                            "plain",
		`\ud83d\ude00`:                     "😀",
		`a\uD83D\uDE00b`:                   "a😀b",
		`\ud83d`:                           "\ufffd",
		`\ude00`:                           "\ufffd",
		`\ude00\ud83d`:                     "\ufffd\ufffd",
		`\ud83d\ud83d\ude00`:               "\ufffd😀",
		`\ud83d \ude00`:                    "\ufffd \ufffd",
		`\\ud83d\ud83d\n\"`:                "\\ud83d\ufffd\n\"",
		`\ufffd\u00e9\ud7ff한\ud83dx\u0041`: "\ufffdé\ud7ff한\ufffdxA",
		"\xff\xed\xa0\xbd":                 "\ufffd\ufffd\ufffd\ufffd",
	} {
		text := read(t, inner)[0]
		if got := surrogate.Valid(text); got != want {
			t.Errorf("%s: got %q, want %q", inner, got, want)
		}
		if n := surrogate.Len(text); !strings.Contains(want, "\ufffd") && n != len(want) {
			t.Errorf("%s: %d bytes", inner, n)
		}
	}
}

func TestDecodeOtherJSON(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]string{
		`null`: "", `12`: "12", `{"a":"\ud83d"}`: `{"a":"\ud83d"}`, `[]`: "[]", `true`: "true",
	} {
		var into struct{ Text surrogate.Text }
		if err := json.Unmarshal([]byte(`{"text":`+raw+`}`), &into); err != nil || string(into.Text) != want {
			t.Errorf("%s: %q, %v", raw, into.Text, err)
		}
	}
}

func TestLen(t *testing.T) {
	t.Parallel()

	halves := read(t, `한\ud83d`, `\ude00b`)
	if got := surrogate.Len(halves[0]) + surrogate.Len(halves[1]); got != len("한😀b") {
		t.Errorf("%d bytes", got)
	}
}

// collect returns the events that come out for those that go in.
func collect(t *testing.T, events ...spool.ModelEvent) []spool.ModelEvent {
	t.Helper()

	var out []spool.ModelEvent
	emit := surrogate.Joined(func(e spool.ModelEvent) error {
		out = append(out, e)
		return nil
	})
	for _, e := range events {
		if err := emit(e); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestJoined(t *testing.T) {
	t.Parallel()

	half := read(t, `\ud83d`, `\ude00`, `a\ud83d`, `\ude00b`)
	first, second, before, after := half[0], half[1], half[2], half[3]
	text := func(s string) spool.ModelEvent { return spool.TextDelta{Text: s} }
	thought := func(s string) spool.ModelEvent { return spool.ReasoningDelta{Text: s} }
	args := func(id spool.ToolCallID, s string) spool.ModelEvent { return spool.ToolCallDelta{ID: id, Args: s} }
	end := func(id spool.ToolCallID, s string) spool.ModelEvent {
		return spool.ToolCallEnd{ID: id, Name: "f", Args: s}
	}
	for name, c := range map[string]struct{ in, want []spool.ModelEvent }{
		"text": {[]spool.ModelEvent{text(before), text(after)}, []spool.ModelEvent{text("a"), text("😀b")}},
		"bare": {[]spool.ModelEvent{text(first), text(second)}, []spool.ModelEvent{text("😀")}},
		"usage": {
			[]spool.ModelEvent{text(first), spool.UsageSeen{}, text(""), text(second)},
			[]spool.ModelEvent{spool.UsageSeen{}, text(""), text("😀")},
		},
		"reasoning": {
			[]spool.ModelEvent{thought(before), thought(after), spool.ReasoningEnd{}},
			[]spool.ModelEvent{thought("a"), thought("😀b"), spool.ReasoningEnd{}},
		},
		"lost": {
			[]spool.ModelEvent{thought(first), text(second), text(first), spool.TextEnd{}, text(second)},
			[]spool.ModelEvent{thought("\ufffd"), text("\ufffd"), text("\ufffd"), spool.TextEnd{}, text("\ufffd")},
		},
		"at the end": {
			[]spool.ModelEvent{text(before), spool.Finish{}},
			[]spool.ModelEvent{text("a"), text("\ufffd"), spool.Finish{}},
		},
		"arguments": {
			[]spool.ModelEvent{
				args("1", before), args("2", before), args("2", after), args("1", after), end("1", before+after),
				end("2", before+after),
			},
			[]spool.ModelEvent{
				args("1", "a"), args("2", "a"), args("2", "😀b"), args("1", "😀b"), end("1", "a😀b"), end("2", "a😀b"),
			},
		},
		"cut arguments": {
			[]spool.ModelEvent{args("1", before), end("1", before), args("1", after)},
			[]spool.ModelEvent{args("1", "a"), args("1", "\ufffd"), end("1", "a\ufffd"), args("1", "\ufffdb")},
		},
	} {
		if diff := cmp.Diff(c.want, collect(t, c.in...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A text that is cut anywhere is the text that was not cut.
func FuzzJoined(f *testing.F) {
	f.Add(`a\ud83d\ude00b`, 7)
	f.Add(`\ud83d\\\ude00\ud83d\ude00`, 6)
	f.Add("한\\ufffd\xff\\ude00", 3)
	f.Fuzz(func(t *testing.T, inner string, cut int) {
		if cut < 0 || cut > len(inner) || !utf8.ValidString(inner[:cut]) {
			return
		}
		var whole string
		var before, after surrogate.Text
		quoted := func(s string) []byte { return []byte(`"` + s + `"`) }
		if json.Unmarshal(quoted(inner), &whole) != nil || json.Unmarshal(quoted(inner[:cut]), &before) != nil ||
			json.Unmarshal(quoted(inner[cut:]), &after) != nil {
			return
		}
		var got strings.Builder
		for _, e := range collect(
			t, spool.TextDelta{Text: string(before)}, spool.TextDelta{Text: string(after)}, spool.Finish{},
		) {
			if d, ok := e.(spool.TextDelta); ok {
				got.WriteString(d.Text)
			}
		}
		if got.String() != whole {
			t.Errorf("%q cut at %d: got %q, want %q", inner, cut, got.String(), whole)
		}
	})
}

package record

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// stored is a view with one message.
type stored struct {
	store.View

	content string
}

func (s stored) MessageIDs(store.MessageQuery) ([]spool.MessageID, error) { return nil, nil }

func (s stored) EachMessage(_ store.MessageQuery, fn func(m spool.Message, content []byte) error) error {
	return fn(spool.Message{}, []byte(s.content))
}

// Stored content is copied byte for byte, except for provider data.
func TestEncodedShown(t *testing.T) {
	t.Parallel()

	for content, want := range map[string]string{
		`"my <provider>"`:        "",
		`"the \"provider\" : 1"`: "",
		"[]":                     "",
		`[ {"type":"text"} ]`:    "",
		`[{"type":"tool-call","args":{"provider": "<x>"}} ]`:                              "",
		`[{"type":"tool-result","result":"provider"} ]`:                                   "",
		`{"type":"CONTEXT_SUMMARY","text":"a \"provider\""}`:                              "",
		`[{"type":"text","text":"a <b>","provider":{"x":"sig"}}]`:                         `"a \u003cb\u003e"`,
		`[{"type":"provider","provider":{"x":"sig"}}]`:                                    `[]`,
		`[{"type":"provider"},{"type":"tool-call","args":{"provider":1}}]`:                `[{"type":"tool-call","args":{"provider":1}}]`,
		`[{"type":"reasoning","text":"a","provider":{"x":1}},{"type":"image"}]`:           `[{"type":"reasoning","text":"a"},{"type":"image"}]`,
		`[{"type":"reasoning","provider":{"x":1}},{"type":"text","text":"\"provider\""}]`: `"\"provider\""`,
	} {
		if want == "" {
			want = content
		}
		err := Encoded(stored{content: content}).EachMessage(store.MessageQuery{}, func(_ spool.Message, got []byte) error {
			if string(got) != want {
				t.Errorf("%s is shown as %s, want %s", content, got, want)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", content, err)
		}
	}
	err := Encoded(stored{content: `[{"provider"]`}).EachMessage(store.MessageQuery{},
		func(spool.Message, []byte) error { return nil })
	if spool.CodeOf(err) != spool.Internal {
		t.Errorf("damaged content: %v", err)
	}
}

package toolresult_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

func TestArtifactsOf(t *testing.T) {
	t.Parallel()

	for result, want := range map[string][]spool.Artifact{
		`{"artifact":{"id":"a","mediaType":"image/png"}}`:               {{ID: "a", MediaType: "image/png"}},
		`{"approved":true,"result":[{"artifact":{"id":"a"}},{"b":1}]}`:  {{ID: "a"}},
		`{"b":{"artifact":{"id":"b"}},"a":[[{"artifact":{"id":"a"}}]]}`: {{ID: "a"}, {ID: "b"}},
		`{"artifact":"a"}`:                nil,
		`{"artifact":{"id":7}}`:           nil,
		`{"artifacts":{"id":"a"}}`:        nil,
		`"{\"artifact\":{\"id\":\"a\"}}"`: nil,
		`{"artifact":`:                    nil,
		``:                                nil,
	} {
		if got := toolresult.ArtifactsOf(json.RawMessage(result)); !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: %+v, want %+v", result, got, want)
		}
	}
	many := "[" + strings.Repeat(`{"artifact":{"id":"a"}},`, 1000) + "1]"
	if n := len(toolresult.ArtifactsOf(json.RawMessage(many))); n != 32 {
		t.Errorf("%d artifacts", n)
	}
}

func TestStored(t *testing.T) {
	t.Parallel()

	for result, want := range map[string][3]string{
		`"say \"hi\""`: {`say "hi"`, "text/plain", ".txt"},
		`{"a":1}`:      {`{"a":1}`, "application/json", ".json"},
	} {
		text, kind, extension := toolresult.AsText(json.RawMessage(result))
		if [3]string{text, kind, extension} != want {
			t.Errorf("%s: %q, %s, %s", result, text, kind, extension)
		}
	}
	got := toolresult.Stored(spool.Artifact{ID: "art_1", MediaType: "text/plain", Size: 5000},
		strings.Repeat("x", 2047)+"ä"+strings.Repeat("y", 3000))
	want := `{"artifact":{"id":"art_1","mediaType":"text/plain","size":5000},"preview":"` +
		strings.Repeat("x", 2047) + `"}`
	if string(got) != want {
		t.Errorf("got %s", got)
	}
}

package sqlite

import (
	"encoding/json"
	"slices"
	"testing"
)

// What is read without the JSON decoder is what the decoder reads.
func TestPlainStrings(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`["read"]`, `["read","write","approve"]`, `["a,b","c"]`, `[""]`, `["","x"]`, `["\u4e16"]`, "[\"\u4e16\"]", `["a\"b"]`, `["a\",\"b"]`,
		`["a" ,"b"]`, `["a", "b"]`, `[]`, `["a",1]`, `["a",["b"]]`, `null`, `["`, `["]`, `"]`, ``,
	} {
		var want []string
		err := json.Unmarshal([]byte(text), &want)
		if got, ok := plainStrings(text); ok && (err != nil || !slices.Equal(got, want)) {
			t.Errorf("%s: %q, want %q (%v)", text, got, want, err)
		}
	}
	if got, ok := plainStrings(`["read","write"]`); !ok || len(got) != 2 {
		t.Errorf("the usual form was not read: %q", got)
	}
}

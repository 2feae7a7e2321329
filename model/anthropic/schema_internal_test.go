package anthropic

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Each line of the corpus is a schema and what the provider gets. Anthropic's own SDK has made it.
func TestProviderSchema(t *testing.T) {
	t.Parallel()

	corpus, err := os.ReadFile(filepath.Join("testdata", "schemas.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(corpus) {
		var c struct {
			Name         string
			Schema, Want json.RawMessage
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got, err := marshal(providerSchema(c.Schema)); err != nil || !bytes.Equal(got, c.Want) {
			t.Errorf("%s: %v\n got %s\nwant %s", c.Name, err, got, c.Want)
		}
	}
}

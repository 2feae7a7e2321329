package openapi_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/openapi"
)

var update = flag.Bool("update", false, "write what is expected of the documents in testdata")

// TestDocuments loads the small documents in testdata/documents, each with one kind of fault or of what is
// supported, some with several. Each begins with comments that say which tools it has, with their arguments, and
// what is left out and why.
func TestDocuments(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob(filepath.Join("testdata", "documents", "*.yaml"))
	if err != nil || len(files) < 60 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, document := "", string(text)
		for strings.HasPrefix(document, "# ") {
			line, rest, _ := strings.Cut(document, "\n")
			want, document = want+line+"\n", rest
		}
		got := outcome(document)
		if *update {
			if err := os.WriteFile(file, []byte(got+document), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", file, diff)
		}
	}
}

// outcome returns what a document makes, as lines of comments.
func outcome(document string) string {
	set, err := openapi.NewSet(openapi.Config{
		Document: []byte(document), Operations: []string{"*"}, Unsupported: openapi.SkipUnsupported,
	})
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "# error: %s\n", spool.MessageOf(err))
	}
	for _, tl := range set.Tools {
		fmt.Fprintf(&b, "# tool %s: %s %s %s\n", tl.Name, tl.Method, tl.Path, tl.Parameters)
	}
	for _, left := range set.LeftOut {
		fmt.Fprintf(&b, "# left out: %s\n", strings.TrimSpace(left.Method+" "+left.Path))
		for _, reason := range left.Reasons {
			fmt.Fprintf(&b, "#   %s\n", reason)
		}
	}
	return b.String()
}

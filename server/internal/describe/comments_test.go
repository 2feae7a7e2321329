package describe

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spoolhq/spool/internal/testing/inputs"
)

var update = flag.Bool("update", false, "write the table of comments again")

// The table of comments is that of the source.
func TestComments(t *testing.T) {
	t.Parallel()

	inputs.Read(t, ":(glob)*.go", "record", "rest/commenttable", "rest/internal/comment", "server", "store", "wire")
	fresh := filepath.Join(t.TempDir(), "comments.go")
	if *update {
		fresh = "comments.go"
	}
	c := exec.CommandContext(t.Context(), "go", "run", "github.com/spoolhq/spool/rest/commenttable", "-o", fresh,
		"-package", "describe",
		"../../..", "../../../wire", "../../../store", "../../../record", "../../...")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("comments.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("comments.go is old: run go test ./server/internal/describe -run Comments -update")
	}
}

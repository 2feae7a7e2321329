package chat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
)

// The terminal gives the reasons that the console gives.
func TestEarlyEnds(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "spec", "fixtures", "ends.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Ends map[wire.StopReason]string
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file.Ends, earlyEnds); diff != "" {
		t.Errorf("the words differ (-fixture +terminal):\n%s", diff)
	}
}

func TestSessionSaysTheEnd(t *testing.T) {
	t.Parallel()

	for reason, want := range map[wire.StopReason]string{
		wire.StopMaxSteps: "… the run ended early: it took as many steps as it may\n",
		"a\x1bnew_one":    "… the run ended early: anew_one\n", wire.StopCompleted: "", wire.StopSteered: "", "": "",
	} {
		var out strings.Builder
		s := Session{Print: &Printer{Out: &out}, prompted: true}
		s.ended(view.New(&wire.Snapshot{Runs: []wire.Run{{ID: "r", State: wire.Completed, StopReason: reason}}}))
		if out.String() != want {
			t.Errorf("%q: the session prints %q, want %q", reason, out.String(), want)
		}
	}
}

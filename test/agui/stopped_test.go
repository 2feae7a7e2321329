package agui_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/spooltest"
)

// A run that is stopped while clients follow it ends for each of them without an error, in the words of its version
// of the protocol.
func TestStoppedLive(t *testing.T) {
	t.Parallel()

	b := setup(t, spooltest.NewModelFunc(pageScript))
	b.work(t)
	const (
		old, now = "ag-ui-client-0.0.59", "@ag-ui/client"
		ends     = `"status":200,"roles":"user assistant","state":"CANCELLED",`
	)
	told := func(client, ran string) string {
		end := `"outcome":{"type":"cancelled"}`
		if client == old { // its schema has no such outcome, and an exception would end its page
			end = `"outcome":{"type":"success"},"result":{"finishReason":"cancelled"}`
		}
		return `{"name":"` + client + `","ran":` + ran + `,` + ends + end + `}`
	}
	want := []string{
		told(old, "true"), told(old, "false"), told(now, "false"),
		told(now, "true"), told(old, "false"), told(now, "false"),
	}
	got := strings.Split(strings.TrimSpace(node(t, nil, "stopped.mjs", b.url+"/api/agent/ag-ui", old, now)), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if diff := cmp.Diff(decoded(t, want[i]), decoded(t, got[i])); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

package agui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/spooltest"
)

// A run is stopped when its stock client aborts it, which closes the connection: after the grace, or when the client
// goes on with another turn.
func TestAbort(t *testing.T) {
	t.Parallel()

	var urls []string
	for _, grace := range []time.Duration{50 * time.Millisecond, time.Hour} {
		b := setupServer(t, spooltest.NewModelFunc(pageScript), server.Config{DisconnectGrace: grace})
		b.work(t)
		urls = append(urls, b.url+"/api/agent/ag-ui")
	}
	clients := []string{"@ag-ui/client", "ag-ui-client-0.0.59"}
	var want []string
	for _, name := range clients {
		for _, grace := range []string{"short", "long"} {
			want = append(want, `{"name":"`+name+`","grace":"`+grace+`","states":["CANCELLED","COMPLETED"]}`)
		}
	}
	got := strings.Split(strings.TrimSpace(node(t, nil, "abort.mjs", append(urls, clients...)...)), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

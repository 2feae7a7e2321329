package responses_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/responses"
)

// TestBadID has a provider name its background answer so that a later request would have another path.
func TestBadID(t *testing.T) {
	t.Parallel()

	for _, id := range []string{
		"../files/secret", "resp_1?x=secret", "resp/secret", strings.Repeat("secret", 50), "resp_\n",
	} {
		var asked []string
		server := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Method+" "+r.URL.Path)
			quoted, err := json.Marshal(id)
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, fmt.Sprintf(
				"data: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":%s,\"status\":\"queued\"}}\n\n",
				quoted,
			))
		}))
		m := open(t, server, responses.Config{Background: true})
		events, err := ask(t.Context(), m, hello())
		failed, ok := errors.AsType[*spool.ModelError](err)
		if !ok || !strings.Contains(failed.Message, "an id that cannot be used") || strings.Contains(err.Error(), "secret") ||
			len(events) > 0 {
			t.Errorf("%q: %v, %v", id, events, err)
		}
		if len(asked) != 1 {
			t.Errorf("%q: the requests are %q", id, asked)
		}
	}
}

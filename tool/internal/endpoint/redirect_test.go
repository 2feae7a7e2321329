package endpoint

import (
	"errors"
	"net/http"
	"testing"
)

// TestRedirectKeepsTLS follows a redirect within a host, and never from https to http, also
// behind one that was followed.
func TestRedirectKeepsTLS(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		to      string
		via     []string
		refused bool
	}{
		{"https://a.example/there", []string{"https://a.example/here"}, false},
		{"http://a.example/there", []string{"http://a.example/here"}, false},
		{"https://a.example/there", []string{"http://a.example/here"}, false},
		{"http://a.example/there", []string{"https://a.example/here"}, true},
		{"http://a.example/there", []string{"https://a.example/here", "https://a.example/round"}, true},
		{"https://b.example/there", []string{"https://a.example/here"}, true},
	} {
		via := make([]*http.Request, len(test.via))
		for i, from := range test.via {
			via[i] = post(t, from)
		}
		if err := sameRequest(post(t, test.to), via); errors.Is(err, errOtherHost) != test.refused {
			t.Errorf("from %s to %s: %v", test.via, test.to, err)
		}
	}
}

func post(t *testing.T, url string) *http.Request {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

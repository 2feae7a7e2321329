package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/google/go-cmp/cmp"
)

func TestSocket(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(newAPI())
	defer server.Close()

	_, answer, err := websocket.Dial(t.Context(), server.URL+"/rooms/7/socket", nil)
	if err == nil || answer == nil || answer.StatusCode != http.StatusUnauthorized {
		t.Fatalf("without a key: %v, %v", answer, err)
	}
	_ = answer.Body.Close()
	_, answer, err = websocket.Dial(t.Context(), server.URL+"/rooms/7/socket?key=ada-key",
		&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://evil.example"}}})
	if err == nil || answer == nil || answer.StatusCode != http.StatusForbidden {
		t.Fatalf("another origin: %v, %v", answer, err)
	}
	_ = answer.Body.Close()

	c, answer, err := websocket.Dial(t.Context(), server.URL+"/rooms/7/socket?key=ada-key", nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body != nil {
		_ = answer.Body.Close()
	}
	defer func() { _ = c.CloseNow() }()
	for _, word := range []string{"one", "two"} {
		if err := wsjson.Write(t.Context(), c, word); err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := wsjson.Read(t.Context(), c, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"room": "7", "from": "ada", "said": word}, got); diff != "" {
			t.Error(diff)
		}
	}
}

// Command websocket has a WebSocket next to typed routes. The same authentication, throttles and
// permissions protect it.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/permission"
)

// Echo sends each message back.
type Echo struct{}

// Routes implements [rest.Controller].
func (Echo) Routes(r *rest.Routes) {
	rest.Get(r, "/hello", func(ctx context.Context, _ struct{}) (string, error) {
		return "Hello, " + rest.PrincipalOf(ctx).PrincipalID() + "!", nil
	})
	rest.Raw(r, []string{http.MethodGet}, "/rooms/{room}/socket", http.HandlerFunc(socket), rest.Name("socket"))
}

func socket(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil) // refuses pages of other origins
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = c.CloseNow() }()
	for {
		var said string
		if err := wsjson.Read(r.Context(), c, &said); err != nil {
			return // the client is gone, or broke the protocol
		}
		answer := map[string]string{
			"room": r.PathValue("room"), "from": rest.PrincipalOf(r.Context()).PrincipalID(), "said": said,
		}
		if err := wsjson.Write(r.Context(), c, answer); err != nil {
			return
		}
	}
}

func newAPI() *rest.API {
	users := auth.Keys(map[string]*rest.User{"ada-key": {ID: "ada"}})
	api := rest.New(rest.Auth(auth.APIKeyQuery("key", users)), rest.Permit(permission.IsAuthenticated))
	api.Register(Echo{})
	return api
}

func main() {
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: newAPI(), ReadHeaderTimeout: 5 * time.Second}
	slog.Error("serve", "error", server.ListenAndServe())
	os.Exit(1)
}

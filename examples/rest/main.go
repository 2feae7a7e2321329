// Command rest is the smallest program with a controller.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest"
)

// Greeter is a controller. Its fields are its dependencies.
type Greeter struct{ word string }

// Routes declares the routes of the controller.
func (g *Greeter) Routes(r *rest.Routes) { rest.Get(r, "/hello/{name}", g.hello) }

type greeting struct {
	Name  string `path:"name"   maxLength:"20"`
	Times int    `query:"times" default:"1"    maximum:"3" minimum:"1"`
}

func (g *Greeter) hello(_ context.Context, in greeting) (string, error) {
	return strings.Repeat(g.word+", ", in.Times) + in.Name + "!", nil
}

func main() {
	api := rest.New(rest.Title("Greetings"))
	api.Register(&Greeter{"Hello"})
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: api, ReadHeaderTimeout: 5 * time.Second}
	slog.Error("serve", "error", server.ListenAndServe())
	os.Exit(1)
}

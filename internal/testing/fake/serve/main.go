// Command serve runs the fake of a provider, so that pages and people can try Spool without a key:
//
//	go run ./internal/testing/fake/serve -listen 127.0.0.1:8089 anthropic
//
// The fake thinks and repeats the prompt. It refuses what the provider refuses.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool/internal/testing/fake/anthropic"
	"github.com/spoolhq/spool/internal/testing/fake/gemini"
	"github.com/spoolhq/spool/internal/testing/fake/responses"
)

// fakes are the handlers by the names of the providers.
var fakes = map[string]func() http.Handler{
	"anthropic": func() http.Handler { return anthropic.New(anthropic.Config{Answer: anthropic.Echo}) },
	"gemini": func() http.Handler {
		return gemini.New(gemini.Config{Answer: gemini.Echo, Signing: gemini.SignAll, Keep: -1})
	},
	"responses": func() http.Handler { return responses.New(responses.Echo) },
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8089", "address to listen on")
	flag.Parse()
	open, ok := fakes[flag.Arg(0)]
	if !ok {
		names := make([]string, 0, len(fakes))
		for name := range fakes {
			names = append(names, name)
		}
		slices.Sort(names)
		fail(fmt.Errorf("name one of the fakes: %s", strings.Join(names, ", ")))
	}
	server := &http.Server{Addr: *listen, Handler: open(), ReadHeaderTimeout: 10 * time.Second}
	fail(server.ListenAndServe())
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "serve:", err)
	os.Exit(1)
}

//go:build !noconsole

package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/console"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
)

// A server of your own shows the console at its root.
func ExampleHandler() {
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	surface, err := server.New(e, server.Config{Insecure: true, Loopback: true, Console: console.Handler()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, accept := range []string{"text/html", "application/json"} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", http.NoBody)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		surface.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
	}
	// Output:
	// 200 text/html; charset=utf-8
	// 200 application/json; charset=utf-8
}

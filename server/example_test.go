package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
)

// sessionOf knows who a session belongs to.
type sessionOf map[string]access.Principal

// Authenticate implements [access.Authenticator].
func (s sessionOf) Authenticate(r *http.Request) (access.Principal, error) {
	c, err := r.Cookie("session")
	if err != nil {
		return access.Principal{}, spool.Errorf(spool.Unauthorized, "sign in first")
	}
	who, ok := s[c.Value]
	if !ok {
		return access.Principal{}, spool.Errorf(spool.Unauthorized, "sign in again")
	}
	return who, nil
}

// Callers that are known by a cookie need to be kept from pages of other origins.
func ExampleConfig_cookies() {
	sessions := sessionOf{"of-ann": {Tenant: "acme", Subject: "ann", Scopes: access.AllScopes()}}
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	surface, err := server.New(e, server.Config{
		Authenticator: sessions, CookieAuth: true, CORSOrigins: []string{"https://app.example.com"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, origin := range []string{"https://app.example.com", "https://evil.example"} {
		r := httptest.NewRequest(http.MethodPost, "/api/agent/control", strings.NewReader(`{"threadId": "t1"}`))
		r.Header.Set("Cookie", "session=of-ann")
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		surface.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 409 {"accepted":false,"reason":"not_active","error":"Cannot stop thread in state unknown"}
	//
	// 403 {"error":"pages of the origin https://evil.example may not use this server: if they should, add it to cors.origins, or start spool serve with --cors-origin https://evil.example","code":"forbidden"}
}

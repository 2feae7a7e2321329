package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// slowing returns a server that slows failures after the third one, for use in a bubble.
func slowing(t *testing.T, c server.Config) *server.Server {
	t.Helper()
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "m"}}, Models: map[string]spool.Model{"m": spooltest.NewModel()},
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	auth, err := access.Tokens([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
		{
			Token:     operatorToken,
			Principal: access.Principal{Tenant: "ops", Subject: "olga", Scopes: access.AllScopes(), Operator: true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Authenticator, c.Limits.FailedLogins, c.Log = auth, 3, slog.New(slog.DiscardHandler)
	s, err := server.New(e, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.Close()
		_ = s.Close()
	})
	return s
}

// login sends a request and returns its status, and how long that took.
func login(t *testing.T, s http.Handler, from, token string, forwarded ...string) (int, time.Duration) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, threadsPath, http.NoBody)
	r.RemoteAddr = from
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for _, hop := range forwarded {
		r.Header.Add("X-Forwarded-For", hop)
	}
	w, began := httptest.NewRecorder(), time.Now()
	s.ServeHTTP(w, r)
	return w.Code, time.Since(began)
}

// An address that keeps sending wrong tokens waits longer and longer for its answers. Nobody
// with a valid token waits, also from the same address, and no other address does.
func TestFailedLoginsSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := slowing(t, server.Config{})
		for i, millis := range []int{0, 0, 0, 100, 200, 400, 800, 1600, 3200, 5000, 5000} {
			want := time.Duration(millis) * time.Millisecond
			status, took := login(t, s, "192.0.2.1:1234", "wrong")
			if status != http.StatusUnauthorized || took != want {
				t.Errorf("failure %d: %d after %s, want %s", i+1, status, took, want)
			}
			for _, ok := range []struct {
				from, token string
				status      int
			}{
				{"192.0.2.1:999", tokenA, 200}, {"192.0.2.1:999", "", 401}, {fmt.Sprintf("192.0.2.%d:1", i+10), "wrong", 401},
			} {
				if status, took := login(t, s, ok.from, ok.token); status != ok.status || took != 0 {
					t.Errorf("%s with %q behind failure %d: %d after %s", ok.from, ok.token, i+1, status, took)
				}
			}
		}
		<-time.After(time.Hour)
		if status, took := login(t, s, "192.0.2.1:1234", "wrong"); status != http.StatusUnauthorized || took != 0 {
			t.Errorf("an hour later: %d after %s", status, took)
		}
	})
}

// So that it is no way to use the server up, few answers are held back at once.
func TestFailedLoginsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := slowing(t, server.Config{})
		statuses := make(map[int]int)
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				status, _ := login(t, s, "[2001:db8::1]:1", "wrong")
				mu.Lock()
				defer mu.Unlock()
				statuses[status]++
			})
		}
		synctest.Wait()
		if status, took := login(t, s, "[2001:db8::2]:1", "wrong"); status != http.StatusTooManyRequests || took != 0 {
			t.Errorf("one more of the same network: %d after %s", status, took)
		}
		if status, took := login(t, s, "[2001:db8::1]:1", tokenA); status != http.StatusOK || took != 0 {
			t.Errorf("with a valid token: %d after %s", status, took)
		}
		all.Wait()
		if statuses[401] != 11 || statuses[429] != 39 {
			t.Errorf("answers: %v", statuses)
		}
		if status, took := login(t, s, "[2001:db8::1]:1", "wrong"); status != http.StatusUnauthorized ||
			took != 5*time.Second {
			t.Errorf("behind them: %d after %s", status, took)
		}
	})
}

// X-Forwarded-For counts as far as trusted proxies have written it, and no further.
func TestFailedLoginsBehindProxies(t *testing.T) {
	t.Parallel()

	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32")}
	for name, c := range map[string]struct {
		from      string
		forwarded []string
		trusted   []netip.Prefix
		want      string
	}{
		"Nobody": {from: "127.0.0.1:1", forwarded: []string{"192.0.2.1"}, want: "127.0.0.1"},
		"Proxy":  {from: "127.0.0.1:1", forwarded: []string{"192.0.2.1"}, trusted: proxies, want: "192.0.2.1"},
		"Two":    {from: "127.0.0.1:1", forwarded: []string{"192.0.2.1, 10.1.1.1"}, trusted: proxies, want: "192.0.2.1"},
		"TwoHeaders": {
			from: "127.0.0.1:1", forwarded: []string{"192.0.2.1", "10.1.1.1"}, trusted: proxies, want: "192.0.2.1",
		},
		"Forged": {
			from: "127.0.0.1:1", forwarded: []string{"192.0.2.9, 192.0.2.1, 10.1.1.1"}, trusted: proxies, want: "192.0.2.1",
		},
		"NotAProxy": {from: "192.0.2.7:1", forwarded: []string{"192.0.2.1"}, trusted: proxies, want: "192.0.2.7"},
		"Port":      {from: "127.0.0.1:1", forwarded: []string{"192.0.2.1:4711"}, trusted: proxies, want: "192.0.2.1"},
		"IPv6": {
			from: "127.0.0.1:1", forwarded: []string{"[2001:db8::1]:4711"}, trusted: proxies, want: "2001:db8::1",
		},
		"Mapped": {
			from: "[::ffff:127.0.0.1]:1", forwarded: []string{"::ffff:192.0.2.1"}, trusted: proxies, want: "192.0.2.1",
		},
		"Nonsense": {
			from: "127.0.0.1:1", forwarded: []string{"192.0.2.1, unknown, 10.1.1.1"}, trusted: proxies, want: "10.1.1.1",
		},
		"OnlyProxies": {from: "127.0.0.1:1", forwarded: []string{"10.0.0.2, 10.1.1.1"}, trusted: proxies, want: "10.0.0.2"},
		"None":        {from: "127.0.0.1:1", trusted: proxies, want: "127.0.0.1"},
		"NoAddress":   {from: "@", trusted: proxies, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := slowing(t, server.Config{TrustedProxies: c.trusted})
			if status, _ := login(t, s, c.from, "wrong", c.forwarded...); status != http.StatusUnauthorized {
				t.Fatal(status)
			}
			list := failures(t, s)
			if len(list) != 1 || list[0].Address != c.want || list[0].Count != 1 || list[0].Reason != "bearer" {
				t.Errorf("the log: %+v, want one failure of %s", list, c.want)
			}
		})
	}
}

// failures lists what the operator sees of failed authentication.
func failures(t *testing.T, s http.Handler) []wire.AuditEntry {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, auditPath+"?server=true", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+operatorToken)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var list struct{ Entries []wire.AuditEntry }
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != http.StatusOK {
		t.Fatalf("the audit log: %d %s", w.Code, w.Body)
	}
	return list.Entries
}

// The audit log counts failures, and nobody fills it with them.
func TestFailedLoginsAudited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := slowing(t, server.Config{})
		for range 3 {
			login(t, s, "192.0.2.1:1", "wrong")
		}
		<-time.After(2 * time.Minute)
		login(t, s, "192.0.2.1:1", "wrong")
		login(t, s, "192.0.2.1:1", "")
		list := failures(t, s)
		if len(list) != 2 || list[1].Count != 1 || list[0].Count != 3 || list[0].Action != wire.AuditLogin {
			t.Errorf("the log: %+v", list)
		}
		for i := range 10_000 {
			login(t, s, fmt.Sprintf("10.0.%d.%d:1", i/250, i%250), "wrong")
		}
		<-time.After(2 * time.Minute)
		login(t, s, "192.0.2.1:1", "wrong")
		list = failures(t, s)
		if list[0].Reason != "other addresses" || list[0].Count < 5000 || list[0].Seq > 110 {
			t.Errorf("what was left out: %+v", list[0])
		}
	})
}

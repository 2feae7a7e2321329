package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
)

func TestLogin(t *testing.T) {
	t.Parallel()

	v := open(t)
	v.post("/login", Credentials{demoCustomer, "wrong"}).code(http.StatusUnauthorized, "wrong_password")
	v.post("/login", Credentials{"nobody", demoPassword}).code(http.StatusUnauthorized, "wrong_password")
	v.post("/login", Credentials{demoCustomer, ""}).expect(http.StatusUnprocessableEntity)
	if got := decode[rest.User](v.login(demoCustomer).get("/me").expect(http.StatusOK)); got.ID != demoCustomer ||
		got.Admin {
		t.Errorf("user %+v", got)
	}
	if got := decode[rest.User](v.partner(demoKey).get("/me").expect(http.StatusOK)); got.ID != "partner-demo" {
		t.Errorf("user %+v", got)
	}
	refused := v.with("Authorization", "Bearer a.b.c").get("/me").expect(http.StatusUnauthorized)
	if all := strings.Join(refused.header.Values("WWW-Authenticate"), "; "); !strings.Contains(all, "Bearer") ||
		!strings.Contains(all, "ApiKey") {
		t.Errorf("challenges %q", all)
	}
}

// TestTokensOfOthers are signed with another shop's secret.
func TestTokensOfOthers(t *testing.T) {
	t.Parallel()

	other := open(t, func(c *config) { c.Secret = []byte(strings.Repeat("x", 32)) }).login(demoAdmin)
	here := open(t).with("Authorization", other.header.Get("Authorization"))
	here.get("/me").expect(http.StatusUnauthorized)
}

func TestOfficeHasSessions(t *testing.T) {
	t.Parallel()

	v := open(t)
	v.get("/office/me").expect(http.StatusUnauthorized)
	v.login(demoAdmin).get("/office/me").expect(http.StatusUnauthorized) // a token is no session
	enter := func(user string) visitor {
		cookie := v.post("/office/login", Credentials{user, demoPassword}).expect(http.StatusOK).header.Get("Set-Cookie")
		for _, word := range []string{"__Host-session=", "Secure", "HttpOnly", "SameSite=Lax"} {
			if !strings.Contains(cookie, word) {
				t.Errorf("cookie %q without %s", cookie, word)
			}
		}
		pair, _, _ := strings.Cut(cookie, ";")
		return v.with("Cookie", pair)
	}
	enter(demoCustomer).get("/office/me").code(http.StatusForbidden, "permission_denied")

	grace := enter(demoAdmin)
	if got := decode[rest.User](grace.get("/office/me").expect(http.StatusOK)); !got.Admin {
		t.Errorf("user %+v", got)
	}
	delivery := map[string]any{"copies": 5}
	if got := decode[Stock](grace.post("/office/books/3/stock", delivery).expect(http.StatusOK)); got != (Stock{3, 5}) {
		t.Errorf("stock %+v", got)
	}
	grace.post("/office/books/99/stock", delivery).code(http.StatusNotFound, "not_found")
	grace.with("Origin", "https://evil.example").with("Sec-Fetch-Site", "cross-site").
		post("/office/books/3/stock", delivery).code(http.StatusForbidden, "cross_origin")
	grace.post("/office/logout", nil).expect(http.StatusNoContent)
	grace.get("/office/me").expect(http.StatusUnauthorized)
}

func TestThrottles(t *testing.T) {
	t.Parallel()

	v := open(t, func(c *config) { c.GuestRate, c.LoginRate, c.UserRate = "3/hour", "2/hour", "5/hour" })
	ada := v.login(demoCustomer) // the login has a limit of its own in place of those of the API
	v.post("/login", Credentials{demoCustomer, "wrong"}).expect(http.StatusUnauthorized)
	v.post("/login", Credentials{demoCustomer, demoPassword}).code(http.StatusTooManyRequests, "throttled")

	for range 3 {
		v.get("/genres").expect(http.StatusOK)
	}
	refused := v.get("/genres").expect(http.StatusTooManyRequests)
	if refused.header.Get("Retry-After") == "" ||
		!strings.Contains(strings.Join(refused.header.Values("Ratelimit-Policy"), " "), "3600") {
		t.Errorf("header %v", refused.header)
	}
	for range 5 {
		ada.get("/genres").expect(http.StatusOK) // each caller has a limit of their own
	}
	ada.get("/orders").expect(http.StatusTooManyRequests) // on all routes together
	v.get("/health").expect(http.StatusOK)                // save those without
}

// A wrong key counts by address, before anybody is known, and against no user.
func TestThrottlesBeforeAuthentication(t *testing.T) {
	t.Parallel()

	v := open(t, func(c *config) { c.AddressRate, c.UserRate, c.GuestRate = "6/hour", "2/hour", "1/hour" })
	ada := v.login(demoCustomer)
	for range 2 {
		v.with("Authorization", "Bearer wrong").get("/orders").code(http.StatusUnauthorized, "unauthorized")
	}
	ada.get("/orders").expect(http.StatusOK)
	ada.get("/orders").expect(http.StatusOK)
	refused := ada.get("/orders").expect(http.StatusTooManyRequests) // the user's own limit
	if got := strings.Join(refused.header.Values("Ratelimit"), " "); !strings.Contains(got, `"client";r=0;`) ||
		!strings.Contains(got, `"user";r=0;`) {
		t.Errorf("RateLimit: got %q", got)
	}
	v.with("Authorization", "Bearer wrong").get("/orders").code(http.StatusTooManyRequests, "throttled")
	v.get("/health").expect(http.StatusOK)
}

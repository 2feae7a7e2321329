// Package resttest calls an API in process, typed, for tests: with its middleware,
// authentication, throttles and permissions, at the addresses that clients use.
//
//	answer := resttest.Call(t, api, books.Get, shop.ByID{ID: 7}, resttest.Bearer("secret"))
//	if answer.Status != http.StatusOK || answer.Body.Title != "Emma" {
//		t.Errorf("got %d %+v", answer.Status, answer.Body)
//	}
//
// [Call] takes an endpoint and its input, and so follows when a path or a parameter is
// renamed. [CallAs] is for endpoints that answer with another type than their handler
// returns, as lists do: the body of a page is a page.NumberPage[Book], for
// example. [Do] takes a method and an address as they are.
//
// An answer is returned whatever its status is. Only what keeps there from being one, such
// as a body that is not of the type, ends the test.
package resttest

// Package resttest calls an API in process with typed inputs and answers, for tests.
// Middleware, authentication, throttles and permissions run as for a real client.
//
//	answer := resttest.Call(t, api, books.Get, shop.ByID{ID: 7}, resttest.Bearer("secret"))
//	if answer.Status != http.StatusOK || answer.Body.Title != "Emma" {
//		t.Errorf("got %d %+v", answer.Status, answer.Body)
//	}
//
// [Call] takes an endpoint and its input, so tests still work after a path or parameter is
// renamed. [CallAs] is for endpoints whose answer has another type than the handler's result,
// such as lists: the body of a page is a page.NumberPage[Book], for example. [Do] takes a
// method and an address.
//
// An answer is returned whatever its status is. The test ends only if there is no usable
// answer, for example if the body does not have the expected type.
package resttest

package main

import (
	"net/http"
	"testing"

	"github.com/spoolhq/spool/rest/page"
)

type reviewPage = page.RestPaginationResponseSchema[Review]

func TestReviewBelongsToItsWriter(t *testing.T) {
	t.Parallel()

	v := open(t)
	ada, bob := v.login(demoCustomer), v.login(otherCustomer)
	opinion := map[string]any{"stars": 4, "text": "Quite good."}
	v.post("/books/2/reviews", opinion).expect(http.StatusUnauthorized)
	review := decode[Review](ada.post("/books/2/reviews", opinion).expect(http.StatusCreated))
	if review.UserID != demoCustomer || review.BookID != 2 || !review.Written.Equal(morning) {
		t.Errorf("review %+v", review)
	}
	ada.post("/books/2/reviews", opinion).code(http.StatusConflict, "conflict")
	ada.post("/books/99/reviews", opinion).code(http.StatusNotFound, "not_found")
	ada.post("/books/3/reviews", map[string]any{"stars": 6}).expect(http.StatusUnprocessableEntity)

	bob.send(http.MethodPatch, "/reviews/1", map[string]any{"stars": 1}).code(http.StatusForbidden, "permission_denied")
	bob.send(http.MethodDelete, "/reviews/1", nil).code(http.StatusForbidden, "permission_denied")
	for _, method := range []string{http.MethodPatch, http.MethodPut} {
		got := decode[Review](ada.send(method, "/reviews/1", map[string]any{"stars": 5}).expect(http.StatusOK))
		if got.Stars != 5 || got.Text != "Quite good." {
			t.Errorf("review %+v", got)
		}
	}
	gone := v.login(demoAdmin).send(http.MethodDelete, "/reviews/1", nil).expect(http.StatusNoContent)
	if len(gone.body) != 0 {
		t.Errorf("body %q", gone.body)
	}
	ada.send(http.MethodPatch, "/reviews/1", map[string]any{"stars": 1}).code(http.StatusNotFound, "not_found")
}

// TestReviewsHavePagesOfTheSettings shows a list that names neither a paginator nor a size.
func TestReviewsHavePagesOfTheSettings(t *testing.T) {
	t.Parallel()

	v := open(t)
	for stars, user := range map[int]string{2: demoCustomer, 3: otherCustomer, 5: demoAdmin} {
		v.login(user).post("/books/1/reviews", map[string]any{"stars": stars}).expect(http.StatusCreated)
	}
	got := decode[reviewPage](v.get("/books/1/reviews?min_stars=3&ordering=-stars&limit=1").expect(http.StatusOK))
	if got.Count != 2 || len(got.Items) != 1 || got.Items[0].Stars != 5 {
		t.Errorf("reviews %+v", got)
	}
	if got = decode[reviewPage](v.get("/books/1/reviews?offset=2&ordering=stars")); len(got.Items) != 1 ||
		got.Items[0].Stars != 5 {
		t.Errorf("reviews %+v", got)
	}
	if got = decode[reviewPage](v.get("/books/1/reviews?by=bob")); got.Count != 1 {
		t.Errorf("reviews %+v", got)
	}
	if got = decode[reviewPage](v.get("/books/2/reviews")); got.Count != 0 || got.Items == nil {
		t.Errorf("reviews %+v", got)
	}
}

package crud_test

import (
	"net/http"
	"testing"

	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// What the names of the contract say is what those of Go say.
func TestCompat(t *testing.T) {
	t.Parallel()

	var documents, lists []string
	for _, config := range []crud.Config[Book]{
		crud.ModelConfig[Book]{Pagination: crud.ModelPagination{
			Klass: page.Number, PaginatorKwargs: map[string]any{"page_size": 1}, FilterSchema: query.Filter[bookFilter](),
		}},
		{Pagination: crud.Pagination{Paginator: page.Number(page.Size(1)), Filter: query.Filter[bookFilter]()}},
	} {
		c := serve(t, storeOf(Book{ID: 1, Title: "a", Slug: "a", AuthorID: 1},
			Book{ID: 2, Title: "b", Slug: "b", AuthorID: 1}), config)
		lists = append(lists, c.do("GET /books", "").status(http.StatusOK).has(`"count":2`).Body.String())
		document, err := c.api.OpenAPI()
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(document))
	}
	if lists[0] != lists[1] {
		t.Errorf("the lists differ:\n%s\n%s", lists[0], lists[1])
	}
	if documents[0] != documents[1] {
		t.Error("the documents differ")
	}
}

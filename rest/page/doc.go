// Package page cuts lists into pages.
//
// A [Paginator] is an option of a list route. It defines the query parameters and the body of
// a page, and it reads the page from the list. The OpenAPI document is built from the same
// value, so it always agrees with the answers.
//
//	rest.List(r, "/", c.list, page.Number(page.Size(20), page.Max(100)))
//
// There are four paginators:
//
//   - [LimitOffset] has limit and offset, and answers with items and count.
//   - [Number] has page and page_size, and answers with count, next, previous and results.
//   - [Cursor] has cursor and page_size, and answers with next, previous and results. Use it for
//     long lists: every page costs the same, however far back it is, and items that are added or
//     removed meanwhile neither repeat nor hide other items.
//   - [None] answers with the whole list as an array.
//
// A program implements its own paginator as a [Custom]; [New] makes an option of it.
//
// # Counting
//
// A page is fetched before the list is counted, because most lists fit on one page: a page
// that is neither full nor empty is the last one, so its end is the count. Otherwise a second
// query with the same conditions counts the list. It may see a later state, but the reported
// count is never less than what the page proves. [Count] makes counting cheaper.
//
// # Links
//
// Addresses of other pages keep the other query parameters of the request in their order,
// without credentials. They begin with the configured scheme and host; without these, they are
// relative to the host. The Host header of a request is never used.
package page

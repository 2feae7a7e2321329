// Package page cuts lists into pages.
//
// A [Paginator] is an option of a list route. It says which query parameters a page is
// asked for with, what the body of a page looks like, and reads the page from the list; the
// document of the API is made from the same value, so the three cannot disagree.
//
//	rest.List(r, "/", c.list, page.Number(page.Size(20), page.Max(100)))
//
// There are four:
//
//   - [LimitOffset] has limit and offset, and answers with items and count.
//   - [Number] has page and page_size, and answers with count, next, previous and results.
//   - [Cursor] has cursor and page_size, and answers with next, previous and results. It is
//     the one for long lists: a page costs the same however deep it lies, and what is added
//     or removed meanwhile neither repeats nor hides another item.
//   - [None] answers with the whole list as an array.
//
// A program writes its own as a [Custom], which [New] makes an option of.
//
// # Counting
//
// A page is fetched before anything is counted, because most lists fit on their first page:
// a page that is neither full nor empty is the last one and tells the count. Otherwise the
// list is counted by a second query, with the same conditions, that may see a later state;
// the count is never less than what the page itself proves. [Count] asks for less.
//
// # Links
//
// Addresses of other pages keep the other parameters of the request in their order and
// leave credentials out. Scheme and host are those that the program was configured with;
// without any, addresses are relative to the host. What a client says about the host is
// never repeated to it.
package page

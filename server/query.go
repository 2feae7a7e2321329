package server

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/spoolhq/spool"
)

// maxPage is the largest page that can be asked for.
const maxPage = 1000

// query returns the parameters of a request. A plus sign and %20 are both a space.
func query(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &spool.Error{Code: spool.Invalid, Message: "the query of the URL is malformed", Err: err}
	}
	return q, nil
}

// threadQuery returns the parameters of a request that is about one thread, and the
// thread's key.
func threadQuery(r *http.Request, p Principal) (url.Values, spool.ThreadKey, error) {
	q, err := query(r)
	if err != nil {
		return nil, spool.ThreadKey{}, err
	}
	id := q.Get("threadId")
	if err := spool.CheckID("threadId", id); err != nil {
		return nil, spool.ThreadKey{}, err
	}
	return q, p.key(spool.ThreadID(id)), nil
}

// limitOf returns the size of the page that is asked for, zero for all.
func limitOf(q url.Values) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPage {
		return 0, spool.Errorf(spool.Invalid, "limit must be an integer from 1 to %d", maxPage)
	}
	return n, nil
}

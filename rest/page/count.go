package page

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/query/driver"
)

// window is a fetched part of a list. Its offset counts from the start of the list.
type window struct {
	offset, size int64

	items any
	n     int
	// more is true if there are items after the window.
	more bool
	// count is the number of items in the list, or -1 if it is not known.
	count int64
	// exact is false if count is an estimate.
	exact bool
}

// pastEnd reports whether the window is beyond the last item of the list.
func (w *window) pastEnd() bool { return w.n == 0 && w.offset > 0 }

// end returns the offset of the first item after the window.
func (w *window) end() int64 { return w.offset + int64(w.n) }

// fetch reads a window, and counts the list as c.count says. A window past the end is not
// counted if the answer will be 404.
func (c *config) fetch(ctx context.Context, l *driver.List, offset, size int64) (*window, error) {
	w := &window{offset: offset, size: size, count: -1}

	ask := size
	if c.count != Exact {
		ask++
	}

	var err error
	if w.items, w.n, err = l.Stable().Fetch(ctx, offset, ask); err != nil {
		return nil, err
	}
	if int64(w.n) > size {
		w.more = true
		w.n = int(size)
		w.items = driver.Cut(w.items, 0, w.n)
	}
	if w.pastEnd() && c.pastEnd == NotFound {
		return w, nil
	}

	return w, c.counted(ctx, l, w)
}

// counted sets the count of w.
func (c *config) counted(ctx context.Context, l *driver.List, w *window) error {
	switch {
	case c.count == NoCount:
		return nil
	case int64(w.n) < w.size && (w.n > 0 || w.offset == 0):
		// The list ends inside of the window.
		w.count, w.exact = w.end(), true
		return nil
	}

	count, exact, err := c.ask(ctx, l)
	if err != nil {
		return err
	}

	// The count may come from another state of the list than the page, and an estimate may be
	// any number. So the count is at least what the page proves. An empty page proves nothing.
	least := w.end()
	if w.n == 0 {
		least = 0
	}
	if w.more {
		least++
	}
	w.count, w.exact = max(count, least), exact
	if c.count == Exact {
		w.more = w.n > 0 && w.count > w.end()
	}

	return nil
}

func (c *config) ask(ctx context.Context, l *driver.List) (count int64, exact bool, err error) {
	if c.count == Estimate {
		count, err = l.Estimate(ctx)
		return count, false, err
	}

	count, err = l.Count(ctx)

	return count, true, err
}

// shown returns the count for the body: nil if it is not known.
func (w *window) shown() *int64 {
	if w.count < 0 {
		return nil
	}

	return &w.count
}

// tooFar returns the fault of a parameter whose page is beyond what can be counted.
func tooFar(name string, low, high int64) []Fault {
	return []Fault{fault.IntBeyond(fault.Query, []any{name}, low, high)}
}

// linkHeader returns a header with the Link to the pages, or nil if there are none.
func linkHeader(p pages) http.Header {
	value := p.header()
	if value == "" {
		return nil
	}

	return http.Header{"Link": {value}}
}

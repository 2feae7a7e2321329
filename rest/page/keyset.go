package page

import (
	"context"
	"fmt"

	"github.com/spoolhq/spool/rest/query/driver"
)

// keyset reads one page of a list in an order without equal items.
type keyset struct {
	p     *cursorPaginator
	list  *driver.List
	scope string
	links Links
	size  int64

	// at is where the page begins. given is true if the request had a cursor.
	at    position
	given bool

	items any
	n     int
	// more is true if there are items after the page, in the direction of reading.
	more bool
}

func (k *keyset) page(ctx context.Context) (Result, []Fault, error) {
	part := k.list
	if k.at.backward {
		part = part.Reversed()
	}
	if len(k.at.values) > 0 {
		behind, err := part.After(k.at.values)
		if err != nil {
			return k.refused(ctx)
		}
		part = behind
	}

	if err := k.fetch(ctx, part); err != nil {
		return Result{}, nil, err
	}
	to, err := k.pages()
	if err != nil {
		return Result{}, nil, err
	}

	r := Result{Items: k.items, N: k.n, Body: func(items any) any {
		return cursorBody{Next: orNull(to.next), Previous: orNull(to.prev), Results: items}
	}}
	if k.p.linkHeader {
		r.Header = linkHeader(to)
	}

	return r, nil, nil
}

// refused answers to a position that the list does not accept. Either the type of a field has
// changed since the cursor was made, which is a fault, or the list itself is broken, which is
// an error.
func (k *keyset) refused(ctx context.Context) (Result, []Fault, error) {
	if _, _, err := k.list.Fetch(ctx, 0, 0); err != nil {
		return Result{}, nil, err
	}

	return Result{}, k.p.badCursor(), nil
}

// fetch reads one more item than the page has, to learn whether there are more.
func (k *keyset) fetch(ctx context.Context, part *driver.List) (err error) {
	if k.items, k.n, err = part.Fetch(ctx, 0, k.size+1); err != nil {
		return err
	}

	if int64(k.n) > k.size {
		k.more = true
		k.n = int(k.size)
		k.items = driver.Cut(k.items, 0, k.n)
	}
	if k.at.backward {
		k.items = driver.Flip(k.items)
	}

	return nil
}

// pages returns the addresses of the pages around this one.
func (k *keyset) pages() (to pages, err error) {
	first := k.links.Without(k.p.names[0]).String()
	if k.p.linkHeader {
		to.first = first
		if to.last, err = k.address(position{backward: true, end: true}); err != nil {
			return to, err
		}
	}

	// A cursor is the place of an item, so there was an item on the side that the page begins
	// at.
	hasNext, hasPrevious := k.more, k.given
	if k.at.backward {
		hasNext, hasPrevious = !k.at.end, k.more
	}

	switch {
	case k.n > 0:
		if hasNext {
			to.next, err = k.beside(k.n-1, false)
		}
		if hasPrevious && err == nil {
			to.prev, err = k.beside(0, true)
		}
	case k.at.backward && hasNext:
		// No item is left before the position, so the next page is the first page of the list.
		to.next = first
	case !k.at.backward && hasPrevious:
		to.prev, err = k.address(position{backward: true, end: true})
	}

	return to, err
}

// beside returns the address of the page that begins next to the i-th item, without that item.
func (k *keyset) beside(i int, backward bool) (string, error) {
	values, err := k.list.Position(k.items, i)
	if err != nil {
		return "", err
	}
	// Some values, such as infinity, cannot be compared. An error now is better than an
	// address that does not work.
	if _, err := k.list.After(values); err != nil {
		return "", fmt.Errorf("an item cannot be where a page begins: %w", err)
	}

	return k.address(position{backward: backward, values: values})
}

func (k *keyset) address(at position) (string, error) {
	token, err := k.p.signer.seal(k.scope, at)
	if err != nil {
		return "", err
	}

	return k.links.With(k.p.names[0], token).String(), nil
}

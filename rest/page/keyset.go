package page

import (
	"context"
	"fmt"

	"github.com/spoolhq/spool/rest/query/driver"
)

// keyset reads one page of a list that is ordered to the last item.
type keyset struct {
	p     *cursorPaginator
	list  *driver.List
	scope string
	links Links
	size  int64

	// at is where the page begins, when a cursor was given.
	at    position
	given bool

	items any
	n     int
	// more is true when there are items beyond the page, seen from where it begins.
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

// refused is a position that the list does not take: the type of a field has changed since
// the cursor was made, or the list is broken and would not take any.
func (k *keyset) refused(ctx context.Context) (Result, []Fault, error) {
	if _, _, err := k.list.Fetch(ctx, 0, 0); err != nil {
		return Result{}, nil, err
	}

	return Result{}, k.p.badCursor(), nil
}

// fetch reads one item more than the page has, to know whether there are more.
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

// pages are the addresses around the page.
func (k *keyset) pages() (to pages, err error) {
	first := k.links.Without(k.p.names[0]).String()
	if k.p.linkHeader {
		to.first = first
		if to.last, err = k.address(position{backward: true, end: true}); err != nil {
			return to, err
		}
	}

	// Where the page was come from there was an item, on the side of its beginning.
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
		// Nothing is left before the place: what follows is the list from its beginning.
		to.next = first
	case !k.at.backward && hasPrevious:
		to.prev, err = k.address(position{backward: true, end: true})
	}

	return to, err
}

// beside is the address of the page that begins at the i-th item, which it does not have.
func (k *keyset) beside(i int, backward bool) (string, error) {
	values, err := k.list.Position(k.items, i)
	if err != nil {
		return "", err
	}
	// Some values cannot be compared with, such as an infinity. Better to say so now than
	// to hand out an address that leads nowhere.
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

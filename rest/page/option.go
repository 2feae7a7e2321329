package page

import (
	"fmt"
	"math"
)

// OffsetOption is an option of [LimitOffset].
type OffsetOption interface{ setOffset(c *config) }

// NumberOption is an option of [Number].
type NumberOption interface{ setNumber(c *config) }

// CursorOption is an option of [Cursor].
type CursorOption interface{ setCursor(c *config) }

// NoneOption is an option of [None].
type NoneOption interface{ setNone(c *config) }

// Option is an option of [LimitOffset], [Number] and [Cursor].
type Option func(c *config)

func (o Option) setOffset(c *config) { o(c) }
func (o Option) setNumber(c *config) { o(c) }
func (o Option) setCursor(c *config) { o(c) }

// CountOption is an option of [LimitOffset] and [Number].
type CountOption func(c *config)

func (o CountOption) setOffset(c *config) { o(c) }
func (o CountOption) setNumber(c *config) { o(c) }

// KeysetOption is an option of [Cursor] alone.
type KeysetOption func(c *config)

func (o KeysetOption) setCursor(c *config) { o(c) }

// WholeOption is an option of [None] alone.
type WholeOption func(c *config)

func (o WholeOption) setNone(c *config) { o(c) }

// Size is how many items a page has when the request does not say.
//
// Defaults to 100.
func Size(n int) Option { return func(c *config) { c.size, c.sized = int64(n), true } }

// Max is how many items a request may ask for.
//
// Defaults to 1000 for [LimitOffset] and 200 for the others, and to the size when that is
// more.
func Max(n int) Option { return func(c *config) { c.max, c.maxed = int64(n), true } }

// OverMax says what happens to a request for more items than [Max].
//
// Defaults to [Refuse].
func OverMax(p OverMaxPolicy) Option { return func(c *config) { c.overMax = p } }

// OverMaxPolicy is what happens to a request for more items than a page may have.
type OverMaxPolicy uint8

// The values of [OverMax].
const (
	// Refuse answers 422.
	Refuse OverMaxPolicy = iota
	// Clamp gives as many items as a page may have.
	Clamp
)

// LinkHeader adds a Link header (RFC 8288) with the addresses of the pages next and prev,
// and first and last where they are known, to each page that has such.
func LinkHeader() Option { return func(c *config) { c.linkHeader = true } }

// Names renames the query parameters: limit and offset of [LimitOffset], page and page_size
// of [Number], cursor and page_size of [Cursor].
func Names(first, second string) Option {
	return func(c *config) { c.names = [2]string{first, second} }
}

// Count says how the count of a list comes to be.
//
// Defaults to [Exact].
func Count(how Counting) CountOption { return func(c *config) { c.count = how } }

// Counting is how the count of a list comes to be.
type Counting uint8

// The values of [Count].
const (
	// Exact counts, unless the page itself tells the count.
	Exact Counting = iota
	// Estimate asks a source that can guess for its guess (driver.PlanEstimator), and counts
	// otherwise. Whether there is a next page is known all the same: one item more than the
	// page has is fetched.
	Estimate
	// NoCount never counts: the count in the body is null. Whether there is a next page is
	// known by fetching one item more than the page has.
	NoCount
)

// PastEnd says what is answered to a page beyond the last one. The first page of an empty
// list is not beyond.
//
// Defaults to [NotFound] for [Number] and [Empty] for [LimitOffset].
func PastEnd(p PastEndPolicy) CountOption { return func(c *config) { c.pastEnd = p } }

// PastEndPolicy is what is answered to a page beyond the last one.
type PastEndPolicy uint8

// The values of [PastEnd].
const (
	// NotFound answers 404.
	NotFound PastEndPolicy = iota
	// Empty answers with a page without items.
	Empty
)

// Limit is a hard cap: items beyond the first n are left out, without a word about it.
//
// Defaults to no limit.
func Limit(n int) WholeOption { return func(c *config) { c.limit, c.limited = int64(n), true } }

// config is what the options of a paginator say.
type config struct {
	paginator string // for messages

	size, max, limit      int64
	sized, maxed, limited bool
	overMax               OverMaxPolicy
	count                 Counting
	pastEnd               PastEndPolicy
	names                 [2]string
	linkHeader            bool

	by      []string
	secrets [][]byte
}

// Headers says what [Result.Header] may have.
func (c *config) Headers() []Header {
	if !c.linkHeader {
		return nil
	}

	return []Header{{Name: "Link", Doc: "The addresses of other pages, with rel first, prev, next and last (RFC 8288)."}}
}

// check fills in what follows from other options and returns what is wrong with them.
func (c *config) check() error {
	if !c.sized {
		c.size = 100
		if c.maxed {
			c.size = min(c.size, c.max)
		}
	}
	if !c.maxed {
		c.max = max(c.max, c.size)
	}

	switch {
	case c.size < 1:
		return fmt.Errorf("%s: a page has at least 1 item, not %d", c.paginator, c.size)
	case c.max < c.size:
		return fmt.Errorf("%s: the size of a page, %d, is over its maximum, %d", c.paginator, c.size, c.max)
	case c.max > maxSize:
		return fmt.Errorf("%s: the maximum of items, %d, is over %d", c.paginator, c.max, maxSize)
	case c.names[0] == "" || c.names[1] == "":
		return fmt.Errorf("%s: a parameter has no name", c.paginator)
	case c.names[0] == c.names[1]:
		return fmt.Errorf("%s: two parameters have the name %q", c.paginator, c.names[0])
	case c.overMax > Clamp, c.count > NoCount, c.pastEnd > Empty:
		return fmt.Errorf("%s: an option has a value that it does not know", c.paginator)
	}

	return nil
}

// checkLimit returns what is wrong with the limit of a list that is not cut.
func (c *config) checkLimit() error {
	if c.limited && (c.limit < 1 || c.limit > maxSize) {
		return fmt.Errorf("%s: the limit is 1 to %d items, not %d", c.paginator, maxSize, c.limit)
	}

	return nil
}

const (
	// maxSize leaves room to fetch one more on every platform.
	maxSize = math.MaxInt32 - 1

	// maxOffset leaves room to fetch and count any page behind it.
	maxOffset = math.MaxInt64 - 2*maxSize
)

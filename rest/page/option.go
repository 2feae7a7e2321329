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

// KeysetOption is an option of [Cursor] only.
type KeysetOption func(c *config)

func (o KeysetOption) setCursor(c *config) { o(c) }

// WholeOption is an option of [None] only.
type WholeOption func(c *config)

func (o WholeOption) setNone(c *config) { o(c) }

// Size sets how many items a page has if the request does not say.
//
// Defaults to 100.
func Size(n int) Option { return func(c *config) { c.size, c.sized = int64(n), true } }

// Max sets how many items a request may ask for.
//
// Defaults to 1000 for [LimitOffset] and 200 for [Number] and [Cursor]. A larger [Size] needs a
// Max.
func Max(n int) Option { return func(c *config) { c.max, c.maxed = int64(n), true } }

// OverMax sets the answer to a request for more items than [Max].
//
// Defaults to [Refuse].
func OverMax(p OverMaxPolicy) Option { return func(c *config) { c.overMax = p } }

// OverMaxPolicy is the answer to a request for more items than a page may have.
type OverMaxPolicy uint8

// The values of [OverMax].
const (
	// Refuse answers 422.
	Refuse OverMaxPolicy = iota
	// Clamp answers with as many items as a page may have.
	Clamp
)

// LinkHeader adds a Link header (RFC 8288) with the addresses of the next and prev pages, and
// of the first and last pages if they are known.
func LinkHeader() Option { return func(c *config) { c.linkHeader = true } }

// Names renames the query parameters: limit and offset of [LimitOffset], page and page_size
// of [Number], cursor and page_size of [Cursor].
func Names(first, second string) Option {
	return func(c *config) { c.names = [2]string{first, second} }
}

// Count sets how the items of a list are counted.
//
// Defaults to [Exact].
func Count(how Counting) CountOption { return func(c *config) { c.count = how } }

// Counting is how the items of a list are counted.
type Counting uint8

// The values of [Count].
const (
	// Exact counts the list, unless the page itself shows the count.
	Exact Counting = iota
	// Estimate asks the source for an estimate (driver.PlanEstimator), and counts if it has
	// none. Whether there is a next page is still exact: one more item than the page has is
	// fetched.
	Estimate
	// NoCount never counts: the count in the body is null. To know whether there is a next
	// page, one more item than the page has is fetched.
	NoCount
)

// PastEnd sets the answer to a page beyond the last one. The first page of an empty list is
// not beyond it.
//
// Defaults to [NotFound] for [Number] and [Empty] for [LimitOffset].
func PastEnd(p PastEndPolicy) CountOption { return func(c *config) { c.pastEnd = p } }

// PastEndPolicy is the answer to a page beyond the last one.
type PastEndPolicy uint8

// The values of [PastEnd].
const (
	// NotFound answers 404.
	NotFound PastEndPolicy = iota
	// Empty answers with an empty page.
	Empty
)

// Limit leaves out all items after the first n. The answer does not say so.
//
// Defaults to no limit.
func Limit(n int) WholeOption { return func(c *config) { c.limit, c.limited = int64(n), true } }

// config holds the options of a paginator.
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

// Headers returns the headers that a page may have.
func (c *config) Headers() []Header {
	if !c.linkHeader {
		return nil
	}

	return []Header{{Name: "Link", Doc: "The addresses of other pages, with rel first, prev, next and last (RFC 8288)."}}
}

// check completes the options with defaults and returns an error if they are invalid.
func (c *config) check() error {
	if !c.sized {
		c.size = 100
		if c.maxed {
			c.size = min(c.size, c.max)
		}
	}
	switch {
	case c.size < 1:
		return fmt.Errorf("%s: a page has at least 1 item, not %d", c.paginator, c.size)
	case c.max < c.size && !c.maxed:
		return fmt.Errorf(
			"%s: the size of a page, %d, is over the default of its maximum, %d: set the maximum too, with page.Max",
			c.paginator, c.size, c.max,
		)
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

// checkLimit returns an error if the limit of [None] is invalid.
func (c *config) checkLimit() error {
	if c.limited && (c.limit < 1 || c.limit > maxSize) {
		return fmt.Errorf("%s: the limit is 1 to %d items, not %d", c.paginator, maxSize, c.limit)
	}

	return nil
}

const (
	// maxSize leaves room to fetch one more item on every platform.
	maxSize = math.MaxInt32 - 1

	// maxOffset leaves room to fetch and count any page after it.
	maxOffset = math.MaxInt64 - 2*maxSize
)

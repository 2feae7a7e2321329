package bind

import (
	"iter"
	"mime/multipart"
	"net/http"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// PathValues gives the texts of a route's wildcards by name, percent-decoded. A
// [*http.Request] that a [http.ServeMux] has routed is one.
type PathValues interface{ PathValue(name string) string }

// inlinePairs is how many pairs of a query string need no memory of their own.
const inlinePairs = 8

// Input is one request as parameters are read from it. The query string is cut into pairs
// when something asks for it first, and once. An Input belongs to one request at a time,
// is not safe for concurrent use and must not be copied; [Input.Reset] makes it ready for
// the next request without allocating.
type Input struct {
	request *http.Request
	path    PathValues

	query    []pair
	cut      bool // the query string is in query
	tooMany  bool // the query string has more pairs than maxPairs
	reported bool // what is wrong with the query string as a whole was reported

	loose  bool // see [Input.Tolerate]
	broken bool

	form  []pair
	files map[string][]*multipart.FileHeader

	inline [inlinePairs]pair
}

// NewInput makes an Input of r. When path is nil, wildcards are read from r itself.
func NewInput(r *http.Request, path PathValues) *Input {
	in := new(Input)
	in.Reset(r, path)

	return in
}

// Reset makes in an Input of r, as [NewInput] does, and forgets the request before.
func (in *Input) Reset(r *http.Request, path PathValues) {
	if path == nil && r != nil {
		path = r
	}

	// Only what was used is cleared: most requests have fewer pairs than there is room for.
	// More of them than that lie elsewhere, after the room was used up.
	clear(in.inline[:min(len(in.query), inlinePairs)])
	in.request, in.path = r, path
	in.query, in.cut, in.tooMany, in.reported = nil, false, false, false
	in.form, in.files = nil, nil
	in.loose, in.broken = false, false
}

// Tolerate sets what is taken although a plan would refuse it. Loose: the first of several
// parameters or headers counts, an empty one is absent, and U+FFFD stands for what is no text.
// A pair with a semicolon is malformed, as net/url has it. Broken: malformed pairs of the query string are as if they were not there.
func (in *Input) Tolerate(loose, broken bool) { in.loose, in.broken = loose, broken }

// Request is the request that in reads.
func (in *Input) Request() *http.Request { return in.request }

// Query returns the text of the query parameter, and true only when it was sent exactly
// once and is well formed. It reports nothing; see
// [Input.QueryText].
func (in *Input) Query(name string) (text string, ok bool) {
	found, n := find(in.pairs(), name)
	if n != 1 || found.bad {
		return "", false
	}

	return found.text, true
}

// QueryText reads the query parameter as a plan reads a string: sent twice, malformed,
// not UTF-8 or holding NUL it is a fault. ok is true when there is a text without faults.
func (in *Input) QueryText(name string) (text string, ok bool, faults []fault.Fault) {
	found, n := find(in.pairs(), name)
	faults = in.QueryFaults()

	switch {
	case n == 0 || found.bad:
		return "", false, faults
	case n > 1:
		return "", false, append(faults, repeated(fault.Query, name))
	}

	if bad := checkText(found.text); bad != nil {
		return "", false, append(faults, placed(bad, fault.Query, name))
	}

	return found.text, true, faults
}

// QueryTexts reads the query parameter as a list that is split at commas: each of its texts,
// however often it was sent. What is wrong with one of them is a fault, as by [Input.QueryText].
func (in *Input) QueryTexts(name string) (texts []string, faults []fault.Fault) {
	faults = in.QueryFaults()
	for _, p := range in.pairs() {
		if p.name != name || p.bad {
			continue
		}
		if bad := checkText(p.text); bad != nil {
			return nil, append(faults, placed(bad, fault.Query, name))
		}
		texts = append(texts, p.text)
	}

	return texts, faults
}

// QueryNames yields the name of every pair of the query string in its order: a name that
// was sent twice comes twice. Names that cannot be decoded are left out; they are faults.
func (in *Input) QueryNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range in.pairs() {
			if !p.nameless() && !yield(p.name) {
				return
			}
		}
	}
}

// QueryFaults returns what is wrong with the query string as a whole: malformed escapes and
// too many parameters. It is for requests that no plan with query parameters reads. Like
// [Plan.Bind] it returns these faults once per request, to the first caller.
func (in *Input) QueryFaults() []fault.Fault {
	if in.reported {
		return nil
	}
	in.reported = true
	if in.broken {
		return nil
	}

	return pairFaults(nil, fault.Query, in.pairs(), in.tooMany)
}

// pairs is the query string in pairs.
func (in *Input) pairs() []pair {
	if !in.cut {
		in.cut = true
		in.query, in.tooMany = cutPairs(in.inline[:0], in.request.URL.RawQuery, maxPairs, in.loose)
	}

	return in.query
}

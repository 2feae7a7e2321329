package bind

import (
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// PathValues returns the percent-decoded texts of a route's wildcards by name. A [*http.Request] that a
// [http.ServeMux] has routed implements it.
type PathValues interface{ PathValue(name string) string }

// inlinePairs is how many pairs of a query string fit into an [Input] without an allocation.
const inlinePairs = 8

// Input is a request whose parameters are read. The first access to a query parameter splits the query
// string, once. An Input is for one request at a time, is not safe for concurrent use and must not be copied.
// [Input.Reset] makes it ready for the next request without an allocation.
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

// NewInput returns an Input of r. If path is nil, wildcards are read from r itself.
func NewInput(r *http.Request, path PathValues) *Input {
	in := new(Input)
	in.Reset(r, path)

	return in
}

// Reset makes in an Input of r, as [NewInput] does, and forgets the last request.
func (in *Input) Reset(r *http.Request, path PathValues) {
	if path == nil && r != nil {
		path = r
	}

	// Only the used pairs are cleared: most requests have fewer pairs than fit inline. Further pairs are
	// allocated elsewhere.
	clear(in.inline[:min(len(in.query), inlinePairs)])
	in.request, in.path = r, path
	in.query, in.cut, in.tooMany, in.reported = nil, false, false, false
	in.form, in.files = nil, nil
	in.loose, in.broken = false, false
}

// Tolerate sets which mistakes of a request are accepted. With loose, the first of several parameters or
// headers counts, an empty one is absent, U+FFFD replaces invalid text, and a pair with a semicolon is
// malformed, as in net/url. With broken, malformed pairs of the query string are ignored.
func (in *Input) Tolerate(loose, broken bool) { in.loose, in.broken = loose, broken }

// Request is the request that in reads.
func (in *Input) Request() *http.Request { return in.request }

// Query returns the text of the query parameter. It reports true only if the parameter was sent exactly once
// and is well formed. It reports no faults; [Input.QueryText] does.
func (in *Input) Query(name string) (text string, ok bool) {
	found, n := find(in.pairs(), name)
	if n != 1 || found.bad {
		return "", false
	}

	return found.text, true
}

// QueryText reads the query parameter as a plan reads a string. It is a fault if the parameter is sent twice,
// malformed, not UTF-8 or has a NUL. ok is true if there is a text without faults.
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

// QueryTexts reads the query parameter as a list that is split at commas, and may be sent more than once.
// Each text is checked as by [Input.QueryText].
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

// QueryFaults returns the faults of the query string as a whole: malformed escapes and too many parameters.
// It is for requests that no plan with query parameters reads. Like [Plan.Bind], it returns these faults once
// per request, to the first caller.
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

// Sent reports whether the form had the field or file, also if it was empty.
func (in *Input) Sent(name string) bool {
	_, n := find(in.form, name)

	return n > 0 || len(in.files[name]) > 0
}

// hasPart reports whether the form has the field or file, and it is not empty.
func (in *Input) hasPart(name string) bool {
	first, _ := find(in.form, name)
	files := in.files[name]

	return first != nil && first.text != "" || len(files) > 0 && files[0].Size > 0
}

// Part returns the text of a part of JSON. It is a field, or a file as a browser sends a Blob. Without the
// part, or with an empty one, the text is nil.
func (in *Input) Part(name string) ([]byte, error) {
	if !in.hasPart(name) {
		return nil, nil
	}
	if first, _ := find(in.form, name); first != nil {
		return []byte(first.text), nil
	}
	file, err := in.files[name][0].Open()
	if err != nil {
		return nil, fmt.Errorf("open the part %s: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("read the part %s: %w", name, err)
	}

	return text, nil
}

// pairs returns the pairs of the query string.
func (in *Input) pairs() []pair {
	if !in.cut {
		in.cut = true
		in.query, in.tooMany = cutPairs(in.inline[:0], in.request.URL.RawQuery, maxPairs, in.loose)
	}

	return in.query
}

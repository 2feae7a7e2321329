// Package citation checks the sources of messages, which come from models and from tools. Both may be wrong, or under
// the influence of whoever wrote the page that they have read.
package citation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

// The bounds of the sources of one answer or of one result. What is beyond them is left out.
const (
	// MaxSources is the number of sources, and maxSpans the number of the spans of each.
	MaxSources = 100
	maxSpans   = 50
	// maxTitle is in characters, and maxURL in bytes. A longer title is cut. A source with a longer URL is
	// left out.
	maxTitle = 300
	maxURL   = 2048
)

// List collects sources. Equal ones become one with all their spans.
type List struct {
	sources []spool.Source
	at      map[string]int
}

// Add adds a source, unless it has neither a URL nor a title, or the list is full.
func (l *List) Add(s spool.Source) {
	s, ok := clean(s)
	if !ok {
		return
	}
	key := cmp.Or(s.URL, " "+s.Title) // no URL begins with a blank
	at, known := l.at[key]
	if !known {
		if len(l.sources) == MaxSources {
			return
		}
		if l.at == nil {
			l.at = make(map[string]int)
		}
		at = len(l.sources)
		l.at[key] = at
		l.sources = append(l.sources, spool.Source{URL: s.URL})
	}
	of := &l.sources[at]
	of.Title = cmp.Or(of.Title, s.Title)
	for _, span := range s.Spans {
		if len(of.Spans) < maxSpans && !slices.Contains(of.Spans, span) {
			of.Spans = append(of.Spans, span)
		}
	}
}

// Of returns the sources of a message with the text. Spans that are no piece of the text are left out.
func (l *List) Of(text string) []spool.Source {
	if len(l.sources) == 0 {
		return nil
	}
	end := utf8.RuneCountInString(text)
	out := slices.Clone(l.sources)
	for i := range out {
		spans := slices.DeleteFunc(slices.Clone(out[i].Spans), func(s spool.Span) bool {
			return s.Start < 0 || s.Start >= s.End || s.End > end
		})
		slices.SortFunc(spans, func(a, b spool.Span) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
		if out[i].Spans = spans; len(spans) == 0 {
			out[i].Spans = nil
		}
	}
	return out
}

// InResult returns the sources that the result of a tool names: those of an object with the key "sources", a list of
// objects with "url" and "title". Anything else there is no source.
func InResult(result json.RawMessage) []spool.Source {
	if result = bytes.TrimLeft(result, " \t\r\n"); len(result) == 0 || result[0] != '{' ||
		!bytes.Contains(result, []byte(`"sources"`)) {
		return nil
	}
	var fields map[string]json.RawMessage
	var named []json.RawMessage
	if json.Unmarshal(result, &fields) != nil || json.Unmarshal(fields["sources"], &named) != nil {
		return nil
	}
	var l List
	for _, one := range named {
		var s struct {
			URL   text `json:"url"`
			Title text `json:"title"`
		}
		if json.Unmarshal(one, &s) == nil {
			l.Add(spool.Source{URL: string(s.URL), Title: string(s.Title)})
		}
	}
	return l.Of("")
}

// text is a JSON string. Other JSON is no text.
type text string

// UnmarshalJSON accepts any JSON.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
	}
	return nil
}

// clean returns a source as a client may show it. It reports false if nothing is left.
func clean(s spool.Source) (spool.Source, bool) {
	s.URL, s.Title = address(s.URL), title(s.Title)
	return s, s.URL != "" || s.Title != ""
}

// address returns the URL if a client may open it, or "".
func address(raw string) string {
	if len(raw) > 2*maxURL {
		return ""
	}
	raw = strings.TrimSpace(shown(raw))
	u, err := url.Parse(raw)
	if err != nil || len(raw) > maxURL || u.Scheme != "http" && u.Scheme != "https" ||
		u.Hostname() == "" || u.User != nil {
		return ""
	}
	return raw
}

// title returns a title in one line.
func title(raw string) string {
	if n := maxTitle * 8; len(raw) > n { // do not read all of a title that is cut anyway
		raw = raw[:n]
	}
	raw = strings.Join(strings.Fields(shown(raw)), " ")
	if runes := []rune(raw); len(runes) > maxTitle {
		return strings.TrimSpace(string(runes[:maxTitle-1])) + "…"
	}
	return raw
}

// shown returns a text without characters that nobody sees and that change how others look: control characters, and
// those that turn the direction of the text.
func shown(raw string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r), r == utf8.RuneError, r == '\ufeff':
			return -1
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		default:
			return r
		}
	}, raw)
}

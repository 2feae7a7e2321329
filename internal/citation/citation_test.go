package citation_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/citation"
)

func TestList(t *testing.T) {
	t.Parallel()

	var l citation.List
	for _, s := range []spool.Source{
		{URL: "https://example.com/a", Spans: []spool.Span{{Start: 2, End: 4}}},
		{
			URL: "https://example.com/a", Title: "A",
			Spans: []spool.Span{
				{Start: 0, End: 1}, {Start: 2, End: 4}, {Start: 3, End: 99}, {Start: 2, End: 2}, {Start: -1, End: 2},
			},
		},
		{Title: " A\u202etext\r\nin\x00 one\u2066 line "},
		{URL: "javascript:alert(1)", Title: "script"},
		{URL: "JaVaScRiPt:alert(1)"},
		{URL: "data:text/html,x"},
		{URL: "//example.com/x", Title: "relative"},
		{URL: "https://user:secret@example.com/", Title: "user"},
		{URL: "https://exa\u202emple.com/\x07b"},
		{URL: "https://" + strings.Repeat("a", 3000), Title: strings.Repeat("Ä", 400)},
		{},
	} {
		l.Add(s)
	}
	want := []spool.Source{
		{URL: "https://example.com/a", Title: "A", Spans: []spool.Span{{Start: 0, End: 1}, {Start: 2, End: 4}}},
		{Title: "Atext in one line"},
		{Title: "script"},
		{Title: "relative"},
		{Title: "user"},
		{URL: "https://example.com/b"},
		{Title: strings.Repeat("Ä", 299) + "…"},
	}
	if diff := cmp.Diff(want, l.Of("Ä🙂bc")); diff != "" {
		t.Error(diff)
	}
	for i := range 1000 {
		l.Add(spool.Source{Title: strconv.Itoa(i)})
		l.Add(spool.Source{URL: "https://example.com/a", Spans: []spool.Span{{Start: i, End: i + 1}}})
	}
	all := l.Of(strings.Repeat("x", 2000))
	if len(all) != citation.MaxSources || len(all[0].Spans) > 50 {
		t.Errorf("%d sources, the first with %d spans", len(all), len(all[0].Spans))
	}
}

func TestInResult(t *testing.T) {
	t.Parallel()

	a := []spool.Source{{URL: "https://a.example/", Title: "A"}}
	for result, want := range map[string][]spool.Source{
		`{"sources":[{"url":"https://a.example/","title":"A"}]}`:                                                       a,
		`{"text":"x","sources":[{"url":"https://a.example/","title":"A","spans":[{"start":0,"end":1}]}, 7, {}, null]}`: a,
		`{"sources":[{"url":7,"title":"T"},{"url":"ftp://x/"},{"title":["x"]}]}`:                                       {{Title: "T"}},
		`{"inner":{"sources":[{"url":"https://a.example/"}]}}`:                                                         nil,
		`{"Sources":[{"url":"https://a.example/"}]}`:                                                                   nil,
		`{"sources":{"url":"https://a.example/"}}`:                                                                     nil,
		`[{"sources":[]}]`: nil,
		`"\"sources\""`:    nil,
		``:                 nil,
		`{"sources":`:      nil,
	} {
		if diff := cmp.Diff(want, citation.InResult(json.RawMessage(result))); diff != "" {
			t.Errorf("%s: %s", result, diff)
		}
	}
}

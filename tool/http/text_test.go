package httptool_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	httptool "github.com/spoolhq/spool/tool/http"
)

// A text in another charset is a text. Data that their charset does not explain are a file, with each of their bytes.
func TestCharsets(t *testing.T) {
	t.Parallel()

	const png = "\x89PNG\r\n\x1a\n\x00\x00"
	for name, c := range map[string]struct{ kind, body, want string }{
		"latin 1":              {"text/plain; charset=ISO-8859-1", "caf\xe9", `"café"`},
		"windows 1252":         {"text/csv; charset=windows-1252", "5 \x80", `"5 €"`},
		"no charset":           {"text/plain", "caf\xe9", `"café"`},
		"xml, no charset":      {"application/xml", "<a>\xe9</a>", `"\u003ca\u003eé\u003c/a\u003e"`},
		"UTF-8":                {"text/plain", "café", `"café"`},
		"Shift JIS":            {"text/plain; charset=shift_jis", "\x93\xfa\x96\x7b", "\"\u65e5\u672c\""},
		"UTF-16":               {"text/plain", "\xff\xfeh\x00i\x00", `"hi"`},
		"UTF-16, named":        {"text/plain; charset=utf-16be", "\x00h\x00i", `"hi"`},
		"mark":                 {"application/json", "\xef\xbb\xbf{\"a\":1}", `{"a":1}`},
		"JSON in latin 1":      {"application/json; charset=latin1", "{\"a\":\"\xe9\"}", `{"a":"é"}`},
		"unknown charset":      {"text/plain; charset=none", "hi", `"hi"`},
		"no type":              {"", "hi", `"hi"`},
		"svg":                  {"image/svg+xml", "<svg/>", `"\u003csvg/\u003e"`},
		"lie, UTF-8":           {"text/plain; charset=utf-8", "caf\xe9", ""},
		"lie, latin 1":         {"text/plain; charset=latin1", png, ""},
		"lie, no charset":      {"text/html", png, ""},
		"lie, UTF-16":          {"text/plain; charset=utf-16le", "\x00\xd8h\x00", ""},
		"lie, unknown":         {"text/plain; charset=none", "caf\xe9", ""},
		"JSON, no charset":     {"application/json", "{\"a\":\"\xe9\"}", ""},
		"bytes, no type":       {"", "caf\xe9", ""},
		"image of ASCII":       {"image/gif", "GIF89a", ""},
		"PDF of ASCII":         {"application/pdf", "%PDF-1.7", ""},
		"multipart":            {"multipart/mixed; boundary=a", "--a\r\n\r\nhi\r\n--a--", ""},
		"octets that are text": {"application/octet-stream", "hi", `"hi"`},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{c.kind}
			_, _ = io.WriteString(w, c.body)
		})
		var files []spool.NewArtifact
		var data []string
		got, err := open(t, httptool.Config{URL: s.URL, Egress: loopback}).Call(t.Context(), saves(&files, &data))
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (string(got) != c.want || len(files) != 0):
			t.Errorf("%s: got %s", name, got)
		case c.want == "" && (len(data) != 1 || data[0] != c.body):
			t.Errorf("%s: got %s, and the files %q", name, got, data)
		}
		if _, err := open(t, httptool.Config{URL: s.URL, Egress: loopback}).Call(t.Context(),
			spool.ToolCall{RunID: "r", ID: "c"}); c.want == "" &&
			!strings.HasPrefix(spool.MessageOf(err), "the tool was executed, but ") {
			t.Errorf("%s, without a store: %v", name, err)
		}
	}
}

// An argument whose schema says a file is an artifact of the thread. Any other one is a text.
func TestFileArguments(t *testing.T) {
	t.Parallel()

	bodies := make(chan string, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
		_, _ = io.WriteString(w, "{}")
	})
	opens := func(size int) func(context.Context, spool.ArtifactID) (spool.Artifact, io.ReadCloser, error) {
		return func(_ context.Context, id spool.ArtifactID) (spool.Artifact, io.ReadCloser, error) {
			if id != "art_1" {
				return spool.Artifact{}, nil, spool.Errorf(spool.NotFound, "this conversation has no artifact %q", id)
			}
			return spool.Artifact{ID: id}, io.NopCloser(strings.NewReader(strings.Repeat("x", size))), nil
		}
	}
	tl := open(t, httptool.Config{
		URL: s.URL, Egress: loopback,
		Parameters: json.RawMessage(`{"type":"object","properties":{
		"photo":{"type":"string","contentEncoding":"base64"},"scan":{"type":"string","format":"binary"},"note":{"type":"string"}}}`),
	})
	for args, want := range map[string]string{
		`{"photo":"art_1","note":"art_1"}`: `{"note":"art_1","photo":"eHh4eA=="}`,
		`{"scan":"artifact:art_1"}`:        `{"scan":"eHh4eA=="}`,
		`{"photo":"eHh4"}`:                 `{"photo":"eHh4"}`,
		`{"photo":"art_2"}`:                `argument photo: this conversation has no artifact "art_2"`,
	} {
		_, err := tl.Call(t.Context(), spool.ToolCall{
			RunID: "r", ID: "c", Args: json.RawMessage(args), OpenArtifactFunc: opens(4),
		})
		got := spool.MessageOf(err)
		if err == nil {
			got = <-bodies
		}
		if got != want {
			t.Errorf("%s: %s, %v", args, got, err)
		}
	}
	_, err := tl.Call(t.Context(), spool.ToolCall{
		RunID: "r", ID: "c", Args: json.RawMessage(`{"photo":"art_1"}`), OpenArtifactFunc: opens(10<<20 + 1),
	})
	if spool.CodeOf(err) != spool.Limit ||
		spool.MessageOf(err) != "argument photo: the artifact art_1 is larger than 10485760 bytes" {
		t.Errorf("a large file: %v", err)
	}
}

package openapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/openapi"
)

const uploads = `
openapi: 3.1.0
servers: [{url: SERVER}]
paths:
  /form:
    post:
      operationId: form
      requestBody:
        content:
          multipart/form-data:
            schema: {type: object, required: [scan], properties: {scan: {type: string, format: binary}, more: {type: array, items: {type: string, format: binary}}, title: {type: string}}}
            encoding: {scan: {contentType: "image/png, image/jpeg"}}
      responses: {200: {content: {application/json: {}}}}
  /raw:
    put:
      operationId: raw
      requestBody: {required: true, content: {image/*: {schema: {type: string, format: binary}}}}
      responses: {200: {content: {image/png: {}, application/pdf: {}}}, 400: {content: {application/json: {}}}}
    get: {operationId: none, responses: {200: {description: ok}}}
  /json:
    put:
      operationId: json
      requestBody: {content: {application/json: {schema: {type: object, properties: {pages: {type: array, items: {type: object, properties: {scan: {type: string, contentEncoding: base64}}}}}}}}}
      responses: {200: {content: {application/problem+json: {}, text/html: {}}}}
`

// TestFiles has artifacts as arguments.
func TestFiles(t *testing.T) {
	t.Parallel()

	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		answer, err := json.Marshal(r.Header.Get("Accept") + "|" + r.Header.Get("Content-Type") + "|" + string(body))
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(answer)
	}))
	t.Cleanup(s.Close)
	tools := open(t, openapi.Config{
		Document: []byte(strings.ReplaceAll(uploads, "SERVER", s.URL)), Operations: []string{"*"}, Egress: loopback,
	})
	small := func(_ context.Context, id spool.ArtifactID) (spool.Artifact, io.ReadCloser, error) {
		switch name, size, _ := strings.Cut(string(id), "/"); name {
		case "png":
			return spool.Artifact{ID: id, Name: "a.png", MediaType: "image/png"}, io.NopCloser(strings.NewReader("PNG")), nil
		case "large":
			var n int64
			_, _ = fmt.Sscan(size, &n)
			return spool.Artifact{ID: id, MediaType: "image/png"}, io.NopCloser(io.LimitReader(zeros{}, n)), nil
		case "csv":
			return spool.Artifact{ID: id, Name: "a.csv", MediaType: "text/csv"}, io.NopCloser(strings.NewReader("a,b")), nil
		case "":
			return spool.Artifact{ID: id}, io.NopCloser(strings.NewReader("?")), nil
		}
		return spool.Artifact{}, nil, spool.Errorf(spool.NotFound, "the thread has no such artifact")
	}
	for _, c := range []struct {
		tool, args, want string
		code             spool.Code
	}{
		{"raw", `{"body":"artifact:png"}`, "application/pdf, image/png|image/png|PNG", ""},
		{"form", `{"body":{"scan":"png","title":"T"}}`, `application/json|multipart/form-data; boundary=part-`, ""},
		{"form", `{"body":{"scan":"","title":"T"}}`, "filename=\"file\"\r\nContent-Type: image/png\r\n\r\n?\r\n", ""},
		{
			"form", `{"body":{"scan":"png","more":["csv","png"]}}`,
			"name=\"more\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\na,b\r\n", "",
		},
		{
			"json", `{"body":{"pages":[{"scan":"png"},{}]}}`,
			`application/problem+json, text/html|application/json|{"pages":[{"scan":"UE5H"},{}]}`, "",
		},
		{"none", `{}`, "application/json||", ""},
		{
			"form", `{"body":{"scan":"csv"}}`,
			"argument body.scan is a file of the type text/csv, and must be image/png or image/jpeg", spool.Invalid,
		},
		{"raw", `{"body":"csv"}`, "argument body is a file of the type text/csv, and must be image/*", spool.Invalid},
		{"raw", `{"body":"other"}`, "argument body: the thread has no such artifact", spool.NotFound},
		{
			"form", `{"body":{"scan":"png","more":["no"]}}`, "argument body.more: the thread has no such artifact",
			spool.NotFound,
		},
		{
			"json", `{"body":{"pages":[{"scan":"png"},{"scan":"no"}]}}`,
			"argument body.pages.1.scan: the thread has no such artifact", spool.NotFound,
		},
		{
			"raw", `{"body":"large/33554433"}`, "argument body: the files of a call may have 33554432 bytes together",
			spool.Limit,
		},
		{
			"form", `{"body":{"scan":"large/20000000","more":["large/20000000"]}}`,
			"argument body.scan: the files of a call may have", spool.Limit,
		},
	} {
		before := requests
		got, err := tools[c.tool].Call(t.Context(), spool.ToolCall{Args: json.RawMessage(c.args), OpenArtifactFunc: small})
		var text string
		if err == nil && json.Unmarshal(got, &text) != nil {
			t.Errorf("%s: got %s", c.args, got)
		}
		if c.code == "" && (err != nil || !strings.Contains(text, c.want)) {
			t.Errorf("%s: got %q, %v", c.args, text, err)
		}
		if c.code != "" && (spool.CodeOf(err) != c.code || !strings.Contains(spool.MessageOf(err), c.want) ||
			requests != before) {
			t.Errorf("%s: %v after %d requests", c.args, err, requests-before)
		}
	}
	_, err := tools["raw"].Call(t.Context(), spool.ToolCall{Args: json.RawMessage(`{"body":"png"}`)})
	if spool.CodeOf(err) != spool.Invalid ||
		!strings.Contains(spool.MessageOf(err), "the engine does not store artifacts") {
		t.Errorf("without a store: %v", err)
	}
}

// TestAliases has a document whose aliases would be billions of values. It takes no more memory than a small one.
func TestAliases(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	var laughs strings.Builder
	laughs.WriteString("openapi: 3.1.0\na0: &a0 [" + strings.Repeat("x, ", 8) + "x]\n")
	for i := range 20 {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i+1, i+1,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	wide := "openapi: 3.1.0\nservers: [{url: 'https://a.example'}]\nx-a: &a [" + strings.Repeat("x, ", 1000) +
		"x]\nx-b: &b [" +
		strings.TrimSuffix(strings.Repeat("*a, ", 1000), ", ") + "]\npaths: {/x: {get: {operationId: op}}}\n"
	for want, document := range map[string]string{
		"has more than 2000000 values, with its aliases": laughs.String(), "": wide,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := openapi.New(openapi.Config{Document: []byte(document), Operations: []string{"*"}})
		runtime.ReadMemStats(&after)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v", len(document), err)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4<<20 {
			t.Errorf("a document of %d bytes takes %d", len(document), allocated)
		}
	}
}

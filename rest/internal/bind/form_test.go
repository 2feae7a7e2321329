package bind_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
)

type upload struct {
	Shop   string                  `query:"shop"`
	Title  string                  `form:"title"                   required:"true"`
	Tags   []string                `form:"tag"`
	Count  *int                    `form:"count"                   maximum:"5"`
	Photo  *multipart.FileHeader   `contentType:"image/png,text/*" file:"photo"    maxSize:"1KB"`
	Others []*multipart.FileHeader `contentType:"*/*"              file:"other"    maxItems:"2"`
}

type part struct{ field, file, media, content string }

// multipartRequest is a POST of the parts; one without a file name is a field.
func multipartRequest(t *testing.T, parts ...part) *http.Request {
	t.Helper()

	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, p := range parts {
		disposition := fmt.Sprintf("form-data; name=%q", p.field)
		if p.file != "" {
			disposition += fmt.Sprintf("; filename=%q", p.file)
		}
		header := textproto.MIMEHeader{"Content-Disposition": {disposition}}
		if p.media != "" {
			header.Set("Content-Type", p.media)
		}

		pw, err := w.CreatePart(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(pw, p.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	r := httptest.NewRequest(http.MethodPost, "/?shop=s", &body)
	r.Header.Set("Content-Type", w.FormDataContentType())

	return r
}

func urlencodedRequest(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/?shop=s", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")

	return r
}

// readForm parses the form with the limits and binds an upload.
// formSize is how large the forms of the tests may be.
const formSize = 32 << 20

func readForm(t *testing.T, r *http.Request, maxBytes int64) (upload, []fault.Fault, error) {
	t.Helper()

	in := bind.NewInput(r, nil)
	cleanup, faults, err := in.ParseForm(maxBytes)
	t.Cleanup(cleanup)
	if err != nil {
		return upload{}, nil, err
	}

	var got upload
	faults = append(faults, compile[upload](t, bind.Options{}).Bind(in, &got)...)

	return got, faults, nil
}

func TestURLEncodedForm(t *testing.T) {
	t.Parallel()

	got, faults, err := readForm(t, urlencodedRequest("title=a+b%26&tag=x&tag=y&count=5&shop=ignored"), formSize)
	if err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
	}
	want := upload{Shop: "s", Title: "a b&", Tags: []string{"x", "y"}, Count: new(5)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	_, faults, err = readForm(t, urlencodedRequest("tag=%zz&count=6&count=7"), formSize)
	if err != nil {
		t.Fatal(err)
	}
	wantFaults := []string{"form.tag percent_encoding", "form.title missing", "form.count repeated"}
	if diff := cmp.Diff(wantFaults, summary(faults)); diff != "" {
		t.Error(diff)
	}
}

func TestMultipartForm(t *testing.T) {
	t.Parallel()

	got, faults, err := readForm(t, multipartRequest(
		t,
		part{field: "title", content: "100% +"},
		part{field: "tag", content: "x"},
		part{field: "tag", content: "y"},
		part{field: "photo", file: "p.png", media: "image/png", content: "PNG"},
		part{field: "other", file: "a.bin", media: "application/octet-stream", content: "1"},
		part{field: "other", file: "b.bin", media: "text/plain", content: "22"},
	), formSize)
	if err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
	}

	if got.Title != "100% +" || !slices.Equal(got.Tags, []string{"x", "y"}) || got.Shop != "s" || got.Count != nil {
		t.Errorf("fields: %+v", got)
	}
	if got.Photo.Filename != "p.png" || content(t, got.Photo) != "PNG" {
		t.Errorf("photo: %+v", got.Photo)
	}
	if len(got.Others) != 2 || content(t, got.Others[1]) != "22" {
		t.Errorf("others: %+v", got.Others)
	}
}

func content(t *testing.T, file *multipart.FileHeader) string {
	t.Helper()

	f, err := file.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}

	return string(data)
}

func TestFileFaults(t *testing.T) {
	t.Parallel()

	title := part{field: "title", content: "x"}
	png := part{field: "photo", file: "p.png", media: "image/png"}
	other := part{field: "other", file: "o", media: "text/plain"}

	for _, c := range []struct {
		name  string
		parts []part
		want  []string
	}{
		{"NoFile", []part{title}, nil},
		{"Fits", []part{title, {"photo", "p.png", "image/png", strings.Repeat("x", 1000)}}, nil},
		{
			"TooLarge",
			[]part{title, {"photo", "p.png", "image/png", strings.Repeat("x", 1001)}},
			[]string{"file.photo file_too_large"},
		},
		{"AnySubtype", []part{title, {"photo", "p.txt", "text/csv; charset=utf-8", "x"}}, nil},
		{"OtherType", []part{title, {"photo", "p.jpg", "image/jpeg", "x"}}, []string{"file.photo file_content_type"}},
		{"NoType", []part{title, {"photo", "p.png", "", "x"}}, []string{"file.photo file_content_type"}},
		{"Repeated", []part{title, png, png}, []string{"file.photo repeated"}},
		{"TooMany", []part{title, other, other, other}, []string{"file.other too_long"}},
		{"FieldForFile", []part{title, {"photo", "", "image/png", "x"}}, nil},
		{"FileForField", []part{{"title", "t.txt", "text/plain", "x"}}, []string{"form.title missing"}},
		{"Together", []part{{"photo", "p", "image/jpeg", strings.Repeat("x", 2000)}, {"count", "", "", "x"}}, []string{
			"form.title missing", "form.count int_parsing", "file.photo file_too_large", "file.photo file_content_type",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			_, faults, err := readForm(t, multipartRequest(t, c.parts...), formSize)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, summary(faults)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRequiredFile(t *testing.T) {
	t.Parallel()

	type in struct {
		Photo  *multipart.FileHeader   `file:"photo"  required:"true"`
		Photos []*multipart.FileHeader `file:"photos" required:"true"`
	}

	input := bind.NewInput(multipartRequest(t, part{field: "a", content: "b"}), nil)
	cleanup, _, err := input.ParseForm(formSize)
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()

	faults := compile[in](t, bind.Options{}).Bind(input, new(in))
	if diff := cmp.Diff([]string{"file.photo missing", "file.photos missing"}, summary(faults)); diff != "" {
		t.Error(diff)
	}
}

func TestFormErrors(t *testing.T) {
	t.Parallel()

	typed := func(media, body string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", media)
		return r
	}
	file := part{field: "other", file: "o", media: "text/plain", content: strings.Repeat("x", 100)}
	field := part{field: "tag", content: "x"}

	for _, c := range []struct {
		name    string
		request *http.Request
		most    int64
		want    error
	}{
		{"JSON", typed("application/json", "{}"), formSize, bind.ErrFormType},
		{"NoType", typed("", "a=1"), formSize, bind.ErrFormType},
		{"BadType", typed("multipart/form-data; =", ""), formSize, bind.ErrFormType},
		{"NoBoundary", typed("multipart/form-data", ""), formSize, bind.ErrFormSyntax},
		{"Truncated", typed("multipart/form-data; boundary=b", "--b\r\nContent-"), formSize, bind.ErrFormSyntax},
		{"Bytes", urlencodedRequest("title=" + strings.Repeat("x", 100)), 100, bind.ErrFormTooLarge},
		{"Fields", urlencodedRequest(strings.Repeat("a=1&", 1001)), formSize, bind.ErrFormTooLarge},
		{"PartBytes", multipartRequest(t, file), 150, bind.ErrFormTooLarge},
		{"PartFields", multipartRequest(t, slices.Repeat([]part{field}, 1001)...), formSize, bind.ErrFormTooLarge},
		{"PartFiles", multipartRequest(t, slices.Repeat([]part{file}, 21)...), formSize, bind.ErrFormTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			_, _, err := readForm(t, c.request, c.most)
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// Temporary files go where TMPDIR says, so this test cannot run beside others.
//

func TestTemporaryFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)

	for name, n := range map[string]int{"accepted": 20, "refused": 21} {
		file := part{field: "other", file: "o", media: "text/plain", content: strings.Repeat("x", 1<<20)}
		in := bind.NewInput(multipartRequest(t, slices.Repeat([]part{file}, n)...), nil)

		cleanup, _, err := in.ParseForm(formSize)
		if (err != nil) != (name == "refused") {
			t.Fatal(name, err)
		}
		if files(t, dir) == 0 {
			t.Errorf("%s: nothing was written to %s", name, dir)
		}
		cleanup()
		if n := files(t, dir); n != 0 {
			t.Errorf("%s: %d temporary files are left", name, n)
		}
	}
}

func files(t *testing.T, dir string) int {
	t.Helper()

	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}

	return len(entries)
}

func TestFileSizes(t *testing.T) {
	t.Parallel()

	type in struct {
		A *multipart.FileHeader `file:"a" maxSize:"2"`
		B *multipart.FileHeader `file:"b" maxSize:"3B"`
		C *multipart.FileHeader `file:"c" maxSize:"1 KiB"`
	}

	input := bind.NewInput(multipartRequest(
		t,
		part{field: "a", file: "a", content: "xxx"},
		part{field: "b", file: "b", content: "xxx"},
		part{field: "c", file: "c", content: strings.Repeat("x", 1025)},
	), nil)
	cleanup, _, err := input.ParseForm(formSize)
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()

	var limits []any
	for _, f := range compile[in](t, bind.Options{}).Bind(input, new(in)) {
		limits = append(limits, f.Path[0], f.Limits["max_size"])
	}
	if diff := cmp.Diff([]any{"a", int64(2), "c", int64(1024)}, limits); diff != "" {
		t.Error(diff)
	}
}

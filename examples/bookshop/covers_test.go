package main

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"testing"
)

// picture returns a PNG of a size.
func picture(t *testing.T, side int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// upload sends a form with one file.
func (v visitor) upload(method, path, field, kind string, content []byte) answer {
	v.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="` + field + `"; filename="file"`}, "Content-Type": {kind},
	})
	if err != nil {
		v.t.Fatal(err)
	}
	_, _ = part.Write(content) // to memory
	_ = form.Close()
	return v.with("Content-Type", form.FormDataContentType()).send(method, path, &body)
}

func TestCover(t *testing.T) {
	t.Parallel()

	v := open(t)
	partner := v.partner(demoKey)
	small, large := picture(t, 10), picture(t, 50)
	v.get("/books/1/cover").code(http.StatusNotFound, "not_found")

	first := decode[CoverView](partner.upload(http.MethodPut, "/books/1/cover", "image", "image/png",
		small).expect(http.StatusCreated))
	second := decode[CoverView](partner.upload(http.MethodPut, "/books/1/cover", "image", "image/png",
		large).expect(http.StatusOK))
	if first.Bytes != len(small) || second.Bytes != len(large) || first.SHA256 == second.SHA256 {
		t.Errorf("covers %+v and %+v", first, second)
	}

	whole := v.get("/books/1/cover").expect(http.StatusOK)
	if !bytes.Equal(whole.body, large) || whole.header.Get("Content-Type") != "image/png" {
		t.Errorf("%d bytes of %s", len(whole.body), whole.header.Get("Content-Type"))
	}
	tag := whole.header.Get("ETag")
	v.with("If-None-Match", tag).get("/books/1/cover").expect(http.StatusNotModified)
	part := v.with("Range", "bytes=1-3").get("/books/1/cover").expect(http.StatusPartialContent)
	if string(part.body) != "PNG" {
		t.Errorf("part %q", part.body)
	}
	v.with("Range", "bytes=1-3").with("If-Range", `"other"`).get("/books/1/cover").expect(http.StatusOK)

	gone := partner.send(http.MethodDelete, "/books/1/cover", nil).expect(http.StatusNoContent)
	if len(gone.body) != 0 {
		t.Errorf("body %q", gone.body)
	}
	v.get("/books/1/cover").expect(http.StatusNotFound)
}

func TestCoverIsRefused(t *testing.T) {
	t.Parallel()

	v := open(t)
	partner := v.partner(demoKey)
	good := picture(t, 10)
	for _, c := range []struct {
		name    string
		who     visitor
		path    string
		field   string
		kind    string
		content []byte
		status  int
	}{
		{"Nobody", v, "/books/1/cover", "image", "image/png", good, http.StatusUnauthorized},
		{"Customer", v.login(demoCustomer), "/books/1/cover", "image", "image/png", good, http.StatusForbidden},
		{"NoBook", partner, "/books/99/cover", "image", "image/png", good, http.StatusNotFound},
		{"NoFile", partner, "/books/1/cover", "picture", "image/png", good, http.StatusUnprocessableEntity},
		{"Type", partner, "/books/1/cover", "image", "text/plain", good, http.StatusUnprocessableEntity},
		{"Lie", partner, "/books/1/cover", "image", "image/jpeg", good, http.StatusUnprocessableEntity},
		{"Large", partner, "/books/1/cover", "image", "image/png", make([]byte, 201_000), http.StatusUnprocessableEntity},
		{
			"TooLarge", partner, "/books/1/cover", "image", "image/png", make([]byte, 400_000), http.StatusRequestEntityTooLarge,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.who.upload(http.MethodPut, c.path, c.field, c.kind, c.content).expect(c.status)
		})
	}
	partner.send(http.MethodPut, "/books/1/cover", map[string]any{"image": "x"}).expect(http.StatusUnsupportedMediaType)
}

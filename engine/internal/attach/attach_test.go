package attach

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/wire"
)

func testAttachments(t *testing.T, o option.Attachments) *Files {
	t.Helper()

	if err := option.Fill(&o); err != nil {
		t.Fatal(err)
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// picture returns an image of one pixel in each format.
func picture(t *testing.T, format string) []byte {
	t.Helper()

	var b bytes.Buffer
	one := image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black})
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, one)
	case "jpeg":
		err = jpeg.Encode(&b, one, nil)
	case "gif":
		err = gif.Encode(&b, one, nil)
	case "webp":
		b.WriteString("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// blank returns a whole PNG of a size.
func blank(t *testing.T, width, height int) []byte {
	t.Helper()

	var b bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb returns the beginning of a small PNG that says that it is huge.
func bomb(width, height uint32) []byte {
	header := []byte("IHDR\x00\x00\x00\x00\x00\x00\x00\x00\x08\x06\x00\x00\x00")
	binary.BigEndian.PutUint32(header[4:], width)
	binary.BigEndian.PutUint32(header[8:], height)
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(header))
}

func dataURL(media string, data []byte) string {
	return "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(data)
}

func TestAttachmentChecks(t *testing.T) {
	t.Parallel()

	small := option.Attachments{MaxBytes: 2000, MaxPixels: 1000}
	pic := func(format string) []byte { return picture(t, format) }
	for name, c := range map[string]struct {
		o     option.Attachments
		url   string
		media string
		want  string // empty: accepted
	}{
		"https":          {url: "https://example.com/a.png?sig=1", media: "image/png"},
		"http":           {url: "http://example.com:8080/a"},
		"public address": {url: "https://8.8.8.8/a.png"},
		"data png":       {url: dataURL("image/png", pic("png")), media: "image/png"},
		"data jpeg":      {url: dataURL("image/jpeg", pic("jpeg"))},
		"data jpg":       {url: dataURL("image/jpg", pic("jpeg")), media: "image/jpg"},
		"data gif":       {url: dataURL("image/gif", pic("gif"))},
		"data webp":      {url: dataURL("image/webp", pic("webp"))},
		"data, no type":  {url: dataURL("", pic("png"))},
		"data, unpadded": {url: strings.TrimRight(dataURL("image/png", pic("png")), "=")},
		"data, escaped":  {url: strings.ReplaceAll(dataURL("image/png", pic("png")), "=", "%3D")},
		"allowed host": {
			o: option.Attachments{Egress: egress.Policy{Allow: []string{"cdn.internal"}}}, url: "http://cdn.internal/a",
		},

		"none":          {want: "url or artifactId is required"},
		"file":          {url: "file:///etc/passwd", want: "url must be an http, https or data URL"},
		"no scheme":     {url: "example.com/a.png", want: "url must be an http, https or data URL"},
		"no host":       {url: "https:///a.png", want: "url must be an http, https or data URL"},
		"only a port":   {url: "https://:443/a.png", want: "url must be an http, https or data URL"},
		"no URL":        {url: "https://a b/%zz", want: "url must be an http, https or data URL"},
		"user":          {url: "https://user@example.com/", want: "url must not have credentials"},
		"password":      {url: "https://u:p4ss@example.com/", want: "url must not have credentials"},
		"long":          {url: "https://example.com/" + strings.Repeat("x", maxURL), want: "url is longer than 8192 bytes"},
		"loopback":      {url: "http://127.0.0.1:6379/", want: "url names a host that is not allowed"},
		"loopback v6":   {url: "http://[::1]/", want: "url names a host that is not allowed"},
		"mapped":        {url: "http://[::ffff:10.0.0.1]/", want: "url names a host that is not allowed"},
		"private":       {url: "http://192.168.0.1/", want: "url names a host that is not allowed"},
		"metadata":      {url: "http://169.254.169.254/latest/meta-data", want: "url names a host that is not allowed"},
		"metadata name": {url: "http://metadata.google.internal/", want: "url names a host that is not allowed"},
		"localhost":     {url: "http://LocalHost./", want: "url names a host that is not allowed"},
		"internal":      {url: "http://db.internal/", want: "url names a host that is not allowed"},
		"decimal":       {url: "http://2130706433/", want: "url names a host that is not allowed"},
		"wrong type": {
			url: "https://example.com/a", media: "text/html",
			want: "mediaType must be image/png, image/jpeg, image/gif, image/webp, application/pdf, text/plain",
		},
		"svg": {url: "https://example.com/a", media: "image/svg+xml", want: "mediaType must be image/png"},
		"other type only": {
			o: option.Attachments{MediaTypes: []string{"image/gif"}}, url: dataURL("image/png", pic("png")),
			want: "mediaType must be image/gif",
		},

		"data, no comma": {url: "data:image/png;base64", want: "url is no data URL that can be read"},
		"data, bad text": {url: "data:image/png;base64,!!", want: "url is no data URL that can be read"},
		"data, bad %":    {url: "data:image/png,%zz", want: "url"},
		"data, empty":    {url: "data:image/png;base64,", want: "url holds no file of a type that is accepted"},
		"data, html": {
			url: dataURL("image/png", []byte("<html><script>")), want: "url holds no file of a type that is accepted",
		},
		"data, svg":   {url: dataURL("image/svg+xml", []byte("<svg/>")), want: "mediaType must be"},
		"data, other": {url: dataURL("image/png", pic("gif")), want: "url holds image/gif, and is said to be image/png"},
		"data, differs": {
			url: dataURL("image/png", pic("png")), media: "image/gif", want: "mediaType is not the one of the data URL",
		},
		"data, cut": {url: dataURL("image/png", pic("png")[:20]), want: "url holds an image that cannot be read"},
		"data, too large": {
			o: small, url: dataURL("image/png", append(pic("png"), make([]byte, 2000)...)),
			want: "url holds more than 2000 bytes",
		},
		"data, bomb": {
			url: dataURL("image/png", bomb(30_000, 30_000)), want: "url holds an image of more than 50000000 pixels",
		},
		"data, overflow":  {url: dataURL("image/png", bomb(1<<31-1, 1<<31-1)), want: "url holds an image"},
		"data, just fits": {o: small, url: dataURL("image/png", blank(t, 50, 20))},
		"data, one row": {
			o: small, url: dataURL("image/png", bomb(1001, 1)), want: "url holds an image of more than 1000 pixels",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a := testAttachments(t, c.o)
			_, err := a.Parts([]wire.Attachment{{URL: "https://example.com/first"}, {URL: c.url, MediaType: c.media}})
			got := spool.MessageOf(err)
			switch {
			case c.want == "" && err != nil, c.want != "" && !strings.HasPrefix(got, "attachments[1]."+c.want):
				t.Errorf("got %.200v, want %s", err, c.want)
			case err != nil && (spool.CodeOf(err) != spool.Invalid || strings.Contains(got, "p4ss")):
				t.Errorf("error %v of code %s", err, spool.CodeOf(err))
			}
		})
	}
	if _, err := testAttachments(t, option.Attachments{}).Parts(
		make([]wire.Attachment, 9),
	); spool.MessageOf(err) != "attachments has more than 8 files" {
		t.Errorf("nine: %v", err)
	}
	if _, err := New(option.Attachments{
		Egress: egress.Policy{Allow: []string{"a/b"}},
	}); !strings.Contains(spool.MessageOf(err), "Config.Attachments.Egress") {
		t.Errorf("a bad policy: %v", err)
	}
}

// Files that are no images become files of the turn, with their types.
func TestParts(t *testing.T) {
	t.Parallel()

	pdf := dataURL("application/pdf", []byte("%PDF-1.7\n"))
	for name, c := range map[string]struct {
		o    option.Attachments
		one  wire.Attachment
		want spool.Part
		err  string
	}{
		"image": {
			one:  wire.Attachment{URL: "https://example.com/a"},
			want: spool.Part{Type: spool.PartImage, Image: "https://example.com/a"},
		},
		"pdf": {
			one:  wire.Attachment{URL: pdf, Name: "a.pdf"},
			want: spool.Part{Type: spool.PartFile, File: pdf, MIMEType: "application/pdf", FileName: "a.pdf"},
		},
		"pdf untyped": {
			one:  wire.Attachment{URL: "data:;base64,JVBERi0xLjcK"},
			want: spool.Part{Type: spool.PartFile, File: "data:;base64,JVBERi0xLjcK", MIMEType: "application/pdf"},
		},
		"pdf by URL": {
			one:  wire.Attachment{URL: "https://example.com/A.PDF?x"},
			want: spool.Part{Type: spool.PartFile, File: "https://example.com/A.PDF?x", MIMEType: "application/pdf"},
		},
		"markdown": {
			one:  wire.Attachment{URL: "data:text/markdown,<h1>a"},
			want: spool.Part{Type: spool.PartFile, File: "data:text/markdown,<h1>a", MIMEType: "text/markdown"},
		},
		"json": {
			one:  wire.Attachment{URL: "data:application/json,{}"},
			want: spool.Part{Type: spool.PartFile, File: "data:application/json,{}", MIMEType: "application/json"},
		},
		"text untyped": {
			one:  wire.Attachment{URL: "data:,a"},
			want: spool.Part{Type: spool.PartFile, File: "data:,a", MIMEType: "text/plain"},
		},
		"images only": {
			o: option.Attachments{MediaTypes: []string{"image/png"}}, one: wire.Attachment{URL: "https://example.com/a.pdf"},
			want: spool.Part{Type: spool.PartImage, Image: "https://example.com/a.pdf"},
		},

		"no pdf": {
			o:   option.Attachments{MediaTypes: []string{"image/png"}},
			one: wire.Attachment{URL: pdf},
			err: "mediaType must be image/png",
		},
		"not a pdf": {
			one: wire.Attachment{URL: "data:application/pdf,a"}, err: "url holds text/plain, and is said to be application/pdf",
		},
		"html": {one: wire.Attachment{URL: "data:,<html>"}, err: "url holds no file of a type that is accepted"},
		"bytes": {
			one: wire.Attachment{URL: "data:text/csv;base64,AAEC"}, err: "url holds no file of a type that is accepted",
		},
		"latin": {one: wire.Attachment{URL: "data:text/csv,%E4"}, err: "url holds a text that is not UTF-8"},
		"long text": {
			o:   option.Attachments{MaxTextBytes: 3},
			one: wire.Attachment{URL: "data:text/csv,abcd"},
			err: "url holds a text of more than 3 bytes",
		},
		"long name": {
			one: wire.Attachment{URL: pdf, Name: strings.Repeat("x", 201)}, err: "name must have up to 200 characters",
		},
		"broken name": {
			one: wire.Attachment{URL: pdf, Name: "a\nb"}, err: "name must have up to 200 characters and no control characters",
		},
	} {
		parts, err := testAttachments(t, c.o).Parts([]wire.Attachment{c.one})
		switch {
		case c.err != "":
			if !strings.HasPrefix(spool.MessageOf(err), "attachments[0]."+c.err) || spool.CodeOf(err) != spool.Invalid {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil, len(parts) != 1, !reflect.DeepEqual(parts[0], c.want):
			t.Errorf("%s: %+v, %v", name, parts, err)
		}
	}
}

func FuzzAttachment(f *testing.F) {
	f.Add("data:image/png;base64,iVBORw0KGgo=", "image/png")
	f.Add("https://example.com/a", "")
	f.Add("data:,%41", "image/gif")
	var o option.Attachments
	if err := option.Fill(&o); err != nil {
		f.Fatal(err)
	}
	a, err := New(o)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, url, media string) {
		_, err := a.check(wire.Attachment{URL: url, MediaType: media})
		if err != nil && spool.CodeOf(err) != spool.Invalid {
			t.Errorf("code %s: %v", spool.CodeOf(err), err)
		}
	})
}

package s3

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The examples of Amazon's documentation of signature version 4 have the signatures that it says.
func TestDocumentedExamples(t *testing.T) {
	t.Parallel()

	const access, secret = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	scope := "AWS4-HMAC-SHA256 Credential=" + access + "/20130524/us-east-1/s3/aws4_request,"
	get := httptest.NewRequest(http.MethodGet, "http://examplebucket.s3.amazonaws.com/test.txt", nil)
	get.Header.Set("Range", "bytes=0-9")
	get.Header.Set("X-Amz-Content-Sha256", hash(nil))
	get.Header.Set("X-Amz-Date", "20130524T000000Z")
	get.Header.Set("Authorization", scope+"SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"+
		"Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")

	chunk := func(size, signature, data string) string {
		return size + ";chunk-signature=" + signature + "\r\n" + data + "\r\n"
	}
	body := chunk("10000", "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
		strings.Repeat("a", 1<<16)) +
		chunk("400", "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497", strings.Repeat("a", 1024)) +
		chunk("0", "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9", "")
	put := httptest.NewRequest(http.MethodPut, "http://s3.amazonaws.com/examplebucket/chunkObject.txt",
		strings.NewReader(body))
	put.Header.Set("X-Amz-Date", "20130524T000000Z")
	put.Header.Set("X-Amz-Storage-Class", "REDUCED_REDUNDANCY")
	put.Header.Set("X-Amz-Content-Sha256", signedChunks)
	put.Header.Set("Content-Encoding", "aws-chunked")
	put.Header.Set("X-Amz-Decoded-Content-Length", "66560")
	put.Header.Set("Authorization", scope+
		"SignedHeaders=content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class,"+
		"Signature=4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9")

	for r, size := range map[*http.Request]int{get: 0, put: 66560} {
		s, err := parse(r)
		if err != nil {
			t.Fatal(err)
		}
		s.derive(secret)
		if err := s.verify(r); err != nil {
			t.Errorf("%s: %v", r.Method, err)
		}
		if data, err := s.body(r); err != nil || len(data) != size {
			t.Errorf("%s: %d bytes, %v", r.Method, len(data), err)
		}
		s.derive(secret + "x")
		if s.verify(r) == nil {
			t.Errorf("%s: another secret signs the same", r.Method)
		}
	}
	altered := put.Clone(t.Context())
	altered.Body = http.NoBody
	for _, text := range []string{strings.Replace(body, "aaa", "aba", 1), body[:len(body)-90], body + "x"} {
		r := httptest.NewRequest(http.MethodPut, "http://s3.amazonaws.com/examplebucket/chunkObject.txt",
			strings.NewReader(text))
		r.Header = altered.Header
		s, err := parse(r)
		if err != nil {
			t.Fatal(err)
		}
		s.derive(secret)
		if _, err := s.body(r); err == nil {
			t.Error("it took an altered body")
		}
	}
}

// Requests that are not signed, or signed at another time, are refused.
func TestRefused(t *testing.T) {
	t.Parallel()

	s := Open(false)
	t.Cleanup(s.Close)
	for authorization, status := range map[string]int{
		"":      http.StatusForbidden,
		"Basic": http.StatusBadRequest,
		"AWS4-HMAC-SHA256 Credential=" + s.AccessKey +
			"/20130524/eu-test-1/s3/aws4_request,SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=" +
			strings.Repeat("0", 64): http.StatusForbidden,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/artifacts/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Date", time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC).Format(timeForm))
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != status {
			t.Errorf("%q: %d", authorization, answer.StatusCode)
		}
	}
}

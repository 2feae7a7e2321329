package s3_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/spoolhq/spool/artifact/s3"
	fake "github.com/spoolhq/spool/internal/testing/fake/s3"
)

func Example() {
	server := fake.Open(false) // in place of a service
	defer server.Close()
	ctx := context.Background()
	blobs, err := s3.Open(ctx, s3.Options{
		Endpoint: server.URL, Insecure: true, Bucket: "artifacts", Prefix: "spool/",
		AccessKey: server.AccessKey, SecretKey: server.SecretKey,
	})
	if err != nil {
		log.Fatal(err) //nolint:gocritic // the process ends
	}
	fmt.Println(blobs.PutBlob(ctx, "reports/4711", strings.NewReader("Sales rose."), 11))

	r, err := blobs.OpenBlob(ctx, "reports/4711")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	fmt.Printf("%s %v\n", text, err)
	// Output:
	// <nil>
	// Sales rose. <nil>
}
